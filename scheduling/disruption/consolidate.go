package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// consolidate makes the steps that make the cluster cheaper, each once it is certain.
func (r *run) consolidate(ctx context.Context) (*findings, error) {
	t, err := r.state.solveAnew(ctx, r.state.planner.Policy.Effort, r.state.loose)
	if err != nil {
		return nil, err
	}
	err = r.carrier().save(ctx, t)
	return &findings{bound: t.bound, anew: t, late: over(ctx)}, err
}

// carrier carries steps out as steps of the plan.
func (r *run) carrier() *carrier {
	return &carrier{state: r.state, make: func(step *Step) (bool, error) {
		err := r.make(step)
		return r.done, err
	}}
}

// mostSearches is how often the search is begun anew because nodes were left that were to go.
const mostSearches = 3

// carrier carries steps out one after the other.
type carrier struct {
	state *state
	// make carries out one, and says whether it was to be the last: done.
	make func(*Step) (done bool, err error)
	done bool
	// made are the steps of a trial.
	made []*Step
}

// save carries out what the search finds, as far as that is possible in steps.
func (c *carrier) save(ctx context.Context, t *target) error {
	for range mostSearches {
		before := c.price()
		x := &search{state: c.state, target: t, receiving: c.state.receiving(), patient: true}
		left, err := c.reach(ctx, x)
		if err != nil || c.done || !left || c.price() == before || over(ctx) {
			return err
		}
	}
	return nil
}

// reach carries out what leads to one of the ends of a search: to that which is cheapest when
// it is reached in steps. Where none is reached to the end, what is found in moves as small as budgets of
// pools ask may be cheaper. It reports whether nodes are left that should have gone.
func (c *carrier) reach(ctx context.Context, x *search) (left bool, err error) {
	ends, err := x.ends(ctx)
	if err != nil {
		return false, err
	}
	if c.state.large() {
		rest, err := c.inSteps(ctx, combined(ends[0].moves, c.state.rebooked), nil)
		return len(rest) > 0, err
	}
	way, left, err := c.cheapest(ctx, ends)
	if err == nil && way.price() > ends[0].price() && !over(ctx) {
		x.patient = false
		if ends, err = x.ends(ctx); err != nil {
			return false, err
		}
		other, rest, err := c.cheapest(ctx, ends)
		if err != nil {
			return false, err
		}
		if other.price() < way.price() {
			way, left = other, rest
		}
	}
	if err != nil {
		return false, err
	}
	for _, step := range way.made {
		if c.done {
			break
		}
		if err := c.do(step); err != nil {
			return false, err
		}
	}
	return left, nil
}

// cheapest is the way to the end that is cheapest when it is reached in steps, and whether
// nodes are left that should have gone.
func (c *carrier) cheapest(ctx context.Context, ends []*search) (way *carrier, left bool, err error) {
	for _, end := range ends {
		if way != nil && end.price() >= way.price() {
			continue
		}
		t, rest, err := c.tryInSteps(ctx, combined(end.moves, end.state.rebooked))
		if err != nil {
			return nil, false, err
		}
		if way == nil || t.price() < way.price() {
			way, left = t, rest
		}
		if !rest || over(ctx) {
			break
		}
	}
	return way, left, nil
}

// do carries a step out.
func (c *carrier) do(step *Step) (err error) {
	c.done, err = c.make(step)
	return err
}

// trial is a carrier that stands where c does, and carries steps out in a copy of the cluster.
func (c *carrier) trial() *carrier {
	t := &carrier{state: c.state.fork()}
	t.make = func(step *Step) (bool, error) {
		t.made = append(t.made, step)
		return false, t.state.take(step)
	}
	return t
}

// price is what all nodes of pools cost.
func (c *carrier) price() offerings.Price {
	price, _ := c.state.totals()
	return price
}

// within reports whether the budgets of pools let nodes go at once.
func (f *state) within(nodes []string) bool {
	return !slices.ContainsFunc(f.moveOf(nodes).pools, func(x *poolShare) bool { return f.crowded(x.pool, Underutilized, x.nodes) != nil })
}

// receiving are the nodes that steps have bought or moved pods to. They stay.
func (f *state) receiving() map[string]bool {
	out := map[string]bool{}
	for _, at := range f.nodes {
		if at.received || at.fresh {
			out[at.name] = true
		}
	}
	return out
}
