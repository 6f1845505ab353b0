package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mostWhole is the number of nodes up to which a cluster is searched as a whole.
const mostWhole = fewNodes

// wholly searches where pods do not depend on each other: nodes are told apart into those that
// stay and those that leave, in several ways, and these leave at once. One way is that only
// those leave that can without anything bought. It returns the end that
// is best for what is disrupted, which may be where it began.
func (x *search) wholly(ctx context.Context) (*search, error) {
	x.kinds = kinds{known: map[*corev1.Pod]string{}, names: map[string]string{}}
	best := x.scratch()
	for _, leave := range append([][]string{nil}, x.sifted()...) {
		y := x.scratch()
		if err := y.whole(ctx, leave); err != nil {
			return nil, err
		}
		if err := y.run(ctx, 0); err != nil {
			return nil, err
		}
		if y.near() {
			x.ends = append(x.ends, y)
		}
		if x.better(y, best) {
			best = y
		}
		if over(ctx) {
			break
		}
	}
	return best, nil
}

// whole moves nodes that are to go all at once, in moves that each save something, so that
// room is filled and machines are bought for all of them together.
func (x *search) whole(ctx context.Context, leave []string) error {
	q := &question{buy: true, effort: x.frame.planner.Solver.Effort}
	for _, r := range x.among(leave) {
		q.nodes = append(q.nodes, r.name)
	}
	if len(q.nodes) == 0 || over(ctx) {
		return nil
	}
	slices.Sort(q.nodes)
	o, err := x.state.ask(ctx, q)
	if err != nil {
		return past(ctx, err)
	}
	x.frame.roughly = x.walks
	step, cause := x.frame.admit(Underutilized, o)
	x.frame.roughly = false
	switch {
	case cause != nil:
		return nil
	case x.walks:
		return x.take(step)
	}
	c := &carrier{frame: x.frame, state: x.state, kinds: x.kinds}
	for _, part := range c.newPeeling(step).deal() {
		final, cause := x.frame.admit(Underutilized, outcomeOf(part))
		if cause != nil {
			return nil
		}
		if err := x.take(final); err != nil {
			return err
		}
	}
	return nil
}
