package eviction

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// DoNotDisrupt is the annotation by which nodes and pods ask to be left alone.
const DoNotDisrupt = "karpenter.sh/do-not-disrupt"

// The annotations by which pods asked that of Karpenter up to 0.31, and ask Cluster
// Autoscaler.
const (
	doNotEvict  = "karpenter.sh/do-not-evict"
	safeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"
)

// Active reports whether a pod runs, or is about to, and is meant to go on.
func Active(pod *corev1.Pod) bool { return !podspec.Terminal(pod) && pod.DeletionTimestamp == nil }

// ownedBy reports whether a pod belongs to an object of a kind.
func ownedBy(pod *corev1.Pod, apiVersion, kind string) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.Kind == kind && ref.APIVersion == apiVersion })
}

// mirror reports whether a pod is the image of one that a kubelet runs from a file.
func mirror(pod *corev1.Pod) bool {
	if _, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]; ok {
		return true
	}
	return ownedBy(pod, "v1", "Node")
}

// ControllerOf names the controller of a pod as kind/namespace/name; "" for none.
func ControllerOf(pod *corev1.Pod) string {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return ""
	}
	return strings.ToLower(ref.Kind) + "/" + podspec.OrDefault(pod.Namespace) + "/" + ref.Name
}

// Bare reports whether nobody makes a pod again that is evicted, as "kubectl drain" asks.
func Bare(pod *corev1.Pod) bool { return metav1.GetControllerOfNoCopy(pod) == nil }

// Reschedulable reports whether a pod has to live on when its node goes. That is so of
// pods of StatefulSets that are being deleted, too: their successors take up their room.
func Reschedulable(pod *corev1.Pod) bool {
	return (Active(pod) || !podspec.Terminal(pod) && ownedBy(pod, "apps/v1", "StatefulSet")) && !ownedBy(pod, "apps/v1", "DaemonSet") && !mirror(pod)
}

// Evictable reports whether a pod is evicted through the API when its node is drained.
// The others leave by themselves, stay until the node is gone, or may not be evicted.
func Evictable(pod *corev1.Pod, now time.Time) bool {
	return Active(pod) && !mirror(pod) && !toleratesDisruption(pod) && !Protected(pod, now)
}

// toleratesDisruption reports whether a pod stays on nodes that are being drained.
func toleratesDisruption(pod *corev1.Pod) bool {
	return podspec.Tolerates(pod.Spec.Tolerations, &corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
}

// AnnotationOf returns the annotation by which a pod asks to be left alone, with its value; empty
// where it has none.
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

// Unprotected is a pod without the annotations by which pods ask to be left alone.
func Unprotected(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	for _, key := range []string{doNotEvict, safeToEvict, DoNotDisrupt} {
		delete(out.Annotations, key)
	}
	return out
}

// Protected reports whether a pod asks at the moment not to be disrupted: for good by
// "true", or by a duration from its start. Without a start it has not begun to count
// down. What is neither says nothing. The other annotations count for good.
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

// ProtectedUntil is when a pod that is [Protected] no longer asks not to be disrupted; zero for never, and
// where it has no start.
func ProtectedUntil(pod *corev1.Pod) time.Time {
	d, err := time.ParseDuration(pod.Annotations[DoNotDisrupt])
	if text := AnnotationOf(pod); err != nil || !strings.HasPrefix(text, DoNotDisrupt) || pod.Status.StartTime == nil {
		return time.Time{}
	}
	return pod.Status.StartTime.Add(d)
}
