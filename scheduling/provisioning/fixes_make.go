package provisioning

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// make makes a change and the changes that belong to it. It reports whether the change itself changed
// something.
func (t *fixTrial) make(c *scheduling.Change) bool {
	if !t.makeOne(c) {
		return false
	}
	for i := range c.And {
		t.make(&c.And[i])
	}
	return true
}

func (t *fixTrial) makeOne(c *scheduling.Change) bool {
	spec := &t.pod.Spec
	kind, name, _ := strings.Cut(c.Object, "/")
	switch c.Kind {
	case scheduling.ChangeRequest, scheduling.ChangeUnit:
		return t.request(corev1.ResourceName(c.Key), c.To)
	case scheduling.ChangeToleration:
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: c.Key, Operator: corev1.TolerationOpEqual, Value: c.To, Effect: corev1.TaintEffect(c.Effect),
		})
		return true
	case scheduling.ChangeSelector:
		return changeSelector(spec, c)
	case scheduling.ChangeNodeAffinity:
		return changeNodeAffinity(spec, c)
	case scheduling.ChangeMaxSkew, scheduling.ChangeMinDomains, scheduling.ChangeNodeInclusion, scheduling.ChangeScheduleAnyway:
		return t.spread(c)
	case scheduling.ChangePodAffinity:
		return spec.Affinity != nil && spec.Affinity.PodAffinity != nil &&
			dropTerms(&spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key)
	case scheduling.ChangePodAntiAffinity:
		holder := t.pod
		if kind == "Pod" {
			holder = t.running.Get(objectKeyOf(name))
		}
		return t.anti(holder, c.Key)
	case scheduling.ChangePods:
		return t.addAffinePods(c.Key)
	case scheduling.ChangeHostPort:
		return dropPort(spec, c.From)
	case scheduling.ChangeVolume, scheduling.ChangeClaim:
		return t.volume(c)
	case scheduling.ChangeGate:
		return drop(&spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == c.Object })
	case scheduling.ChangeResourceClaim:
		return drop(&spec.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == c.Object })
	case scheduling.ChangeEffort:
		return true
	case scheduling.ChangeDaemonSet:
		return t.daemonSets()
	case scheduling.ChangeTaint:
		return t.untaint(name, c.Key)
	case scheduling.ChangeRoom, scheduling.ChangeDomain:
		return t.room(c, name)
	case scheduling.ChangeLimit, scheduling.ChangeReplicas, scheduling.ChangeMinValues, scheduling.ChangeNodePool:
		return t.nodePool(c, name)
	case scheduling.ChangeReservation, scheduling.ChangeOffering:
		return t.offering(c)
	case scheduling.ChangeNodeSize, scheduling.ChangeFlexibility, scheduling.ChangeSpot, scheduling.ChangeFilter, scheduling.ChangeWorkloadShare:
		return t.settings(c)
	default:
		return false
	}
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
