package disruption

import (
	"context"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/order"
)

// ordering asks package order for the parts of a step, and makes a step of each.
type ordering struct {
	state *state
	order *order.Order
	// step is that of the last part which is one.
	step             *Step
	reason           Reason
	expectedRemovals []string // nodes that take in no pods besides those that remain
	// resimulates says that a rule is in force which package order does not know (WorkloadShare), so that pods are
	// placed again by the session.
	resimulates bool
	launches    map[string]*scheduling.Launch
	// failed has the sets of nodes, each with the pods that found no node, for which launches were planned and gave
	// no step.
	failed map[string]bool
}

// newOrdering splits a step of a state. The nodes in first are tried before the others.
func newOrdering(f *state, step *Step, first []string) *ordering {
	w := &ordering{state: f, reason: step.Reason, resimulates: f.planner.Policy.WorkloadShare > 0, launches: map[string]*scheduling.Launch{}, failed: map[string]bool{}}
	for i := range step.Launches {
		w.launches[step.Launches[i].Name] = &step.Launches[i]
	}
	trial, rooms := f.landing.Try(landingStep(step), f.offered), f.rooms(nil)
	w.order = order.New(order.Task{
		Trial: trial, First: first, Launches: step.Launches, Moves: movesOf(step.Evictions), MustSave: step.Reason == Underutilized,
		Nodes: lo.Map(step.Drain, func(name string, _ int) order.Node {
			s := f.byName[name]
			return order.Node{Name: name, Price: s.price, Cost: s.cost}
		}),
		Pods:          f.pods,
		Weight:        func(pod string) float64 { return rooms.Share(f.requests.Of(pod)) },
		Price:         f.prices().Launch,
		WithinBudgets: func(nodes []string) bool { return withinBudgets(f, step.Reason, nodes) },
		Decide:        w.decide,
	})
	return w
}

// decide makes a step of a part, and reports whether it is admitted.
func (w *ordering) decide(ctx context.Context, p *order.Part) (bool, error) {
	o := &outcome{nodes: p.Nodes, moves: p.Moves}
	come := podsByDestination(o.moves)
	for _, name := range p.Launches {
		l := withPods(w.launches[name], come[name], w.state)
		l.Options = w.launches[name].Options // pods of a kind exchange their destinations
		o.launches = append(o.launches, l)
	}
	if _, ok := w.state.stock.Affords(o.launches, w.state.nodesExcept(o.nodes...), w.state.planner.Policy.Flexibility); !ok {
		return false, nil
	}
	if w.resimulates {
		var err error
		if o, err = w.resimulated(ctx, o); o == nil || err != nil {
			return false, err
		}
	}
	step, cause := decide(w.state, w.reason, o, w.closedNodes())
	w.step = step
	return cause == nil, nil
}

// apply takes note of a step that was made.
func (w *ordering) apply(step *Step) {
	w.order.Apply(step.Drain, step.Launches, movesOf(step.Evictions))
}

// stepWithMoreLaunches is a step with launches beyond the plan, for nodes of whose pods kube-scheduler would leave
// some without a node: all remaining nodes, if budgets allow that, or the first that can be removed alone, or else
// several that one launch may replace. It is nil if there is none, and where pods are pinned.
func (w *ordering) stepWithMoreLaunches(ctx context.Context) (*Step, error) {
	if w.state.pinned {
		return nil, nil
	}
	if !w.resimulates {
		defer w.state.sessions.Defer()
		if err := w.state.sessions.ApplyDeferred(); err != nil {
			return nil, err
		}
	}
	for name := range w.launches {
		w.state.usedNames[name] = true // it may still be launched
	}
	closed := w.closedNodes()
	waits := w.order.Remaining()
	groups := lo.Chunk(waits, 1)
	if len(waits) > 1 && withinBudgets(w.state, w.reason, waits) {
		groups = slices.Insert(groups, 0, waits)
	}
	for size := 2; size < len(waits) && withinBudgets(w.state, w.reason, waits[:size]); size *= 2 {
		groups = append(groups, lo.Chunk(waits, size)...)
	}
	for _, names := range groups {
		if outOfTime(ctx) {
			break
		}
		var sketch *Step
		if len(names) < len(waits) {
			var err error
			if sketch, err = w.moreLaunchesStep(ctx, names, closed, true); err != nil {
				return nil, unlessDeadline(ctx, err)
			}
			if sketch == nil {
				continue
			}
		}
		step, err := w.moreLaunchesStep(ctx, names, closed, false)
		if err != nil {
			return nil, unlessDeadline(ctx, err)
		}
		if step == nil || sketch != nil && sketch.SavingPerHour > step.SavingPerHour {
			step = sketch
		}
		if step != nil {
			return step, nil
		}
	}
	return nil, nil //nolint:nilnil // no step is an answer
}

// moreLaunchesStep is the step that removes nodes and launches machines for those of their pods that would find no
// node, nil if it is not admitted. A brief one takes the first launches that hold these pods.
func (w *ordering) moreLaunchesStep(ctx context.Context, names, closed []string, brief bool) (*Step, error) {
	o, err := bindWithLaunches(ctx, w.state, names, closed, brief, w.failed)
	if err != nil || o == nil {
		return nil, err
	}
	step, _ := decide(w.state, w.reason, o, closed)
	return step, nil
}

// resimulated is an outcome with its pods placed again by the session, with its launches as existing nodes; nil if
// they do not fit.
func (w *ordering) resimulated(ctx context.Context, o *outcome) (*outcome, error) {
	found, err := simulate(ctx, w.state, &whatIf{nodes: o.nodes, effort: scheduling.EffortFast, launches: o.launches, closed: w.closedNodes()})
	if err != nil || len(found.unschedulable) > 0 {
		return nil, unlessDeadline(ctx, err)
	}
	come := podsByDestination(found.moves)
	for i := range o.launches {
		l := withPods(&o.launches[i], come[o.launches[i].Name], w.state)
		if len(l.Pods) == 0 {
			return nil, nil //nolint:nilnil // no place is an answer
		}
		found.launches = append(found.launches, l)
	}
	return found, nil
}

// closedNodes are the nodes that take in no pods.
func (w *ordering) closedNodes() []string {
	return slices.Concat(w.order.Remaining(), w.expectedRemovals)
}
