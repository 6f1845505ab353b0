package verify

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// live reports whether the pod runs, or will, and nobody deletes it.
func live(pod *corev1.Pod) bool { return !finished(pod) && pod.DeletionTimestamp == nil }

// isMirror reports whether a kubelet shows the pod that it runs on its own account.
func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok || owner(pod, "Node") != ""
}

// livesOn reports whether the pod has to be somewhere else when its node is gone.
func livesOn(pod *corev1.Pod) bool {
	if owner(pod, "DaemonSet") != "" || isMirror(pod) || finished(pod) {
		return false
	}
	return pod.DeletionTimestamp == nil || owner(pod, "StatefulSet") != ""
}

// asksForPeace reports whether the pod does not want to be disrupted at the time.
func asksForPeace(pod *corev1.Pod, now time.Time) bool {
	if pod.Annotations["karpenter.sh/do-not-evict"] == "true" || pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" {
		return live(pod)
	}
	text, ok := pod.Annotations[keepOff]
	if !ok || !live(pod) {
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

// evictable reports whether draining evicts the pod, so that budgets count.
func (g *ground) evictable(pod *corev1.Pod) bool {
	taint := corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}
	for _, t := range pod.Spec.Tolerations {
		if tolerates(t, taint) {
			return false
		}
	}
	return live(pod) && !isMirror(pod) && !asksForPeace(pod, g.now)
}

// unwell reports whether the pod says that it is not ready.
func unwell(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}

// well reports whether the pod is ready, or runs and does not say.
func well(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodPending
}

// readyNode reports whether the node works, or does not say.
func readyNode(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// poolOf is the pool that the node says it belongs to.
func poolOf(node *corev1.Node) string { return node.Labels[scheduling.NodePoolLabel] }
