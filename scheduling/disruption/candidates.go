package disruption

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// defaultExpireAfter is the life of a node whose pool does not set expireAfter, as in Karpenter.
const defaultExpireAfter = 720 * time.Hour

// candidates are the nodes that a reason applies to and that may be removed for it, by name, and the first cause for
// each other node that it applies to. Underutilized applies to every node. Nodes are seen as the next plan would see
// them: nodes that steps have launched or moved pods to are among them, and their last pod event is just now. Budgets
// of NodePools are checked later, by admit.
func (f *state) candidates(reason Reason) (may []*candidate, not map[string]Cause) {
	not = map[string]Cause{}
	for _, s := range f.nodes {
		if s.node == nil || s.removed || !f.appliesTo(s, reason) {
			continue
		}
		switch blockers := f.blockers(s, reason); {
		case !f.enabled(reason):
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
	return Cause{Code: CauseReasonNotMeant, Detail: fmt.Sprintf("nodes are not disrupted for the reason %q", string(reason))}
}

// enabled reports whether the planner disrupts nodes for a reason.
func (f *state) enabled(reason Reason) bool {
	if reason == Misplaced {
		return f.planner.Rebalance || slices.Contains(f.planner.Reasons, Misplaced)
	}
	return len(f.planner.Reasons) == 0 || slices.Contains(f.planner.Reasons, reason)
}

// appliesTo reports whether a reason applies to a node.
func (f *state) appliesTo(s *candidate, reason Reason) bool {
	switch reason {
	case Interrupted:
		return s.machine.Interruption != nil
	case Expired:
		return f.expired(s)
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
func (f *state) mayDisrupt(s *candidate) bool {
	return s.pool != nil && s.priced && slices.ContainsFunc([]Reason{Interrupted, Expired, Drifted, Empty, Underutilized}, func(r Reason) bool {
		return f.appliesTo(s, r) && f.enabled(r) && len(f.blockers(s, r)) == 0
	})
}

// disruptableNodes are the nodes that may be disrupted now.
func (f *state) disruptableNodes() map[string]bool { return f.nodesWhere(f.mayDisrupt) }

// rebuildable are the nodes that a cluster rebuilt from scratch need not have: nodes of pools with a known price,
// without launches of steps. Nodes that must stay are not among them, because the rebuilt cluster must have them,
// too.
func (f *state) rebuildable() map[string]bool {
	return f.nodesWhere(func(s *candidate) bool {
		return !s.launched && s.pool != nil && s.priced && (s.machine.MustStay == "" || f.disruptable[s.name])
	})
}

// expired reports whether a node is past its expireAfter. That of the machine comes first, because its pool may have
// changed since the launch.
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

// poolAllowance is how many more nodes of a pool its budgets let be removed for a reason now.
func (f *state) poolAllowance(p *poolState, reason Reason) int {
	n := allowance(p.budgets, reason, p.nodes)
	if n == unbounded {
		return unbounded
	}
	return max(0, n-p.unavailable)
}

// poolBudgetCause is the cause if the budgets of a pool do not allow so many nodes; nil if they do.
func (f *state) poolBudgetCause(p *poolState, reason Reason, nodes int) *Cause {
	allowed := f.poolAllowance(p, reason)
	if nodes <= allowed || f.searching && allowed > 0 {
		return nil
	}
	detail := fmt.Sprintf("the budgets allow %d of %d nodes to be disrupted at once for the reason %q", allowed, p.nodes, budgetReason(reason))
	if p.unavailable > 0 {
		detail += fmt.Sprintf(", and %d are unavailable already", p.unavailable)
	}
	return &Cause{Code: CausePoolBudget, Object: "nodepool/" + p.pool.Name, Detail: detail}
}

// balanced reports whether the pool's policy is Balanced, so that moves need a least score.
func (p *poolState) balanced() bool {
	return p.pool.Spec.Disruption.ConsolidationPolicy == scheduling.Balanced
}

// The annotations with the hash of the pool's template at the launch of a machine.
const (
	poolHash        = "karpenter.sh/nodepool-hash"
	poolHashVersion = "karpenter.sh/nodepool-hash-version"
)

// The kinds of drift that are found here, by Karpenter's names.
const (
	poolDrifted         = "NodePoolDrifted"
	requirementsDrifted = "RequirementsDrifted"
	typeNotFound        = "InstanceTypeNotFound"
)

// typeDriftAge is the age of a machine from which a type that is missing in a live catalog is drift, because catalogs
// may lag behind the provider.
const typeDriftAge = time.Hour

// drift is the kind of drift of a node and the difference to its pool in words; "" for none and for a node without a
// pool. Hashes are only compared, because only the controller can compute them. A type that is missing in the catalog
// is drift only if the catalog is live.
func (f *state) drift(s *candidate) string {
	if s.pool == nil || s.node == nil {
		return ""
	}
	found := func(kind, detail string) string { return kind + ": " + detail }
	if detail := f.hashDrift(s); detail != "" {
		return found(poolDrifted, detail)
	}
	if detail := f.requirementsDrift(s); detail != "" {
		return found(requirementsDrifted, detail)
	}
	if f.planner.LiveCatalog && f.typeNotOffered(s) {
		return found(typeNotFound, unknownPrice(s.node))
	}
	if s.machine.Drift != "" {
		return s.machine.Drift + " (its NodeClaim says so)"
	}
	return ""
}

// offered reports whether a NodePool may have nodes with a value of a label.
func (f *state) offered(key, value string) bool {
	return slices.ContainsFunc(f.ordered, func(p *poolState) bool {
		own, fixed := p.pool.Spec.Template.Metadata.Labels[key]
		return p.required.Get(key).Has(value) && (!fixed || own == value)
	})
}

// hashDrift is the difference between the hashes of machine and pool; "" for none, and unless both have one of the
// same version.
func (f *state) hashDrift(s *candidate) string {
	pool, machine := s.pool.pool.Annotations, s.machine.Annotations
	if machine == nil {
		machine = s.node.Annotations
	}
	for _, key := range []string{poolHash, poolHashVersion} {
		_, here := pool[key]
		_, there := machine[key]
		if !here || !there {
			return ""
		}
	}
	if pool[poolHashVersion] != machine[poolHashVersion] || pool[poolHash] == machine[poolHash] {
		return ""
	}
	return fmt.Sprintf("the template of NodePool %s has changed: %s is %s, the machine has %s", s.poolName(), poolHash, pool[poolHash], machine[poolHash])
}

// requirementsDrift lists the requirements of the pool that the node's labels do not meet; "" for none.
func (f *state) requirementsDrift(s *candidate) string {
	labels := requirements.FromLabels(s.node.Labels)
	if labels.Compatible(s.pool.required) == nil {
		return ""
	}
	var unmet []string
	for r := range s.pool.required.All() {
		if labels.Compatible(requirements.NewSet(r)) == nil {
			continue
		}
		has := "no such label"
		if here := labels.Get(r.Key()); labels.Has(r.Key()) {
			has = strings.Join(here.Values(), ",")
		}
		unmet = append(unmet, fmt.Sprintf("%s, and the node has %s", r.Short(), has))
	}
	return fmt.Sprintf("NodePool %s requires %s", s.poolName(), strings.Join(unmet, "; "))
}

// typeNotOffered reports whether the catalog lacks the type or offering of a node. A pool without types proves
// nothing. For a reserved node an on-demand offering is enough, because it may have become on-demand when its
// reservation ended.
func (f *state) typeNotOffered(s *candidate) bool {
	created := f.createdAt(s)
	if s.pool.catalog.Len() == 0 || created.IsZero() || f.now.Sub(created) <= typeDriftAge {
		return false
	}
	as := instancetypes.OfferingOf(s.node)
	t, ok := s.pool.catalog.Get(as.InstanceType)
	if !ok {
		return true
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if as.Zone != "" && o.Zone != as.Zone {
			continue
		}
		if by := as.CapacityType; by == "" || o.CapacityType == by || by == offerings.Reserved && o.CapacityType == offerings.OnDemand {
			return false
		}
	}
	return true
}
