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

// defaultExpireAfter is how long nodes live whose pool says nothing.
const defaultExpireAfter = 720 * time.Hour

// candidates are the nodes that a reason is about and that may go for it, by name, and why
// others that it is about may not. Every node is a matter of Underutilized. Nodes are seen as
// the next plan would see them: what steps have bought or moved pods to is among them, and
// has just seen pods come. Budgets of pools are left to admit.
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

// notMeant is the cause where the planner does not disrupt nodes for a reason.
func notEnabledCause(reason Reason) Cause {
	return Cause{Code: CauseReasonNotMeant, Detail: fmt.Sprintf("nodes are not disrupted for the reason %q", string(reason))}
}

// meant reports whether the planner is to disrupt nodes for a reason.
func (f *state) enabled(reason Reason) bool {
	if reason == Misplaced {
		return f.planner.Rebalance || slices.Contains(f.planner.Reasons, Misplaced)
	}
	return len(f.planner.Reasons) == 0 || slices.Contains(f.planner.Reasons, reason)
}

// concerns reports whether a reason is about a node.
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

// mayGo reports whether a node whose price is known may be disrupted for any reason, budgets
// of pools aside.
func (f *state) mayDisrupt(s *candidate) bool {
	return s.pool != nil && s.priced && slices.ContainsFunc([]Reason{Interrupted, Expired, Drifted, Empty, Underutilized}, func(r Reason) bool {
		return f.appliesTo(s, r) && f.enabled(r) && len(f.blockers(s, r)) == 0
	})
}

// leaving are the nodes that may be disrupted now.
func (f *state) disruptableNodes() map[string]bool { return f.nodesWhere(f.mayDisrupt) }

// rebuildable are the nodes that are bought afresh where a cluster is rebuilt from scratch: those of pools
// whose price is known, launches of steps aside, but for those that must stay, as such a cluster has to
// have them, too.
func (f *state) rebuildable() map[string]bool {
	return f.nodesWhere(func(s *candidate) bool {
		return !s.launched && s.pool != nil && s.priced && (s.machine.MustStay == "" || f.disruptable[s.name])
	})
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
func (f *state) poolAllowance(p *poolState, reason Reason) int {
	n := allowance(p.budgets, reason, p.nodes)
	if n == unbounded {
		return unbounded
	}
	return max(0, n-p.unavailable)
}

// crowded says that a pool's budgets do not let so many nodes go.
func (f *state) poolBudgetCause(p *poolState, reason Reason, nodes int) *Cause {
	allowed := f.poolAllowance(p, reason)
	if nodes <= allowed || f.searching && allowed > 0 {
		return nil
	}
	detail := fmt.Sprintf("the budgets let %d of %d nodes go at once for the reason %q", allowed, p.nodes, budgetReason(reason))
	if p.unavailable > 0 {
		detail += fmt.Sprintf(", as %d are away already", p.unavailable)
	}
	return &Cause{Code: CausePoolBudget, Object: "nodepool/" + p.pool.Name, Detail: detail}
}

// balanced reports whether moves of a pool's nodes have to be worth the disruption.
func (p *poolState) balanced() bool {
	return p.pool.Spec.Disruption.ConsolidationPolicy == scheduling.Balanced
}

// The annotations by which a controller notes what a pool's template was when a machine was
// asked for.
const (
	poolHash        = "karpenter.sh/nodepool-hash"
	poolHashVersion = "karpenter.sh/nodepool-hash-version"
)

// The kinds of drift that are found here, under the names that Karpenter gives them.
const (
	poolDrifted         = "NodePoolDrifted"
	requirementsDrifted = "RequirementsDrifted"
	typeNotFound        = "InstanceTypeNotFound"
)

// typeDriftAge is how old a machine has to be before a type that is missing in a live
// catalog counts as drift: catalogs may lag behind what is sold.
const typeDriftAge = time.Hour

// drift says how a node is no longer what its pool asks for: the name of the kind of drift,
// and in words what differs; "" if it is, and where no pool is there to ask. What hashes are
// made of is the controller's affair: they are only compared. That a catalog lacks what the
// node is counts only where the catalog is live.
func (f *state) drift(s *candidate) string {
	if s.pool == nil || s.node == nil {
		return ""
	}
	found := func(kind, what string) string { return kind + ": " + what }
	if what := f.hashDrift(s); what != "" {
		return found(poolDrifted, what)
	}
	if what := f.requirementsDrift(s); what != "" {
		return found(requirementsDrifted, what)
	}
	if f.planner.LiveCatalog && f.typeNotOffered(s) {
		return found(typeNotFound, unknownPrice(s.node))
	}
	if s.machine.Drift != "" {
		return s.machine.Drift + " (its NodeClaim says so)"
	}
	return ""
}

// offered reports whether NodePools may have nodes with a value of a label.
func (f *state) offered(key, value string) bool {
	return slices.ContainsFunc(f.ordered, func(p *poolState) bool {
		own, fixed := p.pool.Spec.Template.Metadata.Labels[key]
		return p.required.Get(key).Has(value) && (!fixed || own == value)
	})
}

// hashDrift compares hashes, where both sides have one of the same version.
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

// requirementsDrift says which requirements of the pool the node's labels do not meet.
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

// typeGone asks whether the catalog still knows what the node is. A pool without any types
// tells nothing, and for a reservation its on-demand offering will do, as the machine may
// have become one.
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
