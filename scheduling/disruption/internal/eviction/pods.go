package eviction

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// DoNotDisrupt is Karpenter's annotation against disruption, of nodes and pods.
const DoNotDisrupt = "karpenter.sh/do-not-disrupt"

// The annotations against disruption of pods in Karpenter up to 0.31 and in Cluster Autoscaler.
const (
	doNotEvict  = "karpenter.sh/do-not-evict"
	safeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"
)

// Active reports whether a pod has neither ended nor is being deleted.
func Active(pod *corev1.Pod) bool { return !lifecycle.Leaving(pod) }

// ownedBy reports whether a pod belongs to an object of a kind.
func ownedBy(pod *corev1.Pod, apiVersion, kind string) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind == kind && ref.APIVersion == apiVersion })
}

// ControllerOf names the controller of a pod as kind/namespace/name; "" for none.
func ControllerOf(pod *corev1.Pod) string {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return ""
	}
	return strings.ToLower(ref.Kind) + "/" + podspec.OrDefault(pod.Namespace) + "/" + ref.Name
}

// Bare reports whether a pod has no controller that recreates it after its eviction, as "kubectl drain" checks.
func Bare(pod *corev1.Pod) bool { return metav1.GetControllerOfNoCopy(pod) == nil }

// Reschedulable reports whether a pod needs another node when its node is removed. Pods of StatefulSets that are
// being deleted do as well, because their successors take up the same capacity.
func Reschedulable(pod *corev1.Pod) bool {
	return (Active(pod) || !lifecycle.Ended(pod) && ownedBy(pod, "apps/v1", "StatefulSet")) && !ownedBy(pod, "apps/v1", "DaemonSet") && !lifecycle.Static(pod)
}

// Freeing describes the change with which a [Protected] pod may be evicted, in a few words. The pod of a Job is better left to
// complete, because its work is lost with the eviction.
func Freeing(pod *corev1.Pod) string {
	to := "remove the annotation " + AnnotationOf(pod)
	if ownedBy(pod, "batch/v1", "Job") {
		return "wait until its Job completes, or " + to + ", if the Job may start over"
	}
	return to
}

// Evictable reports whether a pod is evicted through the API when its node is drained. Other pods end by themselves,
// stay until the node is gone, or may not be evicted.
func Evictable(pod *corev1.Pod, now time.Time) bool {
	return Active(pod) && !lifecycle.Static(pod) && !toleratesDisruption(pod) && !Protected(pod, now)
}

// toleratesDisruption reports whether a pod stays on nodes that are being drained.
func toleratesDisruption(pod *corev1.Pod) bool {
	return podspec.Tolerates(pod.Spec.Tolerations, &corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
}

// AnnotationOf is the annotation of a pod against disruption, with its value; "" if it has none.
func AnnotationOf(pod *corev1.Pod) string {
	for _, a := range []struct{ key, value string }{{doNotEvict, "true"}, {safeToEvict, "false"}} {
		if pod.Annotations[a.key] == a.value {
			return a.key + ": " + a.value
		}
	}
	if value, ok := pod.Annotations[DoNotDisrupt]; ok {
		return DoNotDisrupt + ": " + value
	}
	return ""
}

// Unprotected is a copy of a pod without annotations against disruption.
func Unprotected(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	for _, key := range []string{doNotEvict, safeToEvict, DoNotDisrupt} {
		delete(out.Annotations, key)
	}
	return out
}

// Protected reports whether a pod's annotation against disruption holds at a time: always for "true", or for a
// duration from the start of the pod, if it has started. Other values of [DoNotDisrupt] mean nothing. The annotations
// of other programs always hold.
func Protected(pod *corev1.Pod, now time.Time) bool {
	text := AnnotationOf(pod)
	value, timed := strings.CutPrefix(text, DoNotDisrupt+": ")
	switch {
	case text == "" || !Active(pod):
		return false
	case !timed || value == "true":
		return true
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return false
	}
	return pod.Status.StartTime == nil || now.Sub(pod.Status.StartTime.Time) < d
}

// ProtectedUntil is when the annotation of a pod that is [Protected] no longer holds; zero for never, and if the pod
// has not started.
func ProtectedUntil(pod *corev1.Pod) time.Time {
	d, err := time.ParseDuration(pod.Annotations[DoNotDisrupt])
	if text := AnnotationOf(pod); err != nil || !strings.HasPrefix(text, DoNotDisrupt) || pod.Status.StartTime == nil {
		return time.Time{}
	}
	return pod.Status.StartTime.Add(d)
}
