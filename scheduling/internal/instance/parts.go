package instance

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// PodCount is the number of pods in planned classes.
func (c *Instance) PodCount() (n int64) {
	for _, class := range c.Planned {
		n += int64(len(class.Pods))
	}
	return n
}

// HasTopologyTerms reports whether a pod has topology terms or preferences, or a running pod has required anti-affinity.
func (c *Instance) HasTopologyTerms() bool {
	return len(c.TopologyTerms.List) > 1 || len(c.ExistingAntiAffinity) > 0
}

// TermKeys are the topology keys, without the host name, of the terms that pods of some planned classes have or are
// selected by. classes nil is all terms. With required, preferred terms do not count.
func (c *Instance) TermKeys(classes []int, required bool) sets.Set[string] {
	some := func(is func(*podspec.PodClass) bool) bool {
		return classes == nil || slices.ContainsFunc(classes, func(i int) bool { return is(c.Planned[i]) })
	}
	among := func(target int) bool {
		return some(func(x *podspec.PodClass) bool { return c.TopologyTerms.Targets.Has(x.Among, target) })
	}
	out := sets.New[string]()
	for n, list := range c.TopologyTerms.List {
		for _, t := range list.Terms {
			if required && t.Weight > 0 {
				continue
			}
			if among(t.Target) || some(func(x *podspec.PodClass) bool { return x.TopologyTerms == n }) {
				out.Insert(requirements.NormalizeKey(t.Key))
			}
		}
	}
	for i := range c.ExistingAntiAffinity {
		if k := &c.ExistingAntiAffinity[i]; among(k.Term.Target) {
			out.Insert(requirements.NormalizeKey(k.Term.Key))
		}
	}
	return out.Delete(corev1.LabelHostname)
}

// ManyClasses is the number of classes from which on a search takes so long that ending hopeless attempts early pays.
const ManyClasses = 200

// Effort is the policy's search effort, with the default for 0.
func Effort(s *scheduling.Policy) int64 {
	if s.Effort == 0 {
		return int64(scheduling.EffortDefault)
	}
	return int64(s.Effort)
}

// EffortsUpTo is the named efforts below the policy's search effort, and that effort, the least first.
func EffortsUpTo(s *scheduling.Policy) (out []scheduling.Effort) {
	effort := scheduling.Effort(Effort(s))
	for _, less := range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault} {
		if less < effort {
			out = append(out, less)
		}
	}
	return append(out, effort)
}

// Survey adds the required anti-affinity of running pods to l, and the values that nodes have of each label for which
// pods are kept apart, because such pods need nodes with other values.
func Survey(l *offers.OpenLabelValues, keepers []ExistingAntiAffinity, nodes []*corev1.Node) {
	for i := range keepers {
		if i == 0 || keepers[i].Term != keepers[i-1].Term {
			l.Want([]podspec.TopologyTerm{keepers[i].Term}, 0)
		}
	}
	for key, n := range l.Wanted {
		if n == 0 || l.Spread[key] {
			continue
		}
		var values []string
		for _, node := range nodes {
			for k, value := range node.Labels {
				if requirements.NormalizeKey(k) == key {
					values = append(values, value)
				}
			}
		}
		l.Taken[key] = podspec.Compacted(values)
	}
}

// ClassByPod is the planned class by namespace/name of each pod to be placed.
func (c *Instance) ClassByPod() map[string]int {
	out := map[string]int{}
	for i, class := range c.Planned {
		for _, pod := range class.Pods {
			out[podspec.PodName(pod)] = i
		}
	}
	return out
}
