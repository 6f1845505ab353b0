package disruption

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// waves deals out the evictions of a step: pods that go together leave every budget as
// many pods as it asks for. A budget that allows d pods to be away, of which n leave,
// makes ceil(n/d) waves. Pods that no budget counts go at once, unless where they may land
// depends on where others are: these go last, when the others have landed.
//
// Only steps that have to be evict pods of a budget that allows none; they do it one by
// one. Where the machine is taken away, all go at once: waiting helps nobody.
func (f *frame) waves(reason Reason, evictions []Eviction) []BudgetUse {
	w := &waveMaker{frame: f, taken: map[waveSeat]int{}, uses: map[*guard]*BudgetUse{}, atOnce: reason == Interrupted}
	var free []*Eviction
	// Pods that depend on others go late, within a budget too.
	slices.SortStableFunc(evictions, func(a, b Eviction) int { return cmp.Compare(f.ties(a.Pod), f.ties(b.Pod)) })
	for i := range evictions {
		e := &evictions[i]
		e.Wave = 1
		pod := f.pods[e.Pod]
		if pod == nil || !active(pod) {
			continue // it is on its way out whatever is done
		}
		if charges := f.guards.charges(pod); len(charges) > 0 {
			w.seat(e, charges)
		} else if !w.atOnce {
			free = append(free, e)
		}
	}
	apart := slices.ContainsFunc(evictions, func(e Eviction) bool { return f.ties(e.Pod) == tiedApart })
	for _, e := range free {
		if apart || f.ties(e.Pod) != tiedNot {
			e.Wave = max(1, w.last)
		}
	}
	slices.SortStableFunc(evictions, func(a, b Eviction) int {
		return cmp.Or(cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Pod, b.Pod))
	})
	return usesOf(w.uses)
}

// noteUse notes that so many pods of a budget are away at the same time.
func noteUse(uses map[*guard]*BudgetUse, g *guard, pods int) {
	if uses[g] == nil {
		uses[g] = &BudgetUse{Budget: g.name, Allowed: g.allowed}
	}
	uses[g].Pods = max(uses[g].Pods, pods)
}

// usesOf lists what is used of budgets, by name.
func usesOf(uses map[*guard]*BudgetUse) []BudgetUse {
	var out []BudgetUse
	for _, u := range uses {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b BudgetUse) int { return strings.Compare(a.Budget, b.Budget) })
	return out
}

// waveMaker seats pods in waves.
type waveMaker struct {
	frame  *frame
	atOnce bool
	taken  map[waveSeat]int
	uses   map[*guard]*BudgetUse
	last   int // the last wave so far
}

// waveSeat is a budget in a wave.
type waveSeat struct {
	guard *guard
	wave  int
}

// seat puts a pod into the first wave in which all of its budgets have room.
func (w *waveMaker) seat(e *Eviction, charges []*guard) {
	full := func(g *guard) bool { return w.taken[waveSeat{g, e.Wave}] >= max(g.allowed, 1) }
	for !w.atOnce && slices.ContainsFunc(charges, full) {
		e.Wave++
	}
	w.last = max(w.last, e.Wave)
	for _, g := range charges {
		s := waveSeat{g, e.Wave}
		w.taken[s]++
		noteUse(w.uses, g, w.taken[s])
	}
}

// tie says how where a pod may land depends on where others are.
type tie int

const (
	tiedNot   tie = iota
	tiedOwn       // by its own affinity or spread
	tiedApart     // it keeps others away as well
)

// ties says how a pod is tied.
func (f *frame) ties(name string) tie {
	pod := f.pods[name]
	if pod == nil {
		return tiedNot
	}
	return tieOf(pod, f.problem.DefaultSpread)
}

// tieOf says how a pod is tied that spreads by default constraints unless it has its own.
func tieOf(pod *corev1.Pod, byDefault []corev1.TopologySpreadConstraint) tie {
	switch {
	case len(awayFrom(pod)) > 0:
		return tiedApart
	case len(nearTo(pod)) > 0:
		return tiedOwn
	}
	hard := func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == corev1.DoNotSchedule }
	spread := pod.Spec.TopologySpreadConstraints
	if len(spread) == 0 {
		spread = byDefault
	}
	if slices.ContainsFunc(spread, hard) {
		return tiedOwn
	}
	return tiedNot
}
