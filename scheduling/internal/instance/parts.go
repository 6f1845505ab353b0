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

// PodCount is the number of pods that are planned.
func (c *Instance) PodCount() (n int64) {
	for _, class := range c.Planned {
		n += int64(len(class.Pods))
	}
	return n
}

// Tied reports whether anything ties pods to each other or to what they would like.
func (c *Instance) Tied() bool {
	return len(c.TopologyTerms.List) > 1 || len(c.ExistingAntiAffinity) > 0
}

// TiedKeys are the labels of rules between pods that pods of some planned classes have or are counted
// by, that of hosts aside; nil is all rules. With required those that are only preferred do not count.
func (c *Instance) TiedKeys(classes []int, required bool) sets.Set[string] {
	some := func(is func(*podspec.PodClass) bool) bool {
		return classes == nil || slices.ContainsFunc(classes, func(i int) bool { return is(c.Planned[i]) })
	}
	among := func(target int) bool {
		return some(func(x *podspec.PodClass) bool { return c.TopologyTerms.Targets.Has(x.Among, target) })
	}
	out := sets.New[string]()
	for n, list := range c.TopologyTerms.List {
		for _, t := range list.Ties {
			if required && t.Weight > 0 {
				continue
			}
			if among(t.Target) || some(func(x *podspec.PodClass) bool { return x.TopologyTerms == n }) {
				out.Insert(requirements.NormalizeKey(t.Key))
			}
		}
	}
	for i := range c.ExistingAntiAffinity {
		if k := &c.ExistingAntiAffinity[i]; among(k.Tie.Target) {
			out.Insert(requirements.NormalizeKey(k.Tie.Key))
		}
	}
	return out.Delete(corev1.LabelHostname)
}

// ManyClasses is from how many classes on a search for machines takes long enough for it
// to be worth while to end one that leads nowhere.
const ManyClasses = 200

// A search that may take longer does other things first and is content at other times, so that
// it may end with a dearer plan, and a proof with a lower bound. Where the effort is above the
// default, the plan of the default is therefore made first, and what takes longer has to be better.

// Thorough reports whether the solver's effort is above the default.
func (f *Facts) Thorough() bool { return f.Solver.Effort > scheduling.EffortDefault }

// Effort is what a policy says of how hard to search, its default filled in.
func Effort(s *scheduling.Policy) int64 {
	if s.Effort == 0 {
		return int64(scheduling.EffortDefault)
	}
	return int64(s.Effort)
}

// Survey notes what running pods keep off their nodes, and which values nodes have: who
// keeps apart from what runs there needs others.
func Survey(l *offers.OpenLabelValues, keepers []ExistingAntiAffinity, nodes []*corev1.Node) {
	for i := range keepers {
		if i == 0 || keepers[i].Tie != keepers[i-1].Tie {
			l.Want([]podspec.Tie{keepers[i].Tie}, 0)
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

// ClassByPod is, by namespace/name of each pod to be placed, its planned class.
func (c *Instance) ClassByPod() map[string]int {
	out := map[string]int{}
	for i, class := range c.Planned {
		for _, pod := range class.Pods {
			out[podspec.PodName(pod)] = i
		}
	}
	return out
}
