package nodegroups

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// UnremovableReason is why a node stays, by the name that Cluster Autoscaler has for it (simulator.UnremovableReason).
type UnremovableReason string

// The reasons.
const (
	NotAutoscaled               UnremovableReason = "NotAutoscaled"               // it belongs to no group
	CurrentlyBeingDeleted       UnremovableReason = "CurrentlyBeingDeleted"       // it is being removed already
	ScaleDownDisabledAnnotation UnremovableReason = "ScaleDownDisabledAnnotation" // an annotation of the node says so
	NotUnderutilized            UnremovableReason = "NotUnderutilized"            // its utilization reaches the threshold
	BlockedByPod                UnremovableReason = "BlockedByPod"                // one of its pods may not be evicted
	NodeGroupMinSizeReached     UnremovableReason = "NodeGroupMinSizeReached"     // its group is as small as it may be
	AtomicScaleDownFailed       UnremovableReason = "AtomicScaleDownFailed"       // not all nodes of its atomic group can be removed
	NoPlaceToMovePods           UnremovableReason = "NoPlaceToMovePods"           // a pod of it fits on no other node
	NotUnneededOtherReason      UnremovableReason = "NotUnneededOtherReason"      // another reason, e.g. pods of removed nodes move to it
)

// BlockingPodReason is why a pod may not be evicted, by the name that Cluster Autoscaler has for it (drain.BlockingPodReason).
type BlockingPodReason string

// The reasons.
const (
	NotReplicated            BlockingPodReason = "NotReplicated"            // no controller would make it again
	LocalStorageRequested    BlockingPodReason = "LocalStorageRequested"    // it has a volume on the node
	NotSafeToEvictAnnotation BlockingPodReason = "NotSafeToEvictAnnotation" // an annotation says so
	UnmovableKubeSystemPod   BlockingPodReason = "UnmovableKubeSystemPod"   // it is in kube-system, and has no PodDisruptionBudget
	NotEnoughPdb             BlockingPodReason = "NotEnoughPdb"             // its PodDisruptionBudget allows no eviction
)

// Unremovable is a node that stays.
type Unremovable struct {
	// Node is its name, Group the id of its group; "" for none.
	Node, Group string
	// Utilization is that of the node.
	Utilization float64
	// Reason is why it stays.
	Reason UnremovableReason
	// Pod is the pod of [BlockedByPod], as namespace/name, and PodReason is why it may not be evicted.
	Pod       string
	PodReason BlockingPodReason
	// Detail describes the reason in words.
	Detail string
}

// The annotations of Cluster Autoscaler.
const (
	scaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	safeToEvict       = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	safeVolumes       = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
)

// refusal is why the settings keep a node, in the order in which the autoscaler asks; a reason of "" if they do not.
func (s *ScaleDownSettings) refusal(node *corev1.Node, pods []*corev1.Pod, pdbs []*policyv1.PodDisruptionBudget, utilization float64) Unremovable {
	out := Unremovable{Node: node.Name, Utilization: utilization}
	switch {
	case node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "ToBeDeletedByClusterAutoscaler" }):
		out.Reason, out.Detail = CurrentlyBeingDeleted, "the node is being removed"
	case node.Annotations[scaleDownDisabled] == "true":
		out.Reason, out.Detail = ScaleDownDisabledAnnotation, fmt.Sprintf("annotation %s=true", scaleDownDisabled)
	case utilization >= s.threshold():
		out.Reason, out.Detail = NotUnderutilized, fmt.Sprintf("utilization %.2f is not below %.2f", utilization, s.threshold())
	default:
		for _, pod := range pods {
			if out.PodReason = s.blocking(pod, pdbs); out.PodReason != "" {
				out.Reason, out.Pod = BlockedByPod, scheduling.PodName(pod)
				out.Detail = fmt.Sprintf("pod %s: %s", out.Pod, out.PodReason)
				break
			}
		}
	}
	return out
}

// blocking is why a pod may not be evicted by the settings; "" if it may.
func (s *ScaleDownSettings) blocking(pod *corev1.Pod, pdbs []*policyv1.PodDisruptionBudget) BlockingPodReason {
	safe := pod.Annotations[safeToEvict]
	switch {
	case !lifecycle.Evictable(pod) || safe == "true":
	case metav1.GetControllerOfNoCopy(pod) == nil && !s.BarePods:
		return NotReplicated
	case pod.Namespace == metav1.NamespaceSystem && !s.SystemPods && !guarded(pod, pdbs):
		return UnmovableKubeSystemPod
	case !s.LocalStorage && localStorage(pod):
		return LocalStorageRequested
	case safe == "false":
		return NotSafeToEvictAnnotation
	}
	return ""
}

// guarded reports whether a PodDisruptionBudget selects a pod.
func guarded(pod *corev1.Pod, pdbs []*policyv1.PodDisruptionBudget) bool {
	return slices.ContainsFunc(pdbs, func(b *policyv1.PodDisruptionBudget) bool {
		if b == nil || b.Namespace != pod.Namespace {
			return false
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		return err == nil && selector.Matches(labels.Set(pod.Labels))
	})
}

// localStorage reports whether a pod has a volume on its node that its annotation does not name as safe to lose.
func localStorage(pod *corev1.Pod) bool {
	named := splitNames(pod.Annotations[safeVolumes])
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		local := v.HostPath != nil || v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory
		return local && !slices.Contains(named, v.Name)
	})
}

// inWords is a cause for which the planner keeps a node as the autoscaler names it.
func inWords(out *Unremovable, cause disruption.Cause) {
	out.Detail = cause.Detail
	blocked := func(why BlockingPodReason) {
		out.Reason, out.PodReason, out.Pod = BlockedByPod, why, podOf(cause.Object)
	}
	switch cause.Code {
	case disruption.CauseBeingRemoved:
		out.Reason = CurrentlyBeingDeleted
	case disruption.CauseMinNodes:
		out.Reason = NodeGroupMinSizeReached
	case disruption.CauseNoPlace:
		out.Reason = NoPlaceToMovePods
	case disruption.CauseBudget:
		blocked(NotEnoughPdb)
	case disruption.CauseUnmanagedPod:
		blocked(NotReplicated)
	case disruption.CauseDoNotDisrupt:
		if out.Reason = ScaleDownDisabledAnnotation; podOf(cause.Object) != "" {
			blocked(NotSafeToEvictAnnotation)
		}
	default:
		out.Reason = NotUnneededOtherReason
	}
}

// podOf is the pod of an object, as namespace/name; "" if the object is none.
func podOf(object string) string {
	name, _ := strings.CutPrefix(object, "pod/")
	if name == object {
		return ""
	}
	return name
}

// splitNames are the names in a list with commas between them.
func splitNames(list string) (out []string) {
	for name := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}
