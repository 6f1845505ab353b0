package scheduling

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// choice reports pools that leave nothing to buy: catalogs without offerings, and
// requirements that no offering meets. One pool that has something to offer is
// enough, since pools for other regions or architectures are nothing unusual, and so
// is a node, which may hold the pods. What is only unavailable for the moment counts
// as on sale.
func (c *checker) choice(p *Problem) {
	if len(p.Pods) == 0 || len(p.Nodes) > 0 {
		return
	}
	pools := poolOrder(p.NodePools)
	if len(pools) == 0 {
		return
	}
	onSale := false
	for _, pool := range pools {
		s := newSieve(pool, p.catalogOf(pool.Name))
		if s.passes() {
			return
		}
		onSale = onSale || s.offers()
	}
	if !onSale {
		c.at = position{}
		c.object = nil
		c.add("", "is empty: there is no offering of any instance type for any NodePool to buy", "catalog")
		return
	}
	for _, pool := range pools {
		c.at = position{list: "nodepools", name: pool.Name}
		s := newSieve(pool, p.catalogOf(pool.Name))
		if !s.offers() {
			c.add("", "the catalog of this NodePool has no offerings", "")
			continue
		}
		worst, ruledOut, all := s.worst()
		message := fmt.Sprintf("none of the %d instance types of the catalog has an offering that meets all of them together", all)
		if ruledOut > 0 {
			message = fmt.Sprintf("none of the %d instance types of the catalog meets all of them; %s alone rules out %d", all, worst.Short(), ruledOut)
		}
		c.add("", message, "spec.template.spec.requirements")
	}
}

// sieve holds a pool's requirements against the offerings of a catalog.
type sieve struct {
	catalog *instancetypes.Catalog
	labels  map[string]string // that the pool gives to machines which do not bring them
	asked   []requirements.Requirement
}

// newSieve leaves out requirements on labels that nothing in the catalog defines:
// those are the pool's own to set, or the provider's.
func newSieve(pool *NodePool, catalog *instancetypes.Catalog) *sieve {
	s := &sieve{catalog: catalog, labels: poolLabels(pool)}
	if catalog == nil {
		return s
	}
	for r := range poolSet(pool).All() {
		if s.defined(r.Key()) {
			s.asked = append(s.asked, r)
		}
	}
	return s
}

// each calls yield for every offering, until it returns false.
func (s *sieve) each(yield func(offer) bool) {
	if s.catalog == nil {
		return
	}
	for t := range s.catalog.All() {
		for i := range t.Offerings {
			if !yield(offer{instanceType: t, offering: &t.Offerings[i]}) {
				return
			}
		}
	}
}

func (s *sieve) offers() bool {
	for range s.each {
		return true
	}
	return false
}

func (s *sieve) defined(key string) bool {
	for o := range s.each {
		if _, ok := o.label(key); ok {
			return true
		}
	}
	return false
}

// meets reports whether a machine bought at the offer satisfies the requirement.
func (s *sieve) meets(o *offer, r *requirements.Requirement) bool {
	value, ok := o.label(r.Key())
	if !ok {
		value, ok = s.labels[r.Key()]
	}
	if !ok {
		return r.AllowsAbsent()
	}
	return r.Has(value)
}

// passes reports whether any offering meets all requirements.
func (s *sieve) passes() bool {
next:
	for o := range s.each {
		for i := range s.asked {
			if !s.meets(&o, &s.asked[i]) {
				continue next
			}
		}
		return true
	}
	return false
}

// worst returns the requirement that rules out the most instance types by itself,
// the first in key order where several do, how many these are, and how many
// instance types there are.
func (s *sieve) worst() (worst requirements.Requirement, ruledOut, all int) {
	met := make([]map[string]bool, len(s.asked)) // by requirement, the types that meet it
	for i := range met {
		met[i] = map[string]bool{}
	}
	for o := range s.each {
		for i := range s.asked {
			if s.meets(&o, &s.asked[i]) {
				met[i][o.instanceType.Name] = true
			}
		}
	}
	all, ruledOut = s.catalog.Len(), -1
	for i := range s.asked {
		if n := all - len(met[i]); n > ruledOut {
			worst, ruledOut = s.asked[i], n
		}
	}
	return worst, ruledOut, all
}
