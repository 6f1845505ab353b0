package disruption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// turns deals out the evictions of a step in waves. Pods that go together leave every budget as many
// pods as it asks for: a budget that allows d pods to be away, of which n leave, makes ceil(n/d)
// waves. Pods that no budget counts go at once, unless where they may land depends on where others
// are: these go last, when the others have landed. Where pods that leave one after the other are
// tied, they leave in an order in which each may land: rules that hold in the end need not hold on
// the way. It reports false if no such order was found.
//
// Only steps that have to be evict pods of a budget that allows none; they do it one by one. Where
// the machine is taken away, all go at once: waiting helps nobody.
//
// Some pods may be named that leave before all others, in waves of their own.
func (f *state) assignWaves(step *Step, first map[string]bool) ([]BudgetUse, bool) {
	w := f.buildWaves(step, nil, first)
	n := len(step.Evictions)
	if step.Reason == Interrupted || n == 0 || step.Evictions[n-1].Wave == 1 || !slices.ContainsFunc(step.Evictions, f.dependsOnOrder) {
		return w.uses(), true
	}
	w = f.buildWaves(step, f.landing.Try(landingStep(step, nil), f.offered), first)
	if !w.ok && step.Reason == Expired && !f.outOfTime() {
		// The node goes whatever budgets say: better all at once than not at all.
		return f.buildWaves(&Step{Reason: Interrupted, Evictions: step.Evictions}, nil, nil).uses(), true
	}
	return w.uses(), w.ok
}

// bound reports whether a pod leaves in turns with others and where it may land depends on where other pods are.
func (f *state) dependsOnOrder(e Eviction) bool {
	pod := f.pods[e.Pod]
	return pod != nil && f.landing.Follows(e.Pod) && len(f.podBudgets.Charges(pod)) > 0
}

// lands reports whether all pods may land where they are to.
func (f *state) allLand(o *outcome) bool {
	if !slices.ContainsFunc(o.evictions, func(e Eviction) bool { return f.landing.Follows(e.Pod) }) {
		return true
	}
	s := f.landing.Try(landingStep(&Step{Drain: o.nodes, Launches: o.launches, Evictions: o.evictions}, nil), f.offered)
	return s.Possible(lo.Map(o.evictions, func(e Eviction, _ int) *landing.Pod { return s.Pods[e.Pod] }), true)
}

// waves is the dealing out of the evictions of a step.
type waveBuilder struct {
	state      *state
	simulation *landing.Trial // nil to let every pod land
	atOnce     bool
	// free go in the first wave, last when all that budgets count have gone.
	immediate, charged, last []*Eviction
	wave                     int                      // the next
	used                     map[*eviction.Budget]int // how many pods of a budget are away at most at the same time
	ok                       bool
}

// deal deals out waves, and sorts evictions by them.
func (f *state) buildWaves(step *Step, s *landing.Trial, first map[string]bool) *waveBuilder {
	w := &waveBuilder{state: f, simulation: s, atOnce: step.Reason == Interrupted, used: map[*eviction.Budget]int{}, ok: true, wave: 1}
	list := step.Evictions
	late := func(e Eviction) int {
		if w.atOnce || first[e.Pod] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Eviction) int {
		if c := cmp.Compare(late(a), late(b)); c != 0 || s != nil {
			return c
		}
		return cmp.Compare(f.evictionRank(a.Pod), f.evictionRank(b.Pod)) // pods that depend on others go late, within a budget too
	})
	n := lo.CountBy(list, func(e Eviction) bool { return late(e) == 0 })
	for _, part := range [][]Eviction{list[:n], list[n:]} {
		if len(part) > 0 && w.ok {
			w.classify(part)
			w.build()
		}
	}
	slices.SortStableFunc(list, compareWaves)
	return w
}

// compareWaves orders evictions by wave, then by pod.
func compareWaves(a, b Eviction) int {
	return cmp.Or(cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Pod, b.Pod))
}

