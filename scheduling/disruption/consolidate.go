package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// consolidate makes the steps that make the cluster cheaper, each once it is certain.
func (r *run) consolidate(ctx context.Context) error {
	t, err := r.state.solveAnew(ctx, r.state.planner.Policy.Effort, r.state.loose)
	if err != nil {
		return err
	}
	r.findings = &findings{bound: t.bound, anew: t}
	err = r.save(ctx, t)
	r.findings.late = over(ctx)
	return err
}

// mostSearches is how often the search is begun anew because nodes were left that were to go.
const mostSearches = 3

// save carries out what the search finds, as far as that is possible in steps.
func (r *run) save(ctx context.Context, t *target) error {
	for range mostSearches {
		before := r.state.price()
		x := &search{state: r.state, target: t, receiving: r.state.receiving(), patient: true}
		left, err := r.reach(ctx, x)
		if err != nil || r.done || !left || r.state.price() == before || over(ctx) {
			return err
		}
	}
	return nil
}

// reach carries out what leads to one of the ends of a search: to that which is cheapest when
// it is reached in steps. Where none is reached to the end, what is found in moves as small as budgets of
// pools ask may be cheaper. It reports whether nodes are left that should have gone.
func (r *run) reach(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.ends(ctx)
	if err != nil {
		return false, err
	}
	if r.state.large() {
		rest, err := r.inSteps(ctx, combined(ends[0].moves, r.state.rebooked), nil)
		return len(rest) > 0, err
	}
	way, left, err := r.cheapest(ctx, ends)
	if err == nil && way.state.price() > ends[0].state.price() && !over(ctx) {
		x.patient = false
		if ends, err = x.ends(ctx); err != nil {
			return false, err
		}
		other, rest, err := r.cheapest(ctx, ends)
		if err != nil {
			return false, err
		}
		if other.state.price() < way.state.price() {
			way, left = other, rest
		}
	}
	if err != nil {
		return false, err
	}
	for i := len(r.steps); i < len(way.steps) && !r.done; i++ {
		if err := r.make(&way.steps[i]); err != nil {
			return false, err
		}
	}
	return left, nil
}

// cheapest is the way to the end that is cheapest when it is reached in steps, and whether
// nodes are left that should have gone.
func (r *run) cheapest(ctx context.Context, ends []*search) (way *run, left bool, err error) {
	for _, end := range ends {
		if way != nil && end.state.price() >= way.state.price() {
			continue
		}
		t, rest, err := r.tryInSteps(ctx, combined(end.moves, end.state.rebooked))
		if err != nil {
			return nil, false, err
		}
		if way == nil || t.state.price() < way.state.price() {
			way, left = t, rest
		}
		if !rest || over(ctx) {
			break
		}
	}
	return way, left, nil
}

// price is what all nodes of pools cost.
func (f *state) price() offerings.Price {
	price, _ := f.totals()
	return price
}

// within reports whether the budgets of pools let nodes go at once.
func (f *state) within(nodes []string) bool {
	return !slices.ContainsFunc(f.moveOf(nodes).pools, func(x *poolShare) bool { return f.crowded(x.pool, Underutilized, x.nodes) != nil })
}

// receiving are the nodes that steps have bought or moved pods to. They stay.
func (f *state) receiving() map[string]bool {
	return f.nodesThat(func(s *candidate) bool { return s.received || s.fresh })
}
