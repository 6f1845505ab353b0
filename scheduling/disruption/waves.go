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
func (f *planConstraints) waves(reason Reason, evictions []Eviction) []BudgetUse {
	w := &waveAssigner{constraints: f, taken: map[budgetWave]int{}, uses: map[*podBudget]*BudgetUse{}, atOnce: reason == Interrupted}
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
		if charges := f.podBudgets.charges(pod); len(charges) > 0 {
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
func noteUse(uses map[*podBudget]*BudgetUse, g *podBudget, pods int) {
	if uses[g] == nil {
		uses[g] = &BudgetUse{Budget: g.name, Allowed: g.allowed}
	}
	uses[g].Pods = max(uses[g].Pods, pods)
}

// usesOf lists what is used of budgets, by name.
func usesOf(uses map[*podBudget]*BudgetUse) []BudgetUse {
	var out []BudgetUse
	for _, u := range uses {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b BudgetUse) int { return strings.Compare(a.Budget, b.Budget) })
	return out
}

// waveAssigner seats pods in waves.
type waveAssigner struct {
	constraints *planConstraints
	atOnce      bool
	taken       map[budgetWave]int
	uses        map[*podBudget]*BudgetUse
	last        int // the last wave so far
}

// budgetWave is a budget in a wave.
type budgetWave struct {
	podBudget *podBudget
	wave      int
}

// seat puts a pod into the first wave in which all of its budgets have room.
func (w *waveAssigner) seat(e *Eviction, charges []*podBudget) {
	full := func(g *podBudget) bool { return w.taken[budgetWave{g, e.Wave}] >= max(g.allowed, 1) }
	for !w.atOnce && slices.ContainsFunc(charges, full) {
		e.Wave++
	}
	w.last = max(w.last, e.Wave)
	for _, g := range charges {
		s := budgetWave{g, e.Wave}
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
func (f *planConstraints) ties(name string) tie {
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

// turns deals out the evictions of a step in waves, as waves does, such that every pod may
// land when its turn comes: where pods of one budget leave one after the other, rules that
// hold in the end need not hold on the way. It reports false if no such order was found.
func (f *planConstraints) turns(step *Step) ([]BudgetUse, bool) {
	uses := f.waves(step.Reason, step.Evictions)
	if n := len(step.Evictions); step.Reason == Interrupted || n == 0 || step.Evictions[n-1].Wave == 1 {
		return uses, true
	}
	bound := func(e Eviction) bool {
		return f.ties(e.Pod) != tiedNot && f.pods[e.Pod] != nil && len(f.podBudgets.charges(f.pods[e.Pod])) > 0
	}
	if !slices.ContainsFunc(step.Evictions, bound) {
		return uses, true
	}
	t := &turn{constraints: f, simulation: newSimulation(f, step), wave: map[string]int{}, uses: map[*podBudget]*BudgetUse{}}
	t.sort(step.Evictions)
	ok := t.make()
	if !ok && step.Reason == Expired {
		// The node goes whatever budgets say: better all at once than not at all.
		return f.atOnce(step.Evictions), true
	}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		e.Wave = max(1, t.wave[e.Pod])
	}
	slices.SortStableFunc(step.Evictions, func(a, b Eviction) int {
		return cmp.Or(cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Pod, b.Pod))
	})
	return usesOf(t.uses), ok
}

// atOnce makes all evictions one wave.
func (f *planConstraints) atOnce(evictions []Eviction) []BudgetUse {
	return f.waves(Interrupted, evictions)
}

// turn is the dealing out of waves with rules in mind.
type turn struct {
	constraints *planConstraints
	simulation  *drainSimulation
	// first go in the first wave, last when all in bound have gone, in turns.
	first, bound, last []*movingPod
	wave               map[string]int
	uses               map[*podBudget]*BudgetUse
}

// sort tells who goes when.
func (t *turn) sort(evictions []Eviction) {
	f := t.constraints
	apart := slices.ContainsFunc(evictions, func(e Eviction) bool { return f.ties(e.Pod) == tiedApart })
	for i := range evictions {
		e := &evictions[i]
		a := t.simulation.pods[e.Pod]
		switch {
		case a == nil:
		case active(a.pod) && len(f.podBudgets.charges(a.pod)) > 0:
			t.bound = append(t.bound, a)
		case apart || f.ties(e.Pod) != tiedNot:
			t.last = append(t.last, a)
		default:
			t.first = append(t.first, a)
		}
	}
}

// make deals out wave by wave. In each, the pods are taken whose budgets have room and that
// may land.
func (t *turn) make() bool {
	ok := true
	group := t.first
	for wave := 1; len(t.bound) > 0; wave++ {
		chosen := t.choose(group)
		if len(chosen) == 0 { // nobody may land: the step is not possible in turns
			ok = false
			chosen = t.bound[:1:1]
		}
		group = append(group, chosen...)
		t.bound = slices.DeleteFunc(slices.Clone(t.bound), func(a *movingPod) bool { return slices.Contains(chosen, a) })
		t.charge(chosen)
		if len(t.bound) == 0 && len(t.last) > 0 && t.simulation.possible(slices.Concat(group, t.last), true) {
			group, t.last = append(group, t.last...), nil
		}
		if !t.simulation.possible(group, false) {
			ok = false
			t.simulation.force(group)
		}
		t.seat(group, wave)
		if len(t.bound) == 0 && len(t.last) > 0 {
			ok = t.simulation.possible(t.last, false) && ok
			t.seat(t.last, wave+1)
		}
		group = nil
	}
	return ok
}

// choose picks the pods that can join a group: no budget has too many of them, and all land.
func (t *turn) choose(group []*movingPod) []*movingPod {
	taken := map[*podBudget]int{}
	var chosen []*movingPod
	for _, a := range t.bound {
		charges := t.constraints.podBudgets.charges(a.pod)
		if slices.ContainsFunc(charges, func(g *podBudget) bool { return taken[g] >= max(g.allowed, 1) }) {
			continue
		}
		if with := append(slices.Concat(group, chosen), a); (len(a.rules) > 0 || t.simulation.apart) && !t.simulation.possible(with, true) {
			continue
		}
		chosen = append(chosen, a)
		for _, g := range charges {
			taken[g]++
		}
	}
	return chosen
}

// charge notes what a wave uses of budgets.
func (t *turn) charge(pods []*movingPod) {
	taken := map[*podBudget]int{}
	for _, a := range pods {
		for _, g := range t.constraints.podBudgets.charges(a.pod) {
			taken[g]++
			noteUse(t.uses, g, taken[g])
		}
	}
}

func (t *turn) seat(pods []*movingPod, wave int) {
	for _, a := range pods {
		t.wave[a.name] = wave
	}
}
