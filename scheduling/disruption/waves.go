package disruption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// assignWaves divides the evictions of a step into waves, sorts them by wave, and returns the use of
// PodDisruptionBudgets. A budget that allows d of its n evicted pods to be away makes ceil(n/d) waves. Pods without a
// budget leave in the first wave; those of them that depend on other pods by topology spread or pod affinity leave in
// the last, when the others run again. If pods of several waves depend on each other, an order is found in which each
// can be scheduled, because rules that hold after the step need not hold on the way. It reports false if there is
// none.
//
// A budget that allows no disruption is only used by forced steps, which evict its pods one by one. All pods of an
// interrupted machine leave at once, because the machine does not wait. The pods in early leave before all others, in
// waves of their own.
func (f *state) assignWaves(step *Step, first map[string]bool) ([]BudgetUse, bool) {
	w := f.buildWaves(step, nil, first)
	n := len(step.Evictions)
	if step.Reason == Interrupted || n == 0 || step.Evictions[n-1].Wave == 1 || !slices.ContainsFunc(step.Evictions, f.dependsOnOrder) {
		return w.uses(), true
	}
	w = f.buildWaves(step, f.landing.Try(landingStep(step, nil), f.offered), first)
	if !w.ok && step.Reason == Expired && !f.outOfTime() {
		// Expiry asks no budget: evicting all pods at once is better than keeping the node.
		return f.buildWaves(&Step{Reason: Interrupted, Evictions: step.Evictions}, nil, nil).uses(), true
	}
	return w.uses(), w.ok
}

// dependsOnOrder reports whether a pod has a budget, so that it leaves after other pods, and rules about other pods.
func (f *state) dependsOnOrder(e Eviction) bool {
	pod := f.pods[e.Pod]
	return pod != nil && f.landing.Follows(e.Pod) && len(f.podBudgets.Charges(pod)) > 0
}

// allLand reports whether all pods of an outcome can be scheduled where they are expected.
func (f *state) allLand(o *outcome) bool {
	if !slices.ContainsFunc(o.evictions, func(e Eviction) bool { return f.landing.Follows(e.Pod) }) {
		return true
	}
	s := f.landing.Try(landingStep(&Step{Drain: o.nodes, Launches: o.launches, Evictions: o.evictions}, nil), f.offered)
	return s.Possible(lo.Map(o.evictions, func(e Eviction, _ int) *landing.Pod { return s.Pods[e.Pod] }), true)
}

// waveBuilder divides the evictions of a step into waves.
type waveBuilder struct {
	state      *state
	simulation *landing.Trial // nil to check no order
	atOnce     bool
	// immediate are evictions for the first wave, charged those that a budget counts, last those for the last wave.
	immediate, charged, last []*Eviction
	wave                     int                      // the number of the next
	used                     map[*eviction.Budget]int // the most pods of a budget that are away at the same time
	ok                       bool
}

// buildWaves assigns waves to the evictions of a step, and sorts them by wave. ok of the result is false if there is
// no order.
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

// classify divides evictions into immediate, charged and last.
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
		default: // it depends on no other pod, or is being deleted anyway
			w.immediate = append(w.immediate, e)
		}
	}
}

// evictionRank orders pods by their dependence on others: 0 for none, 1 for rules of their own, 2 for anti-affinity,
// which keeps other pods away.
func (f *state) evictionRank(pod string) int {
	switch {
	case f.landing.Repels(pod):
		return 2
	case f.landing.Follows(pod):
		return 1
	}
	return 0
}

// build fills wave by wave with the pods whose budgets allow it and that can be scheduled.
func (w *waveBuilder) build() {
	group := w.immediate
	if len(w.charged) == 0 {
		w.wave++
	}
	for ; len(w.charged) > 0; w.wave++ {
		chosen := w.choose(group)
		if len(chosen) == 0 { // no pod can be scheduled, or the deadline has passed
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

// choose are charged evictions that can join a group: their budgets allow it, and all pods can be scheduled.
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

// charge counts an eviction for the budgets of its pod.
func (w *waveBuilder) charge(taken map[*eviction.Budget]int, e *Eviction) {
	for _, g := range w.state.podBudgets.Charges(w.state.pods[e.Pod]) {
		taken[g]++
	}
}

// possible reports whether pods that leave at the same time can all be scheduled; false if the deadline has passed.
// With only, the simulation stays as it is.
func (w *waveBuilder) possible(group []*Eviction, only bool) bool {
	return w.simulation == nil || !w.state.outOfTime() && w.simulation.Possible(w.moving(group), only)
}

// moving are the pods of a group in the simulation.
func (w *waveBuilder) moving(group []*Eviction) []*landing.Pod {
	return lo.Map(group, func(e *Eviction, _ int) *landing.Pod { return w.simulation.Pods[e.Pod] })
}

// setWave sets the wave of evictions.
func setWave(group []*Eviction, wave int) {
	for _, e := range group {
		e.Wave = wave
	}
}

// uses is the use of PodDisruptionBudgets, by name.
func (w *waveBuilder) uses() []BudgetUse {
	var out []BudgetUse
	for g, n := range w.used {
		out = append(out, BudgetUse{Budget: g.Name, Pods: n, Allowed: g.Allowed})
	}
	slices.SortFunc(out, func(a, b BudgetUse) int { return strings.Compare(a.Budget, b.Budget) })
	return out
}
