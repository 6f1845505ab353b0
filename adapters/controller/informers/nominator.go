package informers

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
)

// Nominator writes planned nodes into status.nominatedNodeName of pods: kube-scheduler tries this node first, and keeps the
// room there for the pod. It implements [controller.Nominator], and needs the permission to patch pods/status.
type Nominator struct {
	// Client is the API server.
	Client kubernetes.Interface
}

// Nominate patches the status of a pod.
func (n Nominator) Nominate(ctx context.Context, pod *corev1.Pod, node string) error {
	return patch(ctx, n.Client, pod, map[string]any{"status": map[string]any{"nominatedNodeName": orNull(node)}}, "status")
}

// Annotator writes planned nodes into annotations of pods, [controller.PlannedNodeAnnotation] and
// [controller.PlannedAtAnnotation], for the plugin in adapters/kubescheduler. It implements [controller.Nominator], and needs
// the permission to patch pods.
type Annotator struct {
	// Client is the API server.
	Client kubernetes.Interface
	// Clock is the time; nil is [time.Now].
	Clock func() time.Time
}

// Nominate patches the annotations of a pod.
func (a Annotator) Nominate(ctx context.Context, pod *corev1.Pod, node string) error {
	clock, at := a.Clock, ""
	if clock == nil {
		clock = time.Now //nolint:forbidigo // the annotation says when a plan was made
	}
	if node != "" {
		at = clock().UTC().Format(time.RFC3339)
	}
	annotations := map[string]any{controller.PlannedNodeAnnotation: orNull(node), controller.PlannedAtAnnotation: orNull(at)}
	return patch(ctx, a.Client, pod, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// orNull is a value in a merge patch; null removes the field.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// patch changes a pod by a merge patch if it is still the pod of this UID.
func patch(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, change map[string]any, subresources ...string) error {
	metadata, ok := change["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
	}
	metadata["uid"] = pod.UID
	change["metadata"] = metadata
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	bound := apierrors.IsInvalid(err) && apierrors.HasStatusCause(err, metav1.CauseTypeForbidden)
	if bound || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it has a node, it is gone, or another pod has its name
	}
	return err
}
