package disruption

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// found is what the search finds, as steps of which so many are exact. It is looked for as if
// budgets of pools let all nodes go at once that they let go, since large steps can mostly be
// done part after part; if so, the steps are these parts, ready to be done in this order.
// Where that turns out not to be so, it is looked for node after node, and at last in moves as
// small as budgets ask.
func (c *carrier) found(ctx context.Context, x *search) (steps []*Step, exact int, ready bool, err error) {
	for _, way := range []search{{patient: true}, {patient: true, piecemeal: true}, {piecemeal: true}} {
		if way.patient && way.piecemeal && !x.together {
			continue // it was looked for so already
		}
		x.ends, x.patient, x.piecemeal = nil, way.patient, way.piecemeal
		best, err := x.best(ctx)
		if err != nil {
			return nil, 0, false, err
		}
		slices.SortStableFunc(x.ends, func(a, b *search) int { return cmp.Compare(x.toll(a), x.toll(b)) })
		for _, end := range append([]*search{best}, x.ends...) {
			steps, exact = net(end.moves, end.state.rebooked)
			if over(ctx) || !slices.ContainsFunc(steps, func(s *Step) bool { return !c.frame.within(s.Drain) }) {
				return steps, exact, false, nil
			}
			done, all, err := c.rehearsed(ctx, x, slices.Clone(steps), exact)
			if err != nil || all {
				return done, len(done), true, err
			}
		}
	}
	return steps, exact, false, nil
}

// rehearsed carries steps out in a copy of the cluster, and returns them as they were carried
// out. If not all could be, it looks once more for what is left, in moves as small as budgets
// ask; it reports whether it all has worked out and ends near the bound.
func (c *carrier) rehearsed(ctx context.Context, x *search, steps []*Step, exact int) (done []*Step, all bool, err error) {
	trial := c.trial()
	dropped, err := trial.carryOut(ctx, steps, exact)
	if err != nil || !dropped || !x.patient {
		return trial.made, !dropped, err
	}
	y := &search{frame: trial.frame, state: trial.state, target: x.target, settled: trial.frame.settled(), single: x.single}
	best, err := y.best(ctx)
	if err != nil {
		return nil, false, err
	}
	if !best.near() || over(ctx) {
		return nil, false, nil
	}
	steps, exact = net(best.moves, best.state.rebooked)
	dropped, err = trial.carryOut(ctx, steps, exact)
	return trial.made, !dropped, err
}

// walked is the way to where the search ends, tried in a copy of the cluster, and whether nodes
// are left that should have gone. Of several ends, it is that to which the way ends cheapest.
func (c *carrier) walked(ctx context.Context, x *search) (way *carrier, left bool, err error) {
	x.ends = nil
	best, err := x.best(ctx)
	if err != nil {
		return nil, false, err
	}
	slices.SortStableFunc(x.ends, func(a, b *search) int { return cmp.Compare(x.toll(a), x.toll(b)) })
	for i, end := range append([]*search{best}, x.ends...) {
		if i > 0 && (end == best || end.price() >= way.price()) {
			continue
		}
		steps, _ := net(end.moves, end.state.rebooked)
		t, rest, err := c.walkTo(ctx, c.allOf(steps), mostWalks)
		if err != nil {
			return nil, false, err
		}
		if way == nil || t.price() < way.price() {
			way, left = t, rest
		}
		if !left || over(ctx) {
			break
		}
	}
	return way, left, nil
}

// trial is a carrier that stands where c does, and carries steps out in a copy of the cluster.
func (c *carrier) trial() *carrier {
	t := &carrier{frame: c.frame.clone(), state: c.state.fork()}
	t.emit = func(step *Step) bool {
		t.frame.took(step)
		t.made = append(t.made, step)
		return true
	}
	return t
}

// price is what all nodes of pools cost.
func (c *carrier) price() offerings.Price {
	price, _ := c.frame.totals()
	return price
}

// settled are the nodes that steps have bought or moved pods to.
func (f *frame) settled() map[string]bool {
	out := map[string]bool{}
	for _, at := range f.subjects {
		if at.received || at.fresh {
			out[at.name] = true
		}
	}
	return out
}
