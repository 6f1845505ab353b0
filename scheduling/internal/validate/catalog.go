package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Choice reports that no pool has any offering to choose from. A node may hold the pods, so
// that it is none where there are nodes; and that requirements leave none is only warned of.
// What is only unavailable for the moment counts as on sale.
func (c *Checker) Choice(p *scheduling.Problem) {
	pools := offers.PoolOrder(p.NodePools)
	if len(p.Pods) == 0 || len(p.Nodes) > 0 || len(pools) == 0 {
		return
	}
	for _, pool := range pools {
		if newSieve(pool, p.CatalogOf(pool.Name)).offers() {
			return
		}
	}
	c.At = Position{}
	c.Object = nil
	c.Add("", "is empty: there is no offering of any instance type for any NodePool to buy", "catalog")
}

// Idle says why a pool has no offering to choose from; "" where it has one.
func Idle(p *scheduling.Problem, pool *scheduling.NodePool) string {
	s := newSieve(pool, p.CatalogOf(pool.Name))
	if s.passes() {
		return ""
	}
	if !s.offers() {
		return "buys nothing: its catalog has no offerings"
	}
	worst, ruledOut, all := s.worst()
	if ruledOut <= 0 {
		return fmt.Sprintf("buys nothing: none of the %d instance types of the catalog has an offering that meets all of its requirements together", all)
	}
	why := fmt.Sprintf("buys nothing: none of the %d instance types of the catalog meets all of its requirements: %s alone rules out %d", all, worst.Short(), ruledOut)
	if key := worst.Key(); key == corev1.LabelTopologyZone || key == corev1.LabelTopologyRegion {
		why += ", and the catalog's zones are " + strings.Join(s.zones(), ", ")
	}
	return why
}

// NodeMissing says of a pod that the node where it runs is not there.
func NodeMissing(node string) string {
	return fmt.Sprintf("runs on node %s, which is not among the nodes", node)
}

// PoolWarnings warns of what pools state in vain: limits that bound nothing, zones in which nothing is sold, and
// minValues that are never met.
func PoolWarnings(p *scheduling.Problem) []scheduling.Warning {
	return slices.Concat(idleLimits(p), unsoldZones(p), unmetMinValues(p))
}

// idleLimits warns of limits of pools that bound nothing, because no instance type of their catalogs
// has the resource, such as "cpus". Pools that buy nothing, and catalogs that sell nothing, are left out.
func idleLimits(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		catalog := p.CatalogOf(pool.Name)
		if catalog.Len() == 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(pool.Spec.Limits)) {
			if name != scheduling.NodesResource && !sells(catalog, name) {
				out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: fmt.Sprintf(
					"spec.limits%s limits nothing: no instance type of the catalog has the resource %s", scheduling.Field(string(name)), name)})
			}
		}
	}
	return out
}

// unsoldZones warns of zones that pools name, where none of the instance types that they may launch is
// sold: pods are spread over the other zones alone. Zones that no requirement of the pool leaves are none;
// pools that buy nothing are left out.
func unsoldZones(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		s := newSieve(pool, p.CatalogOf(pool.Name))
		at := slices.IndexFunc(s.asked, func(r requirements.Requirement) bool {
			return r.Key() == corev1.LabelTopologyZone && r.Operator() == requirements.In && len(r.Values()) > 1
		})
		if at < 0 {
			continue
		}
		sold := s.zonesFor()
		unsold := slices.DeleteFunc(slices.Clone(s.asked[at].Values()), func(zone string) bool { return sold[zone] })
		if len(sold) == 0 || len(unsold) == 0 {
			continue
		}
		slices.Sort(unsold)
		zones := "zone " + unsold[0]
		if len(unsold) > 1 {
			zones = "zones " + strings.Join(unsold, ", ")
		}
		out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: fmt.Sprintf(
			"requires %s, but none of the instance types that it may launch is sold in %s", s.asked[at].Short(), zones)})
	}
	return out
}

