package informers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
)

// Evictor evicts pods by the eviction API and taints nodes. It implements [controller.Evictor].
type Evictor struct {
	// Client is the API server.
	Client kubernetes.Interface
}

// SetTaint adds a taint to a node, or removes it.
func (e Evictor) SetTaint(ctx context.Context, node string, taint corev1.Taint, on bool) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		n, err := e.Client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if controller.HasTaint(n, taint) == on {
			return nil
		}
		controller.ApplyTaint(n, taint, on)
		_, err = e.Client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err
	})
}

// Evict evicts a pod if it is still the pod of this UID.
func (e Evictor) Evict(ctx context.Context, pod *corev1.Pod) error {
	err := e.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	switch {
	case apierrors.IsTooManyRequests(err):
		return fmt.Errorf("%w: %w", controller.ErrEvictionBlocked, err)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // it is gone, or another pod has its name
	}
	return err
}
