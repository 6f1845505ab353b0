package disruption

import (
	"cmp"
	"slices"
	"strings"
)

// turns deals out the evictions of a step in waves, as waves does, such that every pod may
// land when its turn comes: where pods of one budget leave one after the other, rules that
// hold in the end need not hold on the way. It reports false if no such order was found.
func (f *frame) turns(step *Step) ([]BudgetUse, bool) {
	uses := f.waves(step.Reason, step.Evictions)
	if n := len(step.Evictions); step.Reason == Interrupted || n == 0 || step.Evictions[n-1].Wave == 1 {
		return uses, true
	}
	bound := func(e Eviction) bool {
		return f.ties(e.Pod) != tiedNot && f.pods[e.Pod] != nil && len(f.guards.charges(f.pods[e.Pod])) > 0
	}
	if !slices.ContainsFunc(step.Evictions, bound) {
		return uses, true
	}
	t := &turn{frame: f, stage: newStage(f, step), wave: map[string]int{}, uses: map[*guard]*BudgetUse{}}
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
func (f *frame) atOnce(evictions []Eviction) []BudgetUse { return f.waves(Interrupted, evictions) }

// turn is the dealing out of waves with rules in mind.
type turn struct {
	frame *frame
	stage *stage
	// first go in the first wave, last when all in bound have gone, in turns.
	first, bound, last []*actor
	wave               map[string]int
	uses               map[*guard]*BudgetUse
}

// sort tells who goes when.
func (t *turn) sort(evictions []Eviction) {
	f := t.frame
	apart := slices.ContainsFunc(evictions, func(e Eviction) bool { return f.ties(e.Pod) == tiedApart })
	for i := range evictions {
		e := &evictions[i]
		a := t.stage.pods[e.Pod]
		switch {
		case a == nil:
		case active(a.pod) && len(f.guards.charges(a.pod)) > 0:
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
		t.bound = slices.DeleteFunc(slices.Clone(t.bound), func(a *actor) bool { return slices.Contains(chosen, a) })
		t.charge(chosen)
		if len(t.bound) == 0 && len(t.last) > 0 && t.stage.possible(slices.Concat(group, t.last), true) {
			group, t.last = append(group, t.last...), nil
		}
		if !t.stage.possible(group, false) {
			ok = false
			t.stage.force(group)
		}
		t.seat(group, wave)
		if len(t.bound) == 0 && len(t.last) > 0 {
			ok = t.stage.possible(t.last, false) && ok
			t.seat(t.last, wave+1)
		}
		group = nil
	}
	return ok
}

// choose picks the pods that can join a group: no budget has too many of them, and all land.
func (t *turn) choose(group []*actor) []*actor {
	taken := map[*guard]int{}
	var chosen []*actor
	for _, a := range t.bound {
		charges := t.frame.guards.charges(a.pod)
		if slices.ContainsFunc(charges, func(g *guard) bool { return taken[g] >= max(g.allowed, 1) }) {
			continue
		}
		if with := append(slices.Concat(group, chosen), a); (len(a.rules) > 0 || t.stage.apart) && !t.stage.possible(with, true) {
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
func (t *turn) charge(pods []*actor) {
	taken := map[*guard]int{}
	for _, a := range pods {
		for _, g := range t.frame.guards.charges(a.pod) {
			taken[g]++
			noteUse(t.uses, g, taken[g])
		}
	}
}

func (t *turn) seat(pods []*actor, wave int) {
	for _, a := range pods {
		t.wave[a.name] = wave
	}
}
