package disruption

import (
	"cmp"
	"slices"
	"strings"
)

// waves deals out the evictions of a step: pods that go together leave every budget as
// many pods as it asks for. A budget that allows d pods to be away, of which n leave,
// makes ceil(n/d) waves. Only steps that have to be evict pods of a budget that allows
// none; they do it one by one.
func (f *frame) waves(evictions []Eviction) []BudgetUse {
	type seat struct {
		guard *guard
		wave  int
	}
	taken := map[seat]int{}
	first := map[*guard]int{} // the first wave that is not full
	var uses []BudgetUse
	at := map[*guard]int{}
	for i := range evictions {
		e := &evictions[i]
		e.Wave = 1
		pod := f.pods[e.Pod]
		if pod == nil || !active(pod) {
			continue // it is on its way out whatever is done
		}
		charges := f.guards.charges(pod)
		for _, g := range charges {
			e.Wave = max(e.Wave, first[g])
		}
		fits := func() bool {
			return !slices.ContainsFunc(charges, func(g *guard) bool { return taken[seat{g, e.Wave}] >= max(g.allowed, 1) })
		}
		for !fits() {
			e.Wave++
		}
		for _, g := range charges {
			s := seat{g, e.Wave}
			taken[s]++
			if len(charges) == 1 && taken[s] >= max(g.allowed, 1) {
				first[g] = e.Wave + 1
			}
			k, ok := at[g]
			if !ok {
				k, at[g] = len(uses), len(uses)
				uses = append(uses, BudgetUse{Budget: g.name, Allowed: g.allowed})
			}
			uses[k].Pods = max(uses[k].Pods, taken[s])
		}
	}
	slices.SortStableFunc(evictions, func(a, b Eviction) int { return cmp.Compare(a.Wave, b.Wave) })
	slices.SortFunc(uses, func(a, b BudgetUse) int { return strings.Compare(a.Budget, b.Budget) })
	return uses
}
