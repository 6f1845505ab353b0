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
	t, err := f.solveAnew(ctx, f.planner.Solver.Effort, f.loose)
	if err != nil {
		return nil, err
	}
	out := &findings{bound: t.bound, anew: t}
	out.late, err = (&carrier{frame: f, state: s, emit: emit}).save(ctx, t)
	return out, err
}

// save carries out the steps that the search finds, and reports whether a deadline ended it.
// Nodes that steps before have bought or moved pods to stay.
func (c *carrier) save(ctx context.Context, t *target) (late bool, err error) {
	for range mostSearches {
		before := c.price()
		x := &search{frame: c.frame, state: c.state, target: t, settled: c.frame.settled(), walks: len(c.state.nodes) > walkFrom && c.walkable(), patient: true}
		x.single = c.state.tied() && !x.walks && len(c.state.nodes) <= mostSingle
		dropped, err := c.toward(ctx, x)
		if err != nil || c.done || !dropped {
			return over(ctx), err
		}
		if err := c.singles(ctx, x.settled); err != nil {
			return false, past(ctx, err)
		}
		if c.price() == before {
			break // the next search would find the same
		}
	}
	return over(ctx), nil
}

// toward carries out what leads to where the search ends, and reports whether some could not be
// done.
func (c *carrier) toward(ctx context.Context, x *search) (dropped bool, err error) {
	switch {
	case x.walks && len(c.state.nodes) < manyNodes:
		t, left, err := c.walked(ctx, x)
		if err != nil {
			return false, err
		}
		return left, c.repeat(t.made)
	case x.walks:
		best, err := x.best(ctx)
		if err != nil {
			return false, err
		}
		steps, _ := net(best.moves, best.state.rebooked)
		rest, err := c.walk(ctx, c.allOf(steps), nil, nil)
		return len(rest) > 0, err
	}
	steps, exact, ready, err := c.found(ctx, x)
	switch {
	case err != nil:
		return false, err
	case ready:
		return false, c.repeat(steps)
	}
	return c.carryOut(ctx, steps, exact)
}

// reach carries out in a copy of the cluster what leads to where steps lead.
func (c *carrier) reach(ctx context.Context, steps []*Step) (t *carrier, err error) {
	if c.walkable() {
		t, _, err = c.walkTo(ctx, c.allOf(steps), mostWalks+1)
		return t, err
	}
	t = c.trial()
	_, err = t.carryOut(ctx, steps, 0)
	return t, err
}

// repeat carries out steps that have been carried out before from here.
func (c *carrier) repeat(steps []*Step) error {
	for _, step := range steps {
		if c.done {
			break
		}
		if err := c.do(step); err != nil {
			return err
		}
	}
	return nil
}

// do carries a step out for good.
func (c *carrier) do(step *Step) error {
	if err := c.state.take(step); err != nil {
		return err
	}
	c.done = !c.emit(step)
	return nil
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
	// made are the steps of a trial.
	made []*Step
	// lacks is, by step that was not possible, a node which it needs and that was not there.
	lacks map[*Step]string
	kinds kinds
}

