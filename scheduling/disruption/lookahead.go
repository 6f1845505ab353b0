package disruption

import (
	"context"
	"maps"
	"slices"
)

// mostAttempts is how often a plan is tried out at most.
const mostAttempts = 6

// lessons are what a try of a plan teaches: what its forced steps should not do, since what
// saves would undo it.
type lessons struct {
	// avoid are nodes that are not to take in pods of forced steps, as they would go soon,
	// by name.
	avoid []string
	// late are nodes that are to go after the others, and after those if 2, what saves, as
	// what would be bought for their pods would go soon.
	late map[string]int
}

// forcedMovesPods reports whether steps that have to be may move pods, and others may follow to save.
func (r *run) forcedMovesPods() bool {
	return r.constraints.meant(Underutilized) && slices.ContainsFunc(r.leaving(), func(name string) bool { return len(r.constraints.at[name].movers) > 0 })
}

// lookAhead tries the plan out before the first step is certain, and the next plan with it. What
// that would save, this plan does instead. Where it cannot, as nodes that forced steps have
// filled would go next, the plan is tried again with that in mind, so that no pod moves twice,
// in this plan and the next. The steps are those of the first try that leaves nothing to do and
// is no worse than the very first one, or else that one's, which then goes on until nothing is
// left.
//
// forced says that the forced steps are a part of each try; otherwise they are made already.
func (r *run) lookAhead(ctx context.Context, forced bool) error {
	var first *run
	calm := false
	learned := lessons{late: map[string]int{}}
	for range mostAttempts {
		y := &run{
			constraints: r.constraints.clone(), state: r.state.fork(), steps: slices.Clone(r.steps), causes: maps.Clone(r.causes), warnings: slices.Clone(r.warnings),
			before: r.before, lessons: learned, base: r,
		}
		y.constraints.planner.MaxSteps = 0
		var err error
		if forced {
			err = y.forced(ctx)
		}
		if err == nil {
			err = y.phases(ctx)
		}
		if err != nil && !over(ctx) {
			return err
		}
		y.late = y.late || err != nil
		if first == nil {
			first = y
		}
		if over(ctx) {
			break
		}
		next, err := y.ahead(ctx)
		if over(ctx) {
			break
		}
		if err != nil {
			return err
		}
		if len(next) == 0 {
			if calm = y == first || y.nevertheless(first); calm {
				first = y
			}
			break
		}
		before := learned
		if learned = learned.and(y, next); learned.same(&before) || !forced {
			break
		}
	}
	if err := cancelled(ctx); err != nil {
		return err
	}
	if !r.last && (!calm || first.someWait()) {
		if err := first.further(ctx); err != nil {
			return err
		}
	}
	if err := past(ctx, first.explain(ctx)); err != nil {
		return err
	}
	r.perform(first)
	return nil
}

// nevertheless reports whether a try is no worse than another one: the nodes go that have to,
// no more pods are left without a place, and it costs no more.
func (r *run) nevertheless(than *run) bool {
	for i := range than.steps {
		step := &than.steps[i]
		if step.forced() && slices.ContainsFunc(step.Drain, func(name string) bool { return !r.constraints.at[name].gone }) {
			return false
		}
	}
	return r.abandoned() <= than.abandoned() && r.constraints.tally().price <= than.constraints.tally().price
}

// abandoned counts the pods that leave without a place to go to.
func (r *run) abandoned() int {
	n := 0
	for i := range r.steps {
		for _, e := range r.steps[i].Evictions {
			if e.To == "" {
				n++
			}
		}
	}
	return n
}

// forced reports whether a step has to be, whatever it saves.
func (s *Step) forced() bool {
	return s.Reason == Interrupted || s.Reason == Expired || s.Reason == Drifted
}

// ahead are the steps that the next plan would make to save something. What of that this plan
// can do, it does: at once instead of what it would do otherwise, or afterwards, where the nodes
// go that have taken in no pods.
func (r *run) ahead(ctx context.Context) ([]Step, error) {
	for {
		next, err := r.next(ctx)
		if err != nil || next == nil || len(next.steps) == 0 || r.findings == nil {
			return nil, err
		}
		ok, err := r.merge(ctx, next)
		if err != nil {
			return nil, err
		}
		if before := len(r.steps); !ok {
			c := &carrier{constraints: r.constraints, state: r.state, emit: r.emit}
			if err := c.save(ctx, next.findings.anew); err != nil || len(r.steps) == before {
				return next.steps, err
			}
		}
		r.cap()
	}
}

