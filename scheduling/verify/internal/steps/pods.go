package steps

import (
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// doNotDisruptAnnotation is the annotation by which nodes and pods ask not to be disrupted.
const doNotDisruptAnnotation = "karpenter.sh/do-not-disrupt"

// reschedulable reports whether the pod must be placed again when its node is gone.
func reschedulable(pod *corev1.Pod) bool {
	if snapshot.Owner(pod, "DaemonSet") != "" || snapshot.IsMirror(pod) || snapshot.Finished(pod) {
		return false
	}
	return pod.DeletionTimestamp == nil || snapshot.Owner(pod, "StatefulSet") != ""
}

// doNotDisrupt reports whether the pod asks not to be disrupted at the time.
func doNotDisrupt(pod *corev1.Pod, now time.Time) bool {
	if pod.Annotations["karpenter.sh/do-not-evict"] == "true" || pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" {
		return snapshot.Live(pod)
	}
	text, ok := pod.Annotations[doNotDisruptAnnotation]
	if !ok || !snapshot.Live(pod) {
		return false
	}
	if text == "true" {
		return true
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return false
	}
	return pod.Status.StartTime == nil || now.Before(pod.Status.StartTime.Add(d))
}

// readyPod returns the status of the pod's Ready condition; "" without one.
func readyPod(pod *corev1.Pod) corev1.ConditionStatus {
	c, _ := lo.Find(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return c.Status
}

// unplaced returns the pod as it is recreated, without a node.
func unplaced(pod *corev1.Pod) *corev1.Pod {
	again := *pod
	again.Spec.NodeName, again.DeletionTimestamp, again.Status, again.UID = "", nil, corev1.PodStatus{}, scheduling.SuccessorUID
	return &again
}