// carryOut takes steps in the order in which they save most for what they disrupt, each as
// soon as it can be done; where pods depend on where others are, in the order in which they
// were found. Of those the first, exact in number, are known to be possible. It reports
// whether some could not be done.
func (c *carrier) carryOut(ctx context.Context, steps []*Step, exact int) (dropped bool, err error) {
	var leave []string
	for _, step := range steps {
		m := c.frame.moveOf(step.Drain)
		step.SavingPerHour, step.DisruptionCost = m.price-c.frame.spent(step.Launches), m.cost
		leave = append(leave, step.Drain...)
	}
	by := exactly
	if c.state.tied() {
		if by = withRules; !c.frame.ruled() {
			by = anew
		}
		if err := c.state.shun(leave); err != nil {
			return false, err
		}
		defer func() {
			if again := c.state.readmit(leave); err == nil {
				err = again
			}
		}()
	} else {
		slices.SortStableFunc(steps, bySaving)
	}
	for len(steps) > 0 && !c.done {
		var at int
		var o *outcome
		if exact--; exact < 0 || by == exactly {
			at, o, err = c.next(ctx, steps, by)
		} else {
			at, o, err = c.next(ctx, steps, exactly)
		}
		if err != nil {
			return dropped, err
		}
		if at < 0 {
			return true, nil
		}
		some, rest := c.part(steps[at], o, by)
		if some != nil {
			o, steps, exact = some, append(steps, rest), 0
		}
		final, cause := c.frame.admit(Underutilized, o)
		steps = slices.DeleteFunc(slices.Delete(steps, at, at+1), func(s *Step) bool { return len(s.Drain) == 0 })
		if some != nil && by == exactly {
			slices.SortStableFunc(steps, bySaving)
		}
		if cause != nil {
			dropped, exact = true, 0
			continue
		}
		if err := c.do(final); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// allOf is one step that does what some do, one after the other.
func (c *carrier) allOf(steps []*Step) *Step {
	out := &Step{Reason: Underutilized}
	for _, step := range steps {
		out.Drain, out.Launches, out.Evictions = append(out.Drain, step.Drain...), append(out.Launches, step.Launches...), append(out.Evictions, step.Evictions...)
	}
	out.load(c.state.rebooked)
	return out
}

// singles drains nodes one by one, each at once for good, where what the search has found
// could not be carried out. Nodes that steps have moved pods to stay.
func (c *carrier) singles(ctx context.Context, settled map[string]bool) error {
	x := &search{frame: c.frame, state: c.state, settled: settled, target: &target{}}
	order := x.order()
	for i := range order {
		at := c.frame.at[order[i].name]
		if at.received || at.fresh || ctx.Err() != nil || c.done || c.frame.dismisses(at.name) != nil {
			continue
		}
		step, err := x.deletion(ctx, at.name)
		if err != nil {
			return err
		}
		if step == nil {
			continue
		}
		if err := c.do(step); err != nil {
			return err
		}
	}
	return nil
}

// certainty is how it is made certain that a step is possible.
type certainty int

const (
	exactly   certainty = iota // it is, as soon as the nodes are there
	withRules                  // the rules of its pods are looked at
	anew                       // places are looked for again
)

// next finds the first step that is possible as things stand. If none is, some at once may
// be: those become one. At last pods may go elsewhere; -1 is that nothing helps.
func (c *carrier) next(ctx context.Context, steps []*Step, by certainty) (int, *outcome, error) {
	for at, step := range steps {
		if o, err := c.possible(ctx, step, by); o != nil || err != nil {
			return at, o, err
		}
	}
	if by == exactly {
		return -1, nil, nil
	}
	together := steps[0]
	for at, step := range steps[1:] {
		together = c.merged(together, step)
		o, err := c.possible(ctx, together, by)
		if err != nil {
			return -1, nil, err
		}
		if o != nil {
			for i := range at + 1 {
				steps[i] = &Step{}
			}
			return at + 1, o, nil
		}
	}
	if by == withRules {
		return c.next(ctx, steps, anew)
	}
	return -1, nil, nil
}

// merged is one step that does what two would.
func (c *carrier) merged(a, b *Step) *Step {
	out := &Step{
		Reason: a.Reason, Drain: slices.Concat(a.Drain, b.Drain), Launches: slices.Concat(a.Launches, b.Launches),
		Evictions: slices.Concat(a.Evictions, b.Evictions),
	}
	out.load(c.state.rebooked)
	return out
}

// possible is the outcome of a step as things stand, nil if it is not possible now.
func (c *carrier) possible(ctx context.Context, step *Step, by certainty) (*outcome, error) {
	if !c.stands(step) || !c.state.stock.covers(step.Launches) {
		return nil, nil
	}
	if by != anew {
		if by == withRules && !c.frame.lands(step) {
			return nil, nil
		}
		return &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions}, nil
	}
	o, err := c.state.ask(ctx, &question{nodes: step.Drain, effort: scheduling.EffortFast, launches: step.Launches})
	if err != nil || len(o.stuck) > 0 {
		return nil, err
	}
	o.launches = slices.Clone(step.Launches)
	for i := range o.launches {
		l := &o.launches[i]
		if *l = trimmed(l, o.evictions, c.state.rebooked); len(l.Pods) == 0 {
			return nil, nil
		}
	}
	return o, nil
}

// lands reports whether the pods of a step may land where they go by rules about each other,
// each as soon as it may.
func (f *frame) lands(step *Step) bool {
	s := newStage(f, step)
	var group []*actor
	for i := range step.Evictions {
		if a := s.pods[step.Evictions[i].Pod]; a != nil {
			group = append(group, a)
		}
	}
	return s.possible(group, true)
}

// ruled reports whether lands knows all rules that there are: it does not see spread that
// pods do not state, nor pods that keep away others that would have them.
func (f *frame) ruled() bool {
	if len(f.problem.DefaultSpread) > 0 || f.planner.Solver.WorkloadShare > 0 {
		return false
	}
	book := rulesOf(f.problem)
	for _, pod := range f.pods {
		terms := awayFrom(pod)
		for i := range terms {
			if match := book.term(pod, &terms[i]); match == nil || !match(pod) {
				return false
			}
		}
	}
	return true
}

// stands reports whether all nodes are there that a step moves pods to.
func (c *carrier) stands(step *Step) bool {
	nodes := c.state.nodes
	if name, ok := c.lacks[step]; ok && nodes[name] == nil {
		return false
	}
	var own map[string]bool
	for i := range step.Evictions {
		to := step.Evictions[i].To
		if nodes[to] != nil {
			continue
		}
		if own == nil {
			own = make(map[string]bool, len(step.Launches))
			for j := range step.Launches {
				own[step.Launches[j].Name] = true
			}
		}
		if !own[to] {
			if c.lacks == nil {
				c.lacks = map[*Step]string{}
			}
			c.lacks[step] = to
			return false
		}
	}
	return true
}

// tied reports whether some pod's place depends on where others are.
func (s *state) tied() bool {
	return s.ties > 0 || len(s.problem.DefaultSpread) > 0 || s.planner.Solver.WorkloadShare > 0
}

// tied reports whether where a pod may be depends, by its own words, on where others are.
func tied(pod *corev1.Pod) bool { return tieOf(pod, nil) != tiedNot }
