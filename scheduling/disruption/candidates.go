package disruption

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/drift"
)

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

// expired reports whether a node is past its expireAfter.
func (r *rules) expired(s *candidate) bool {
	var pool *scheduling.NodePool
	if s.pool != nil {
		pool = s.pool.pool
	}
	return drift.Expired(s.created(), r.now, s.machine.ExpireAfter, pool)
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

// removable are the candidates for a reason that have taken in no pods of earlier steps, and the causes for which other
// nodes stay, by name.
func removable(f *state, reason Reason) (may []*candidate, not map[string]Cause) {
	may, not = candidatesFor(f, reason)
	return slices.DeleteFunc(may, func(s *candidate) bool { return s.receivedPods || s.launched }), not
}

// forcedRemovals are the nodes to be removed for interruption, expiry and drift, by name.
func forcedRemovals(f *state) []string {
	out := []string(nil)
	for _, reason := range []Reason{Interrupted, Expired, Drifted} {
		nodes, _ := removable(f, reason)
		for _, s := range nodes {
			if reason != Drifted || s.pool != nil && f.poolAllowance(s.pool, Drifted) > 0 {
				out = append(out, s.name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