// merge goes at once to where the next plan would lead, so that no pod moves twice, if that ends
// cheaper than the steps do.
func (r *run) merge(ctx context.Context, next *run) (bool, error) {
	var moves []*Step
	receiving := r.base.constraints.receiving()
	for _, steps := range [][]Step{r.steps[len(r.base.steps):], next.steps} {
		for i := range steps {
			if !steps[i].saves() || slices.ContainsFunc(steps[i].Drain, func(name string) bool { return receiving[name] }) {
				return false, nil
			}
			moves = append(moves, &steps[i])
		}
	}
	t, _, err := (&carrier{constraints: r.base.constraints, state: r.base.state}).tryInSteps(ctx, combined(moves, next.state.rebooked))
	if err != nil || t.price() >= r.constraints.tally().price {
		return false, err
	}
	r.constraints, r.state, r.steps = t.constraints, t.state, slices.Clone(r.base.steps)
	for _, step := range t.made {
		r.steps = append(r.steps, *step)
	}
	return true, nil
}

// cap bounds what the cluster has to cost by what it does: a machine that cannot be bought any
// more may hold pods for less than the market does.
func (r *run) cap() {
	if r.findings != nil {
		price, _ := r.constraints.totals()
		r.findings.bound = min(r.findings.bound, price)
	}
}

// next is the next plan, as far as it saves something, nil where there is nothing that it could
// do otherwise than this.
func (r *run) next(ctx context.Context) (*run, error) {
	if len(r.steps) == 0 {
		return nil, nil
	}
	after := r.clusterAfter(true)
	next, err := r.constraints.planner.begin(ctx, &after)
	if err != nil {
		return nil, err
	}
	r.follow(next)
	if err := next.empty(ctx); err != nil {
		return nil, err
	}
	next.findings, err = consolidate(ctx, next.constraints, next.state, next.emit)
	return next, err
}

// and adds what a try teaches: which nodes the next plan would remove that forced steps have
// bought or moved pods to.
func (l lessons) and(y *run, next []Step) lessons {
	out := lessons{avoid: slices.Clone(l.avoid), late: maps.Clone(l.late)}
	undone := map[string]bool{}
	goes := func(step *Step) {
		for _, name := range step.Drain {
			undone[name] = true
			if s := y.constraints.at[name]; s != nil && !s.fresh {
				out.avoid = append(out.avoid, name)
			}
		}
	}
	for i := range next {
		goes(&next[i])
	}
	for i := range y.steps {
		step := &y.steps[i]
		if !step.forced() {
			goes(step)
			continue
		}
		for j := range step.Launches {
			if undone[step.Launches[j].Name] && step.Reason != Interrupted {
				for _, name := range step.Drain {
					out.late[name] = min(out.late[name]+1, 2)
				}
			}
		}
	}
	slices.Sort(out.avoid)
	out.avoid = slices.Compact(out.avoid)
	return out
}

// same reports whether two lessons are.
func (l lessons) same(as *lessons) bool {
	return slices.Equal(l.avoid, as.avoid) && maps.Equal(l.late, as.late)
}

// perform makes the steps of a try. If they end early, moves that were not taken are left out,
// as they are those of the cluster after all steps.
func (r *run) perform(y *run) {
	r.causes, r.warnings, r.findings, r.late = y.causes, y.warnings, y.findings, y.late
	for i := len(r.steps); i < len(y.steps); i++ {
		if r.emit(&y.steps[i]) || i == len(y.steps)-1 {
			continue
		}
		if r.findings != nil {
			r.findings.rejected, r.findings.causes = nil, nil
		}
		return
	}
}

// inTime are those of the nodes whose turn it is by when they are to go.
func (r *run) inTime(nodes []*candidate) []*candidate {
	return slices.DeleteFunc(nodes, func(s *candidate) bool { return r.lessons.late[s.name] > r.turn })
}

// latecomers replaces the nodes whose turn is that one.
func (r *run) latecomers(ctx context.Context, turn int) error {
	var late []string
	for name, when := range r.lessons.late {
		if when == turn {
			late = append(late, name)
		}
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	r.turn = turn
	if err := r.state.closeTo(r.lessons.avoid); err != nil {
		return err
	}
	for _, phase := range []func(context.Context) error{r.expired, func(ctx context.Context) error { return r.drifted(ctx, false) }} {
		if err := phase(ctx); err != nil || r.done {
			return err
		}
	}
	return r.state.readmit(slices.Concat(late, r.lessons.avoid))
}
