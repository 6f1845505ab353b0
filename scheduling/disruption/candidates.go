package disruption

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/drift"
)

// defaultExpireAfter is the life of a node whose pool does not set expireAfter, as in Karpenter.
const defaultExpireAfter = 720 * time.Hour

// candidatesFor are the nodes that a reason applies to and that may be removed for it, by name, and the first cause for
// each other node that it applies to. Underutilized applies to every node. Nodes are seen as the next plan would see
// them: nodes that steps have launched or moved pods to are among them, and their last pod event is just now. Budgets
// of NodePools are checked later, by admit.
func candidatesFor(f *state, reason Reason) (may []*candidate, not map[string]Cause) {
	not = map[string]Cause{}
	for _, s := range f.nodes {
		if s.node == nil || s.removed || !f.rules.appliesTo(s, reason) {
			continue
		}
		switch blockers := f.rules.blockers(s, reason); {
		case !f.rules.enabled(reason):
			not[s.name] = notEnabledCause(reason)
		case len(blockers) > 0:
			not[s.name] = blockers[0]
		default:
			may = append(may, s)
		}
	}
	return may, not
}

// notEnabledCause is the cause for which a node stays whose reason the planner does not have.
func notEnabledCause(reason Reason) Cause {
	return Cause{Code: CauseReasonNotSelected, Detail: fmt.Sprintf("nodes are not disrupted for the reason %q", string(reason))}
}

// enabled reports whether the planner disrupts nodes for a reason.
func (r *rules) enabled(reason Reason) bool {
	if reason == Misplaced {
		return r.planner.Rebalance || slices.Contains(r.planner.Reasons, Misplaced)
	}
	return len(r.planner.Reasons) == 0 || slices.Contains(r.planner.Reasons, reason)
}

// appliesTo reports whether a reason applies to a node.
func (r *rules) appliesTo(s *candidate, reason Reason) bool {
	switch reason {
	case Interrupted:
		return s.machine.Interruption != nil
	case Expired:
		return r.expired(s)
	case Drifted:
		return s.drifted != ""
	case Empty:
		return len(s.reschedulable) == 0 && s.pool != nil
	case Underutilized:
		return true
	}
	return false
}

// mayDisrupt reports whether a node whose price is known may be disrupted for any reason, apart from budgets of
// NodePools.
func (r *rules) mayDisrupt(s *candidate) bool {
	return s.pool != nil && s.priced && slices.ContainsFunc([]Reason{Interrupted, Expired, Drifted, Empty, Underutilized}, func(reason Reason) bool {
		return r.appliesTo(s, reason) && r.enabled(reason) && len(r.blockers(s, reason)) == 0
	})
}

// rebuildable are the nodes that a cluster rebuilt from scratch need not have: nodes of pools with a known price,
// without launches of steps. Nodes that must stay are not among them, because the rebuilt cluster must have them,
// too.
func rebuildable(f *state) map[string]bool {
	return f.nodesWhere(func(s *candidate) bool {
		return !s.launched && s.pool != nil && s.priced && (s.machine.MustStay == "" || f.disruptable[s.name])
	})
}

// expired reports whether a node is past its expireAfter. That of the machine comes first, because its pool may have
// changed since the launch.
func (r *rules) expired(s *candidate) bool {
	created, life := s.created(), defaultExpireAfter
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
	return !r.now.Before(created.Add(life))
}

// drift is the kind of drift of a node and the difference to its pool in words; "" for none and for a node without a
// pool.
func (r *rules) drift(s *candidate) string {
	if s.pool == nil || s.node == nil {
		return ""
	}
	n := drift.Node{Object: s.node, Annotations: s.machine.Annotations, Claimed: s.machine.Drift}
	if created := s.created(); !created.IsZero() {
		n.Age = r.now.Sub(created)
	}
	return drift.Of(n, drift.Pool{Object: s.pool.pool, Required: s.pool.required, Catalog: s.pool.catalog, LiveCatalog: r.planner.LiveCatalog})
}
