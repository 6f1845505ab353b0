package disruption

import (
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

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
	if f.planner.LiveCatalog && f.typeGone(s) {
		return found(typeNotFound, unknownPrice(s.node))
	}
	if s.machine.Drift != "" {
		return s.machine.Drift + " (its NodeClaim says so)"
	}
	return ""
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
	if labels.Compatible(s.pool.wanted) == nil {
		return ""
	}
	var unmet []string
	for r := range s.pool.wanted.All() {
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
func (f *state) typeGone(s *candidate) bool {
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
