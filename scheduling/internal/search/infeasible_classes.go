package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// slacken gives up classes that have no place, beside those that are gone as it is, and
// loosens the rules and per-node limits that hold wherever the others go.
func (t *Ties) slacken(present [][]model.Presence) {
	t.book.Hopeless = t.unplaceable()
	for i := range t.book.Gone {
		t.book.Hopeless[i] = t.book.Hopeless[i] || t.book.Wanting(i) == 0
	}
	for t.dropInfeasibleClasses(t.heads()) {
		continue
	}
	t.book.Dead = slices.Clone(t.book.Hopeless)
	for r, h := range t.heads() {
		if t.book.Rules[r].Redundant(&h) {
			t.loosen(&t.book.Rules[r])
		}
	}
	t.book.Idle = t.idleCrowds(present)
}

// heldBy lists the rules that a class holds, as far as they are about more than
// single nodes.
func (t *Ties) heldBy(class *podspec.PodClass) []int {
	bonds := t.in.TopologyTerms.List[class.TopologyTerms]
	var out []int
	for _, x := range bonds.Ties {
		if !x.PerHost() {
			out = append(out, t.book.Rule(x, class.Group, bonds))
		}
	}
	return out
}

// heads counts, by rule, the pods that could have a place.
func (t *Ties) heads() []units.Heads {
	out := make([]units.Heads, len(t.book.Rules))
	for i, class := range t.in.Planned {
		if t.book.Hopeless[i] || class.TopologyTerms == 0 && len(t.in.TopologyTerms.Targets.Sets[class.Among]) == 0 {
			continue
		}
		n := t.book.Wanting(i)
		held := t.heldBy(class)
		for _, r := range held {
			out[r].Add(true, t.book.Among(i, t.book.Rules[r].Tie.Target), n)
		}
		for _, target := range t.in.TopologyTerms.Targets.Sets[class.Among] {
			for _, r := range t.book.ByTarget[int(target)] {
				if !slices.Contains(held, r) {
					out[r].Add(false, true, n)
				}
			}
		}
	}
	return out
}

// dropInfeasibleClasses gives up classes that demand to be where nobody will ever be, and reports
// whether there were any.
func (t *Ties) dropInfeasibleClasses(heads []units.Heads) bool {
	found := false
	for i, class := range t.in.Planned {
		if t.book.Hopeless[i] {
			continue
		}
		for _, r := range t.heldBy(class) {
			if x := &t.book.Rules[r]; x.Tie.Kind == podspec.AffinityTie && x.Tie.Weight == 0 && x.Total == 0 && heads[r].Counted == 0 {
				t.book.Hopeless[i], found = true, true
			}
		}
	}
	return found
}

// unplaceable are the classes that neither anything on sale nor a node could take if
// they were alone.
func (t *Ties) unplaceable() []bool {
	out := make([]bool, len(t.in.Planned))
	for i, class := range t.in.Planned {
		var need []int // axes on which a place must have a value
		for _, x := range t.in.TopologyTerms.List[class.TopologyTerms].Ties {
			if x.Weight == 0 && x.Kind != podspec.AntiTie && !x.PerHost() {
				need = append(need, t.locations.KeyAxis(x.Key))
			}
		}
		out[i] = !t.locations.Takes(class, need)
	}
	return out
}

// loosen makes a rule ask for the label and nothing else.
func (t *Ties) loosen(r *units.Rule) {
	r.Loose = true
	r.Axis, r.Tie.MinDomains = t.locations.PresenceAxis(r.Tie.Key), 0
	if r.Tie.Kind == podspec.SpreadTie {
		r.Filter = t.locations.FilterAxis(compile.Filter{Group: -1})
	}
	all := topology.Domain{}
	for _, d := range r.Domains {
		all.Count += d.Count
		all.Holders += d.Holders
		all.Eligible = all.Eligible || d.Eligible
	}
	r.Domains = []topology.Domain{all}
}

// idleCrowds are those that let as many pods share a machine as there are.
func (t *Ties) idleCrowds(present [][]model.Presence) []bool {
	all := make([]units.Heads, len(t.book.PerNodeLimits))
	for i, class := range t.in.Planned {
		if t.book.Hopeless[i] {
			continue
		}
		n := t.book.Wanting(i)
		for _, x := range t.in.TopologyTerms.List[class.TopologyTerms].Ties {
			if x.PerHost() && x.Kind != podspec.AffinityTie {
				all[t.book.PerNodeLimit(x, t.book.Among(i, x.Target))].Add(true, false, n)
			}
		}
		for _, target := range t.in.TopologyTerms.Targets.Sets[class.Among] {
			for _, k := range t.book.PerNodeLimitsBy[int(target)] {
				all[k].Add(false, true, n)
			}
		}
	}
	most := make([]int64, len(t.book.PerNodeLimits))
	for _, list := range present {
		for _, x := range list {
			most[x.Limit] = max(most[x.Limit], x.N)
		}
	}
	out := make([]bool, len(t.book.PerNodeLimits))
	for k, h := range all {
		out[k] = h.Held == 0 || most[k]+h.Counted <= t.book.PerNodeLimits[k].Max
	}
	return out
}
