package units

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// presolve fills Unplaceable with the classes that have no place, and replaces rules and limits that hold wherever pods go
// by weaker ones. Both make the problem smaller without a change to its solutions: such a rule is no reason to fix the
// site of a pod, so the bin packing may choose it.
func presolve(b *UnitBook) {
	b.Unplaceable = unplaceable(b)
	for i := range b.LeftOut {
		b.Unplaceable[i] = b.Unplaceable[i] || b.Wanting(i) == 0
	}
	for dropInfeasibleClasses(b, countPods(b)) {
		continue
	}
	b.Dead = slices.Clone(b.Unplaceable)
	for r, h := range countPods(b) {
		if b.Rules[r].Redundant(&h) {
			reduceToPresence(b.Locations, &b.Rules[r])
		}
	}
	b.Idle = idleLimits(b)
}

// heldBy lists the rules that a class has, without limits per node.
func heldBy(b *UnitBook, class *podspec.PodClass) []int {
	podTerms := b.Locations.In.TopologyTerms.List[class.TopologyTerms]
	var out []int
	for _, x := range podTerms.Terms {
		if !x.PerHost() {
			out = append(out, b.Rule(x, class.Group, podTerms))
		}
	}
	return out
}

// countPods counts, by rule, the pending pods that are not unplaceable.
func countPods(b *UnitBook) []PodCounts {
	out := make([]PodCounts, len(b.Rules))
	for i, class := range b.Locations.In.Planned {
		if b.Unplaceable[i] || class.TopologyTerms == 0 && len(b.Locations.In.TopologyTerms.Targets.Sets[class.Among]) == 0 {
			continue
		}
		n := b.Wanting(i)
		held := heldBy(b, class)
		for _, r := range held {
			out[r].Add(true, b.Among(i, b.Rules[r].Term.Target), n)
		}
		for _, target := range b.Locations.In.TopologyTerms.Targets.Sets[class.Among] {
			for _, r := range b.ByTarget[int(target)] {
				if !slices.Contains(held, r) {
					out[r].Add(false, true, n)
				}
			}
		}
	}
	return out
}

// dropInfeasibleClasses marks as unplaceable the classes with required affinity to pods of which none runs or can be
// placed, and reports whether there were any. It must be repeated, because pods may have affinity to such classes.
func dropInfeasibleClasses(b *UnitBook, heads []PodCounts) bool {
	found := false
	for i, class := range b.Locations.In.Planned {
		if b.Unplaceable[i] {
			continue
		}
		for _, r := range heldBy(b, class) {
			if x := &b.Rules[r]; x.Term.Kind == podspec.AffinityTerm && x.Term.Weight == 0 && x.Total == 0 && heads[r].Counted == 0 {
				b.Unplaceable[i], found = true, true
			}
		}
	}
	return found
}

// unplaceable are the classes that no offer or node could take even if no other pod was pending.
func unplaceable(b *UnitBook) []bool {
	out := make([]bool, len(b.Locations.In.Planned))
	for i, class := range b.Locations.In.Planned {
		var need []int // axes of topology keys that a node must have
		for _, x := range b.Locations.In.TopologyTerms.List[class.TopologyTerms].Terms {
			if x.Weight == 0 && x.Kind != podspec.AntiAffinityTerm && !x.PerHost() {
				need = append(need, b.Locations.KeyAxis(x.Key))
			}
		}
		out[i] = !b.Locations.Takes(class, need)
	}
	return out
}

// reduceToPresence reduces a rule to the condition that nodes have the topology key.
func reduceToPresence(l *instance.LocationIndex, r *Rule) {
	r.Loose = true
	r.Axis, r.Term.MinDomains = l.PresenceAxis(r.Term.Key), 0
	if r.Term.Kind == podspec.SpreadTerm {
		r.Filter = l.FilterAxis(instance.Filter{Group: -1})
	}
	all := topology.Domain{}
	for _, d := range r.Domains {
		all.Count += d.Count
		all.Holders += d.Holders
		all.Eligible = all.Eligible || d.Eligible
	}
	r.Domains = []topology.Domain{all}
}

// idleLimits are, by number, the per-node limits that cannot be exceeded even if all pods share a node.
func idleLimits(b *UnitBook) []bool {
	all := make([]PodCounts, len(b.PerNodeLimits))
	for i, class := range b.Locations.In.Planned {
		if b.Unplaceable[i] {
			continue
		}
		n := b.Wanting(i)
		for _, x := range b.Locations.In.TopologyTerms.List[class.TopologyTerms].Terms {
			if x.PerHost() && x.Kind != podspec.AffinityTerm {
				all[b.PerNodeLimit(x, b.Among(i, x.Target))].Add(true, false, n)
			}
		}
		for _, target := range b.Locations.In.TopologyTerms.Targets.Sets[class.Among] {
			for _, k := range b.PerNodeLimitsBy[int(target)] {
				all[k].Add(false, true, n)
			}
		}
	}
	most := make([]int64, len(b.PerNodeLimits))
	for _, list := range b.Present {
		for _, x := range list {
			most[x.Limit] = max(most[x.Limit], x.N)
		}
	}
	out := make([]bool, len(b.PerNodeLimits))
	for k, h := range all {
		out[k] = h.Held == 0 || most[k]+h.Counted <= b.PerNodeLimits[k].Max
	}
	return out
}
