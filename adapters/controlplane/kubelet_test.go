package controlplane

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
)

// startKubelets does for the pods of all nodes what their kubelets would do, until ctx ends: a pod that is bound runs and is
// ready, and a pod that is being deleted is gone at once. No container is started.
func startKubelets(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactory(client, time.Second) // each second again, so that a failed call is repeated
	step := func(o any) {
		pod, ok := o.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return
		}
		err := syncPod(ctx, client, pod)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
			utilruntime.HandleErrorWithContext(ctx, err, "kubelet", "pod", pod.Name)
		}
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: step, UpdateFunc: func(_, o any) { step(o) },
	})
	factory.Start(ctx.Done())
	return err
}

// syncPod brings a bound pod one step on.
func syncPod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return deletePod(ctx, client, pod)
	}
	if pod.Status.Phase != corev1.PodPending {
		return nil
	}
	pod = pod.DeepCopy()
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	for _, x := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: x, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	_, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// ServeNodes does for nodes that programs create, e.g. Karpenter's KWOK provider, what kubelets and controllers of Kubernetes would
// do, as long as the test: a new node becomes ready at once, or while hold is true not ready, and the pods of a node that is gone
// are deleted.
func (p *ControlPlane) ServeNodes(t testing.TB, hold *atomic.Bool) {
	ctx, stop := context.WithCancel(context.Background()) // t.Context ends before the cleanups do
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if err := serveNodes(ctx, p.Client, hold.Load()); err != nil && ctx.Err() == nil {
				t.Errorf("nodes: %v", err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	t.Cleanup(func() { stop(); done.Wait() })
}

// serveNodes says of nodes whether they are ready, and deletes pods of nodes that are gone.
func serveNodes(ctx context.Context, client kubernetes.Interface, hold bool) error {
	pods, err := client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}) // after the pods, which are bound to nodes that are there
	if err != nil {
		return err
	}
	there := map[string]bool{"": true}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		there[node.Name] = true
		var err error
		switch ready := lifecycle.Ready(node); {
		case hold && ready == nil:
			// kube-scheduler binds pods to a node that does not say whether it is ready.
			_, err = setReady(ctx, client, node.Name, corev1.ConditionFalse)
		case !hold && (ready == nil || ready.Status != corev1.ConditionTrue):
			_, err = setReady(ctx, client, node.Name, corev1.ConditionTrue)
		}
		if err != nil {
			return err
		}
	}
	return deletePods(ctx, client, slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return there[pod.Spec.NodeName] }))
}

// setReady says whether a node is ready, and reports whether this is done: after a conflict the caller tries again, and a node that
// was deleted stays so.
func setReady(ctx context.Context, client kubernetes.Interface, name string, status corev1.ConditionStatus) (done bool, err error) {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		node.Status.Conditions = []corev1.NodeCondition{condition(status)}
		_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// condition is whether a node is ready.
func condition(status corev1.ConditionStatus) corev1.NodeCondition {
	at := metav1.NewTime(now())
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Reason: "Kubelet", LastHeartbeatTime: at, LastTransitionTime: at}
}

// deletePods deletes pods without a grace period.
func deletePods(ctx context.Context, client kubernetes.Interface, pods []corev1.Pod) error {
	for i := range pods {
		if err := deletePod(ctx, client, &pods[i]); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// deletePod deletes a pod without a grace period.
func deletePod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	return client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}
