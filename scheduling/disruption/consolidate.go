package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// consolidation removes nodes whose pods cost less elsewhere: any number of nodes, of all NodePools, by any number of
// launches.
type consolidation struct {
	// target is the cluster rebuilt from scratch at whose price the search aims; nil for that of the run, which is found
	// first, with the bound of the plan.
	target *rebuildTarget
}

// candidates leaves out the nodes that earlier steps have launched, or moved pods to in order to save.
func (consolidation) candidates(r *run) []*candidate {
	may, _ := candidatesFor(r.state, Underutilized)
	return slices.DeleteFunc(may, func(s *candidate) bool { return s.excluded || s.launched })
}

func (m consolidation) disrupt(ctx context.Context, r *run, nodes []*candidate) error {
	if !r.state.rules.enabled(Underutilized) {
		return nil
	}
	if m.target == nil {
		r.observe(scheduling.Phase(Underutilized))
		if err := r.findTarget(ctx); err != nil {
			return err
		}
		m.target, r.findings = r.target, &findings{bound: r.target.bound, target: r.target}
		defer func() {
			r.findings.timedOut = outOfTime(ctx)
			r.capBound()
		}()
	}
	// The search begins again if nodes have stayed that it wanted to remove.
	for i := 0; i < mostTrials && !outOfTime(ctx); i++ {
		before := r.state.price()
		left, err := r.reachBest(ctx, newSearch(r.state, m.target, nodes))
		if err != nil || r.done || !left || r.state.price() == before {
			return err
		}
		nodes = m.candidates(r)
	}
	return nil
}

// findTarget rebuilds the cluster from scratch, as an aim of the search for savings, unless that was done before.
func (r *run) findTarget(ctx context.Context) error {
	if r.target != nil {
		return nil
	}
	t, err := solveRebuild(ctx, r.state, scheduling.EffortFast, r.state.disruptable)
	r.target = t
	return err
}

// reachBest makes the steps to that solution of a search which is best when it is reached in steps. It reports
// whether nodes have stayed that should be removed.
func (r *run) reachBest(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.solutions(ctx)
	if err != nil {
		return false, err
	}
	if r.state.large() {
		rest, err := reachInSteps(ctx, r, combined(ends[0].moves, r.state), nil)
		return len(rest) > 0, err
	}
	way, left, err := r.bestTrial(ctx, ends)
	if err != nil || way == nil {
		return false, err
	}
	return left, r.commitFrom(way)
}

// bestTrial is the best trial of the steps to a solution, and whether nodes have stayed that should be removed; nil if
// all solutions were tried before.
func (r *run) bestTrial(ctx context.Context, ends []*search) (way *run, left bool, err error) {
	var trials improver
	for _, end := range ends {
		if trials.best != nil && end.state.price() >= trials.best.state.price() {
			continue
		}
		step := combined(end.moves, end.state)
		if slices.ContainsFunc(r.triedSolutions, step.leadsTo) {
			continue
		}
		r.triedSolutions = append(r.triedSolutions, step)
		t, rest, err := r.trialInSteps(ctx, step)
		if err != nil {
			return nil, false, err
		}
		if trials.accept(t) {
			left = rest
		}
		if !rest || outOfTime(ctx) {
			break
		}
	}
	return trials.best, left, nil
}

// trialInSteps is the best trial of splitting a step into smaller ones, and whether nodes have stayed that should be
// removed. Nodes that stayed in the last trial are tried first in the next one.
func (r *run) trialInSteps(ctx context.Context, step *Step) (best *run, left bool, err error) {
	var trials improver
	for first := []string(nil); trials.best == nil || trials.mayTry(ctx); {
		t := r.trial()
		stay, err := reachInSteps(ctx, t, step, first)
		if err != nil {
			return nil, false, err
		}
		if trials.accept(t) {
			left = len(stay) > 0
		}
		if len(stay) == 0 || len(t.steps) == len(r.steps) {
			break
		}
		first = append(stay, first...)
	}
	return trials.best, left, nil
}
