package disruption

import (
	"time"

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

// typeDriftAge is how old a machine has to be before a type that is missing in the catalog
// counts as drift: catalogs may lag behind what is sold.
const typeDriftAge = time.Hour

// drift says how a node is no longer what its pool asks for; "" if it is, and where no
// pool is there to ask. What hashes are made of is the controller's affair: they are only
// compared.
func (f *frame) drift(s *subject) string {
	switch {
	case s.pool == nil || s.node == nil:
		return ""
	case f.hashDrifted(s):
		return poolDrifted
	case f.requirementsDrifted(s):
		return requirementsDrifted
	case f.typeGone(s):
		return typeNotFound
	}
	return s.machine.Drift
}

// hashDrifted compares hashes, where both sides have one of the same version.
func (f *frame) hashDrifted(s *subject) bool {
	pool, machine := s.pool.pool.Annotations, s.machine.Annotations
	if machine == nil {
		machine = s.node.Annotations
	}
	for _, key := range []string{poolHash, poolHashVersion} {
		_, here := pool[key]
		_, there := machine[key]
		if !here || !there {
			return false
		}
	}
	return pool[poolHashVersion] == machine[poolHashVersion] && pool[poolHash] != machine[poolHash]
}

// requirementsDrifted asks whether the node's labels still meet the pool's requirements.
func (f *frame) requirementsDrifted(s *subject) bool {
	return requirements.FromLabels(s.node.Labels).Compatible(s.pool.wanted) != nil
}

// typeGone asks whether the catalog still knows what the node is. A pool without any types
// tells nothing, and for a reservation its on-demand offering will do, as the machine may
// have become one.
func (f *frame) typeGone(s *subject) bool {
	created := f.createdAt(s)
	if s.pool.catalog.Len() == 0 || created.IsZero() || f.now.Sub(created) <= typeDriftAge {
		return false
	}
	t, ok := s.pool.catalog.Get(instanceType(s.node))
	if !ok {
		return true
	}
	in, by := zone(s.node), capacityType(s.node)
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if in != "" && o.Zone != in {
			continue
		}
		if by == "" || o.CapacityType == by || by == offerings.Reserved && o.CapacityType == offerings.OnDemand {
			return false
		}
	}
	return true
}
