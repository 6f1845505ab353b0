package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// consolidate finds the steps that make the cluster cheaper, and hands each to emit once it
// is certain; emit returns false to end the search.
func consolidate(ctx context.Context, f *frame, s *state, emit func(*Step) bool) (*findings, error) {
	out := &findings{rejected: map[string]*Rejected{}, causes: map[string][]Cause{}}
	c := &carrier{frame: f, state: s, emit: emit}
	if err := c.early(ctx); err != nil || c.done {
		return out, past(ctx, err)
	}
	t, err := f.solveAnew(ctx, f.planner.Solver.Effort)
	if err != nil {
		return nil, err
	}
	out.bound, out.certificate, out.leftOut = t.bound, t.certificate, t.leftOut
	var x *search
	for range mostSearches {
		x = &search{frame: f, state: s, target: t, settled: map[string]bool{}, single: s.tied() && len(s.nodes) <= mostSingle}
		for _, at := range f.subjects {
			if at.received || at.fresh {
				x.settled[at.name] = true
			}
		}
		best, err := x.best(ctx)
		if err != nil {
			return nil, err
		}
		out.late = ctx.Err() != nil
		steps, exact := net(best.moves, best.state.rebooked)
		dropped, err := c.carryOut(ctx, steps, exact)
		if err != nil {
			return nil, err
		}
		if c.done || !dropped {
			break
		}
	}
	// A machine that cannot be bought any more may hold pods for less than the market does.
	price, _ := f.totals()
	out.bound = min(out.bound, price)
	if c.done {
		return out, nil
	}
	return out, x.explain(ctx, out)
}

// mostSearches is how often the search is begun anew because steps that it found together
// were not possible one by one.
const mostSearches = 3

// carrier carries steps out, as far as they are possible one by one.
type carrier struct {
	frame *frame
	state *state
	emit  func(*Step) bool
	done  bool
}

// carryOut takes steps in the order in which they save most for what they disrupt, each as
// soon as it can be done; where pods depend on where others are, in the order in which they
// were found. Of those the first, exact in number, are known to be possible. It reports
// whether some could not be done.
func (c *carrier) carryOut(ctx context.Context, steps []*Step, exact int) (dropped bool, err error) {
	var leave []string
	for _, step := range steps {
		m := c.frame.moveOf(step.Drain)
		step.SavingPerHour, step.DisruptionCost = m.price-spent(step.Launches), m.cost
		leave = append(leave, step.Drain...)
	}
	tied := c.state.tied()
	if !tied {
		slices.SortStableFunc(steps, bySaving)
	} else {
		if err := c.state.shun(leave); err != nil {
			return false, err
		}
		defer func() {
			if again := c.state.readmit(leave); err == nil {
				err = again
			}
		}()
	}
	for len(steps) > 0 && !c.done {
		at, o, err := c.next(ctx, steps, tied && exact <= 0)
		exact--
		if err != nil {
			return dropped, err
		}
		if at < 0 {
			if len(steps) == 1 {
				return true, nil
			}
			// What is not possible one by one may be at once.
			steps = append([]*Step{merged(steps[0], steps[1])}, steps[2:]...)
			continue
		}
		final, cause := c.frame.admit(Underutilized, o)
		steps = slices.Delete(steps, at, at+1)
		if cause != nil {
			dropped, exact = true, 0
			continue
		}
		if err := c.state.take(final); err != nil {
			return dropped, err
		}
		c.done = !c.emit(final)
	}
	return dropped, nil
}

// next finds the first step that is possible as things stand; -1 is none.
func (c *carrier) next(ctx context.Context, steps []*Step, tied bool) (int, *outcome, error) {
	for at, step := range steps {
		if o, err := c.possible(ctx, step, tied); o != nil || err != nil {
			return at, o, err
		}
	}
	return -1, nil, nil
}

// merged is one step that does what two would.
func merged(a, b *Step) *Step {
	return &Step{
		Reason: a.Reason, Drain: slices.Concat(a.Drain, b.Drain), Launches: slices.Concat(a.Launches, b.Launches),
		Evictions: slices.Concat(a.Evictions, b.Evictions),
	}
}

// possible is the outcome of a step as things stand, nil if it is not possible now. Where
// pods depend on where others are it is asked for anew.
func (c *carrier) possible(ctx context.Context, step *Step, tied bool) (*outcome, error) {
	if !c.state.stands(step) {
		return nil, nil
	}
	o := &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions}
	if !tied {
		return o, nil
	}
	targets := map[string]bool{}
	for _, e := range step.Evictions {
		targets[e.To] = true
	}
	q := &question{nodes: step.Drain, effort: scheduling.EffortFast, launches: step.Launches}
	for _, name := range c.state.names() {
		if !targets[name] {
			q.closed = append(q.closed, name)
		}
	}
	for range 2 {
		again, err := c.state.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		if len(again.stuck) == 0 {
			again.launches = slices.Clone(step.Launches)
			for i := range again.launches {
				again.launches[i] = trimmed(&again.launches[i], again.evictions, c.state.rebooked)
				if len(again.launches[i].Pods) == 0 {
					return nil, nil
				}
			}
			return again, nil
		}
		q.closed = nil
	}
	return nil, nil
}

// stands reports whether all nodes are there that a step moves pods to.
func (s *state) stands(step *Step) bool {
	for _, e := range step.Evictions {
		own := slices.ContainsFunc(step.Launches, func(l scheduling.Launch) bool { return l.Name == e.To })
		if s.nodes[e.To] == nil && !own {
			return false
		}
	}
	return true
}

// tied reports whether some pod's place depends on where others are.
func (s *state) tied() bool {
	for _, pod := range s.pods {
		if tied(pod) {
			return true
		}
	}
	return len(s.problem.DefaultSpread) > 0 || s.planner.Solver.WorkloadShare > 0
}

// tied reports whether where a pod may be depends on where others are.
func tied(pod *corev1.Pod) bool {
	for i := range pod.Spec.TopologySpreadConstraints {
		if pod.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	a := pod.Spec.Affinity
	return a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0)
}
