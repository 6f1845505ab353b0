package disruption

import (
	"context"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// forced makes the steps that are not made for their price. They are tried out first, together with the steps that save,
// so that no pods of interrupted, expired or drifted nodes go to nodes that are removed later. Where that changes nothing,
// the steps of the first trial are made.
func forced(ctx context.Context, r *run) error {
	if len(forcedRemovals(r.state)) == 0 {
		return r.removeForced(ctx, nil)
	}
	plain := r.trial()
	if err := unlessDeadline(ctx, plain.removeForced(ctx, nil)); err != nil {
		return err
	}
	p := prediction{run: r, plain: plain}
	if err := unlessDeadline(ctx, p.predict(ctx)); err != nil {
		return err
	}
	if r.expectedRemovals == nil && p.closed == nil || outOfTime(ctx) {
		r.observe(scheduling.Phase(Interrupted))
		return r.adopt(plain)
	}
	return r.removeForced(ctx, p.closed)
}

// prediction finds the nodes that a plan will remove, with pinned pods and the least effort.
type prediction struct {
	run *run
	// plain is a trial of the forced steps as if no node was removed later.
	plain *run
	// closed are further nodes that take in no pods during forced steps, because the next plan would remove them; nil
	// for none.
	closed []string
}

// predict sets the expected removals of the run. If the next plan would remove nodes to which pods of forced steps go,
// these nodes are closed during forced steps, if that ends cheaper.
func (p *prediction) predict(ctx context.Context) error {
	r := p.run
	saves := predictsSavings(r.state)
	if r.state.pinned && !saves {
		return nil
	}
	if saves {
		if err := r.findTarget(ctx); err != nil {
			return err
		}
	}
	first, err := p.trial(ctx)
	if err != nil {
		return err
	}
	trials := improver{best: first}
	for closes := saves && !r.noLookahead; closes && trials.mayTry(ctx); {
		if closes, err = p.closeMore(ctx, &trials); err != nil {
			return err
		}
	}
	if !r.state.pinned {
		r.expectedRemovals = removedNodes(trials.best.state)
	}
	return nil
}

// closeMore closes the nodes that the plan after the best trial would remove although pods of forced steps have gone there.
// It reports whether there are such nodes, and a trial with them closed is better.
func (p *prediction) closeMore(ctx context.Context, trials *improver) (bool, error) {
	next, err := nextPlan(ctx, trials.best, true)
	if err != nil {
		return false, err
	}
	was := p.closed
	more := lo.Union(was, destinationsRemoved(trials.best, next))
	if len(more) == len(was) {
		return false, nil
	}
	p.closed = more
	trial, err := p.trial(ctx)
	if err != nil || !trials.accept(trial) {
		p.closed = was
		return false, err
	}
	return true, nil
}

// trial is a trial of the forced steps and of those that save. The forced steps are those of the plain trial where they
// are made under the same conditions.
func (p *prediction) trial(ctx context.Context) (*run, error) {
	r := p.run
	var y *run
	if r.state.pinned && r.state.fast() && p.closed == nil {
		y = p.plain.trial()
	} else {
		y = r.trial()
		y.state.pinned, y.state.planner.Policy.Effort = true, scheduling.EffortFast
		if err := y.removeForced(ctx, p.closed); err != nil {
			return nil, err
		}
	}
	if !predictsSavings(y.state) {
		return y, nil
	}
	err := y.disruptBy(ctx, consolidation{})
	return y, err
}

// predictsSavings reports whether steps that save are to be predicted.
func predictsSavings(f *state) bool {
	return !f.large() && f.rules.enabled(Underutilized)
}

// destinationsRemoved are the nodes that have taken in pods by the steps of a run and that the next plan removes.
func destinationsRemoved(r, next *run) []string {
	gone := removedNodes(next.state)
	return lo.FilterMap(r.state.nodes, func(s *candidate, _ int) (string, bool) {
		return s.name, s.receivedPods && !s.launched && slices.Contains(gone, s.name)
	})
}

// removedNodes are the nodes of the cluster that the steps have removed.
func removedNodes(f *state) []string {
	return lo.FilterMap(f.nodes, func(s *candidate, _ int) (string, bool) { return s.name, s.removed && !s.launched })
}