// unmetMinValues warns of pools that can never launch anything because their other requirements leave fewer values
// than their minValues ask for. Pools that buy nothing are left out.
func unmetMinValues(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		if why := MinValuesUnmet(p, pool); why != "" {
			out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: why})
		}
	}
	return out
}

// MinValuesUnmet says that a pool can never launch anything because of its minValues; "" where it can, or where
// nothing meets its requirements.
func MinValuesUnmet(p *scheduling.Problem, pool *scheduling.NodePool) string {
	s := newSieve(pool, p.CatalogOf(pool.Name))
	for i := range s.asked {
		r := &s.asked[i]
		if r.MinValues() == 0 {
			continue
		}
		values := map[string]bool{}
		for o := range s.passing {
			if value, ok := o.Label(r.Key()); ok && o.Offering.Launchable() {
				values[value] = true
			}
		}
		if n := len(values); n > 0 && n < r.MinValues() {
			return fmt.Sprintf("can never launch a node: minValues %d of %s is not met, because its requirements leave %d; Karpenter launches for it only with its policy BestEffort for minValues", r.MinValues(), r.Key(), n)
		}
	}
	return ""
}

// sells reports whether any instance type of a catalog has a resource.
func sells(catalog *instancetypes.Catalog, name corev1.ResourceName) bool {
	for t := range catalog.All() {
		if _, ok := t.Capacity[name]; ok || slices.ContainsFunc(t.Offerings, func(o offerings.Offering) bool { _, ok := o.Capacity[name]; return ok }) {
			return true
		}
	}
	return false
}

// sieve holds a pool's requirements against the offerings of a catalog.
type sieve struct {
	catalog *instancetypes.Catalog
	labels  map[string]string // that the pool gives to machines which do not bring them
	asked   []requirements.Requirement
}

// newSieve leaves out requirements on labels that nothing in the catalog defines:
// those are the pool's own to set, or the provider's.
func newSieve(pool *scheduling.NodePool, catalog *instancetypes.Catalog) *sieve {
	s := &sieve{catalog: catalog, labels: offers.PoolLabels(pool)}
	if catalog == nil {
		return s
	}
	for r := range offers.PoolSet(pool).All() {
		if s.defined(r.Key()) {
			s.asked = append(s.asked, r)
		}
	}
	return s
}

// each calls yield for every offering, until it returns false.
func (s *sieve) each(yield func(offers.Offer) bool) {
	if s.catalog == nil {
		return
	}
	for t := range s.catalog.All() {
		for i := range t.Offerings {
			if !yield(offers.Offer{InstanceType: t, Offering: &t.Offerings[i]}) {
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

// zones are those of the offerings, sorted.
func (s *sieve) zones() []string {
	seen := map[string]bool{}
	for o := range s.each {
		seen[o.Offering.Zone] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (s *sieve) defined(key string) bool {
	for o := range s.each {
		if _, ok := o.Label(key); ok {
			return true
		}
	}
	return false
}

// meets reports whether a machine bought at the offer satisfies the requirement.
func (s *sieve) meets(o *offers.Offer, r *requirements.Requirement) bool {
	value, ok := o.Label(r.Key())
	if !ok {
		value, ok = s.labels[r.Key()]
	}
	if !ok {
		return r.AllowsAbsent()
	}
	return r.Has(value)
}

// passing calls yield for every offering that meets all requirements, until it returns false.
func (s *sieve) passing(yield func(offers.Offer) bool) {
next:
	for o := range s.each {
		for i := range s.asked {
			if !s.meets(&o, &s.asked[i]) {
				continue next
			}
		}
		if !yield(o) {
			return
		}
	}
}

// passes reports whether any offering meets all requirements.
func (s *sieve) passes() bool {
	for range s.passing {
		return true
	}
	return false
}

// zonesFor are the zones of the offerings that meet all requirements and can be launched.
func (s *sieve) zonesFor() map[string]bool {
	zones := map[string]bool{}
	for o := range s.passing {
		if o.Offering.Launchable() {
			zones[o.Offering.Zone] = true
		}
	}
	return zones
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
				met[i][o.InstanceType.Name] = true
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
