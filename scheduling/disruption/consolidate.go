package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// consolidate makes the steps that save, each once it is final.
func (r *run) consolidate(ctx context.Context) error {
	if err := r.findTarget(ctx); err != nil {
		return err
	}
	r.findings = &findings{bound: r.target.bound, target: r.target}
	err := r.saveToward(ctx, r.target)
	r.findings.timedOut = outOfTime(ctx)
	return err
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

// mostSearches is how often the search begins again because nodes have stayed that it wanted to remove.
const mostSearches = 3

// saveToward makes the steps to cheaper clusters that the search finds, as far as there are steps.
func (r *run) saveToward(ctx context.Context, t *rebuildTarget) error {
	for i := 0; i < mostSearches && !outOfTime(ctx); i++ {
		before := r.state.price()
		x := &search{state: r.state, target: t, excluded: r.state.excludedNodes()}
		left, err := r.reachCheapest(ctx, x)
		if err != nil || r.done || !left || r.state.price() == before {
			return err
		}
	}
	return nil
}

// reachCheapest makes the steps to that solution of a search which is cheapest when it is reached in steps. It
// reports whether nodes have stayed that should be removed.
func (r *run) reachCheapest(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.solutions(ctx)
	if err != nil {
		return false, err
	}
	if r.state.large() {
		rest, err := reachInSteps(ctx, r, combined(ends[0].moves, r.state), nil)
		return len(rest) > 0, err
	}
	way, left, err := r.cheapestTrial(ctx, ends)
	if err != nil || way == nil {
		return false, err
	}
	return left, r.commitFrom(way)
}

// cheapestTrial is a trial of the steps to the solution that ends cheapest, and whether nodes have stayed that should
// be removed; nil if all solutions were tried before.
func (r *run) cheapestTrial(ctx context.Context, ends []*search) (way *run, left bool, err error) {
	for _, end := range ends {
		if way != nil && end.state.price() >= way.state.price() {
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
		if way == nil || t.state.price() < way.state.price() {
			way, left = t, rest
		}
		if !rest || outOfTime(ctx) {
			break
		}
	}
	return way, left, nil
}

// mostTries is how often the steps to a solution are looked for: nodes that stayed the last time are tried first.
const mostTries = 3

// trialInSteps splits a step into smaller ones in trials, and returns the trial that ends cheapest, and whether nodes
// have stayed that should be removed.
func (r *run) trialInSteps(ctx context.Context, step *Step) (best *run, left bool, err error) {
	var first []string
	for range mostTries {
		t := r.trial()
		stay, err := reachInSteps(ctx, t, step, first)
		if err != nil {
			return nil, false, err
		}
		if best == nil || t.state.price() < best.state.price() {
			best, left = t, len(stay) > 0
		}
		if len(stay) == 0 || len(t.steps) == len(r.steps) || outOfTime(ctx) {
			break
		}
		first = append(stay, first...)
	}
	return best, left, nil
}
