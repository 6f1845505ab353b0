package controlplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// startKubelets does for the pods of all nodes what their kubelets would do, until ctx ends: a pod that is bound runs and is
// ready, and a pod that is being deleted is gone at once. No container is started.
func startKubelets(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactory(client, time.Second) // each second again, so that a failed call is repeated
	sync := func(o any) {
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
		AddFunc: sync, UpdateFunc: func(_, o any) { sync(o) },
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

// deletePod deletes a pod without a grace period.
func deletePod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	return client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}
