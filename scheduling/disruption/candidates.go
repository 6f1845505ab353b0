package disruption

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// defaultExpireAfter is how long nodes live whose pool says nothing.
const defaultExpireAfter = 720 * time.Hour

// candidates are the nodes that a reason is about and that may go for it, by name, and why
// others that it is about may not. Every node is a matter of Underutilized. Nodes are seen as
// the next plan would see them: what steps have bought or moved pods to is among them, and
// has just seen pods come. Budgets of pools are left to admit.
func (f *state) candidates(reason Reason) (may []*candidate, not map[string]Cause) {
	not = map[string]Cause{}
	for _, s := range f.nodes {
		if s.node == nil || s.gone || !f.concerns(s, reason) {
			continue
		}
		switch blockers := f.blockers(s, reason); {
		case !f.meant(reason):
			not[s.name] = notMeant(reason)
		case len(blockers) > 0:
			not[s.name] = blockers[0]
		default:
			may = append(may, s)
		}
	}
	return may, not
}

// notMeant is the cause where the planner does not disrupt nodes for a reason.
func notMeant(reason Reason) Cause {
	return Cause{Code: CauseReasonNotMeant, Detail: fmt.Sprintf("nodes are not disrupted for the reason %q", string(reason))}
}

// meant reports whether the planner is to disrupt nodes for a reason.
func (f *state) meant(reason Reason) bool {
	if reason == Misplaced {
		return f.planner.Rebalance || slices.Contains(f.planner.Reasons, Misplaced)
	}
	return len(f.planner.Reasons) == 0 || slices.Contains(f.planner.Reasons, reason)
}

// concerns reports whether a reason is about a node.
func (f *state) concerns(s *candidate, reason Reason) bool {
	switch reason {
	case Interrupted:
		return s.machine.Interruption != nil
	case Expired:
		return f.expired(s)
	case Drifted:
		return s.drifted != ""
	case Empty:
		return len(s.movers) == 0 && s.pool != nil
	case Underutilized:
		return true
	}
	return false
}

// expired reports whether a node has lived for as long as it may. The machine knows that
// best, as a pool may have changed since.
func (f *state) expired(s *candidate) bool {
	created, life := f.createdAt(s), defaultExpireAfter
	switch own := s.machine.ExpireAfter; {
	case created.IsZero():
		return false
	case own != nil && own.Duration != nil:
		life = *own.Duration
	case own != nil:
		return false
	case s.pool == nil:
		return false
	default:
		spec := &s.pool.pool.Spec.Template.Spec
		if spec.ExpireAfter != nil && spec.ExpireAfter.Duration == nil {
			return false
		}
		if spec.ExpireAfter != nil {
			life = *spec.ExpireAfter.Duration
		}
	}
	return !f.now.Before(created.Add(life))
}

// room is how many more nodes of a pool may go for a reason now.
func (f *state) room(p *poolState, reason Reason) int {
	n := allowance(p.budgets, reason, p.counted)
	if n == unbounded {
		return unbounded
	}
	return max(0, n-p.away)
}

// crowded says that a pool's budgets do not let so many nodes go.
func (f *state) crowded(p *poolState, reason Reason, nodes int) *Cause {
	allowed := f.room(p, reason)
	if nodes <= allowed || f.patient && allowed > 0 {
		return nil
	}
	detail := fmt.Sprintf("the budgets let %d of %d nodes go at once for the reason %q", allowed, p.counted, budgetReason(reason))
	if p.away > 0 {
		detail += fmt.Sprintf(", as %d are away already", p.away)
	}
	return &Cause{Code: CausePoolBudget, Object: "nodepool/" + p.pool.Name, Detail: detail}
}

// balanced reports whether moves of a pool's nodes have to be worth the disruption.
func (p *poolState) balanced() bool {
	return p.pool.Spec.Disruption.ConsolidationPolicy == scheduling.Balanced
}
