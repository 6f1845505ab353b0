package disruption

import (
	"cmp"
	"context"

	"github.com/samber/lo"
)

// mostTrials is the most trials of one search for a better plan, because a trial takes about as long as a plan.
const mostTrials = 3

// improver keeps the best of several trials of a plan. A trial makes steps on a fork of the cluster: for other candidates,
// in another order, with more effort, or to the cluster after the next plan. It is judged by where it ends, not by its
// moves, because a move that saves less may leave more to save. All methods search by an improver, so that there is one order
// of plans and one limit of work.
type improver struct {
	// best is the best trial so far; nil before the first.
	best   *run
	trials int
}

// mayTry reports whether another trial may be made.
func (p *improver) mayTry(ctx context.Context) bool { return p.trials < mostTrials && !outOfTime(ctx) }

// accept keeps a trial if it is better than the best so far, and reports whether it is.
func (p *improver) accept(trial *run) bool {
	p.trials++
	if p.best != nil && compareRuns(trial, p.best) >= 0 {
		return false
	}
	p.best = trial
	return true
}

// compareRuns is below 0 if the first of two runs for a cluster is better: fewer nodes that must be removed are left, and
// fewer pods without a node, or the same number of them and a lower price.
func compareRuns(a, b *run) int {
	return cmp.Or(cmp.Compare(unresolvedCount(a), unresolvedCount(b)), cmp.Compare(a.state.price(), b.state.price()))
}

// unresolvedCount is the number of pods without a node plus the number of nodes that must be removed and are left.
func unresolvedCount(r *run) int {
	n := len(r.state.awaitingLaunch) + len(forcedRemovals(r.state))
	for i := range r.steps {
		n += lo.CountBy(r.steps[i].Evictions, func(e Eviction) bool { return e.To == "" })
	}
	return n
}