// sort tells evictions that go at once from those that budgets count, and those that go when these have.
func (w *waveBuilder) classify(list []Eviction) {
	f := w.state
	w.immediate, w.charged, w.last = nil, nil, nil
	apart := slices.ContainsFunc(list, func(e Eviction) bool { return f.landing.Repels(e.Pod) })
	for i := range list {
		e := &list[i]
		pod := f.pods[e.Pod]
		e.Wave = w.wave
		switch {
		case pod == nil:
		case eviction.Active(pod) && len(f.podBudgets.Charges(pod)) > 0:
			w.charged = append(w.charged, e)
		case !w.atOnce && (eviction.Active(pod) || w.simulation != nil) && (apart || f.landing.Follows(e.Pod)):
			w.last = append(w.last, e)
		default: // it depends on nobody, or is on its way out whatever is done
			w.immediate = append(w.immediate, e)
		}
	}
}

// rank orders pods by how where they may land depends on others: not, by their own terms, or so that
// they keep others away.
func (f *state) evictionRank(pod string) int {
	switch {
	case f.landing.Repels(pod):
		return 2
	case f.landing.Follows(pod):
		return 1
	}
	return 0
}

// make deals out wave by wave. In each, the pods are taken whose budgets have room and that
// may land.
func (w *waveBuilder) build() {
	group := w.immediate
	if len(w.charged) == 0 {
		w.wave++
	}
	for ; len(w.charged) > 0; w.wave++ {
		chosen := w.choose(group)
		if len(chosen) == 0 { // nobody may land, or there is no time: the step is not possible in turns
			w.charge(w.used, w.charged[0])
			w.ok = false
			return
		}
		group = append(group, chosen...)
		w.charged = slices.DeleteFunc(slices.Clone(w.charged), func(e *Eviction) bool { return slices.Contains(chosen, e) })
		taken := map[*eviction.Budget]int{}
		for _, e := range chosen {
			w.charge(taken, e)
		}
		for g, n := range taken {
			w.used[g] = max(w.used[g], n)
		}
		if len(w.charged) == 0 && len(w.last) > 0 && w.possible(slices.Concat(group, w.last), true) {
			group, w.last = append(group, w.last...), nil
		}
		if !w.possible(group, false) {
			w.ok = false
			return
		}
		if setWave(group, w.wave); len(w.charged) == 0 && len(w.last) > 0 {
			w.wave++
			w.ok = w.possible(w.last, false) && w.ok
			setWave(w.last, w.wave)
		}
		group = nil
	}
}

// choose picks the pods that can join a group: no budget has too many of them, and all land.
func (w *waveBuilder) choose(group []*Eviction) (chosen []*Eviction) {
	taken := map[*eviction.Budget]int{}
	for _, e := range w.charged {
		full := func(g *eviction.Budget) bool { return !w.atOnce && taken[g] >= max(g.Allowed, 1) }
		if slices.ContainsFunc(w.state.podBudgets.Charges(w.state.pods[e.Pod]), full) {
			continue
		}
		if w.simulation != nil && w.simulation.Independent(w.simulation.Pods[e.Pod]) || w.possible(append(slices.Concat(group, chosen), e), true) {
			chosen = append(chosen, e)
			w.charge(taken, e)
		}
	}
	return chosen
}

// charge counts a pod that is away.
func (w *waveBuilder) charge(taken map[*eviction.Budget]int, e *Eviction) {
	for _, g := range w.state.podBudgets.Charges(w.state.pods[e.Pod]) {
		taken[g]++
	}
}

// possible reports whether pods that leave at the same time all land, as far as there is time to find out.
func (w *waveBuilder) possible(group []*Eviction, only bool) bool {
	return w.simulation == nil || !w.state.outOfTime() && w.simulation.Possible(w.moving(group), only)
}

func (w *waveBuilder) moving(group []*Eviction) []*landing.Pod {
	return lo.Map(group, func(e *Eviction, _ int) *landing.Pod { return w.simulation.Pods[e.Pod] })
}

func setWave(group []*Eviction, wave int) {
	for _, e := range group {
		e.Wave = wave
	}
}

// uses is what is used of budgets, by name.
func (w *waveBuilder) uses() []BudgetUse {
	var out []BudgetUse
	for g, n := range w.used {
		out = append(out, BudgetUse{Budget: g.Name, Pods: n, Allowed: g.Allowed})
	}
	slices.SortFunc(out, func(a, b BudgetUse) int { return strings.Compare(a.Budget, b.Budget) })
	return out
}
