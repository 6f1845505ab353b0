package explain

import (
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Trial is a pod without a place and the cluster in which a change is made to see whether it gives the
// pod a place. The caller owns all of it.
type Trial struct {
	// Pod is changed in place.
	Pod *corev1.Pod
	// AffinePods have to be placed together with the pod.
	AffinePods []*corev1.Pod
	// Problem is the cluster without the pod. Its catalogs are replaced; objects are changed by Update.
	Problem *scheduling.Problem
	// Policy is changed in place; PolicyChanged is called afterwards.
	Policy        *scheduling.Policy
	PolicyChanged func()
	// Running yields the pods on nodes, with the names of their nodes.
	Running iter.Seq2[*corev1.Pod, string]
	// Update changes objects of the cluster. The error says that they are not valid.
	Update func(scheduling.Delta) error
}

// Apply makes a change and the changes that belong to it. It reports whether the change itself changed
// anything.
func (t *Trial) Apply(c *scheduling.Change) bool {
	apply := appliers()[c.Kind]
	if apply == nil || !apply(t, c) {
		return false
	}
	for i := range c.And {
		t.Apply(&c.And[i])
	}
	return true
}

// applier makes a change of one kind, and reports whether it changed anything.
type applier func(*Trial, *scheduling.Change) bool

// appliers are the kinds of changes that can be tried. Each stands beside the proposals of its kind.
func appliers() map[scheduling.ChangeKind]applier {
	return map[scheduling.ChangeKind]applier{
		scheduling.ChangeRequest:         applyRequest,
		scheduling.ChangeUnit:            applyRequest,
		scheduling.ChangeHostPort:        applyHostPort,
		scheduling.ChangeRoom:            applyRoom,
		scheduling.ChangeDomain:          applyDomain,
		scheduling.ChangeDaemonSet:       applyDaemonSets,
		scheduling.ChangeTaint:           applyTaint,
		scheduling.ChangeToleration:      applyToleration,
		scheduling.ChangeSelector:        applySelector,
		scheduling.ChangeNodeAffinity:    applyNodeAffinity,
		scheduling.ChangeMaxSkew:         applySpread,
		scheduling.ChangeMinDomains:      applySpread,
		scheduling.ChangeNodeInclusion:   applySpread,
		scheduling.ChangeScheduleAnyway:  applySpread,
		scheduling.ChangePodAffinity:     applyPodAffinity,
		scheduling.ChangePodAntiAffinity: applyAntiAffinity,
		scheduling.ChangePods:            applyPods,
		scheduling.ChangeVolume:          applyVolume,
		scheduling.ChangeClaim:           applyVolume,
		scheduling.ChangeGate:            applyGate,
		scheduling.ChangeResourceClaim:   applyResourceClaim,
		scheduling.ChangeLimit:           applyNodePool,
		scheduling.ChangeReplicas:        applyNodePool,
		scheduling.ChangeMinValues:       applyNodePool,
		scheduling.ChangeNodePool:        applyNodePool,
		scheduling.ChangeReservation:     applyOffering,
		scheduling.ChangeOffering:        applyOffering,
		scheduling.ChangeNodeSize:        applyPolicy,
		scheduling.ChangeFlexibility:     applyPolicy,
		scheduling.ChangeSpot:            applyPolicy,
		scheduling.ChangeFilter:          applyPolicy,
		scheduling.ChangeWorkloadShare:   applyPolicy,
		scheduling.ChangeEffort:          func(*Trial, *scheduling.Change) bool { return true },
	}
}

// runningPod returns the running pod of a namespace/name; nil if there is none.
func (t *Trial) runningPod(name string) *corev1.Pod {
	for pod := range t.Running {
		if podspec.PodName(pod) == name {
			return pod
		}
	}
	return nil
}

// nameOf returns the name of an object that a change names as kind/name.
func nameOf(object string) string {
	_, name, _ := strings.Cut(object, "/")
	return name
}

// drop takes elements out of a list, and reports whether there were any.
func drop[T any](list *[]T, which func(T) bool) bool {
	before := len(*list)
	*list = slices.DeleteFunc(slices.Clone(*list), which)
	return len(*list) < before
}

// dropTerms takes the terms over a topology key out of a list.
func dropTerms(terms *[]corev1.PodAffinityTerm, key string) bool {
	return drop(terms, func(x corev1.PodAffinityTerm) bool { return x.TopologyKey == key })
}
