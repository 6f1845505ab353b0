package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Choice adds a fault if no NodePool has an offering to choose from. It is none where there are nodes, which
// may hold the pods, nor where requirements exclude all offerings, which is a warning. An offering that is only
// unavailable at the moment counts.
func (c *Checker) Choice(p *scheduling.Problem) {
	pools := offers.PoolOrder(p.NodePools)
	if len(p.Pods) == 0 || len(p.Nodes) > 0 || len(pools) == 0 {
		return
	}
	for _, pool := range pools {
		if newPoolFilter(pool, p.CatalogOf(pool.Name)).offers() {
			return
		}
	}
	c.MoveTo(Position{})
	c.Faults.Object = nil
	c.Faults.Add("", "is empty: it has no offering of any instance type", "catalog")
}

// Idle says why a NodePool can buy no offering; "" if it can.
func Idle(p *scheduling.Problem, pool *scheduling.NodePool) string {
	s := newPoolFilter(pool, p.CatalogOf(pool.Name))
	if s.anyMatch() {
		return ""
	}
	if !s.offers() {
		return "cannot launch nodes: its catalog has no offerings"
	}
	worst, ruledOut, all := s.mostExcluding()
	if ruledOut <= 0 {
		return fmt.Sprintf("cannot launch nodes: none of the %d instance types of the catalog has an offering that meets all of its requirements together", all)
	}
	why := fmt.Sprintf("cannot launch nodes: none of the %d instance types of the catalog meets all of its requirements: %s alone rules out %d", all, worst.Short(), ruledOut)
	if key := worst.Key(); key == corev1.LabelTopologyZone || key == corev1.LabelTopologyRegion {
		why += ", and the catalog's zones are " + strings.Join(s.zones(), ", ")
	}
	return why
}

// NodeMissing says that a pod runs on a node that is not among the nodes.
func NodeMissing(node string) string {
	return fmt.Sprintf("runs on node %s, which is not among the nodes", node)
}

// PoolWarnings warns of settings of NodePools without effect: limits on resources that no instance type has,
// zones without offerings, and minValues that cannot be met.
func PoolWarnings(p *scheduling.Problem) []scheduling.Warning {
	return slices.Concat(idleLimits(p), unsoldZones(p), unmetMinValues(p))
}

// idleLimits warns of limits on a resource that no instance type of the catalog has, e.g. "cpus". It skips
// pools with an empty catalog.
func idleLimits(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		catalog := p.CatalogOf(pool.Name)
		if catalog.Len() == 0 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(pool.Spec.Limits)) {
			if name != scheduling.NodesResource && name != scheduling.PriceResource && !sells(catalog, name) {
				out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: fmt.Sprintf(
					"%s limits nothing: no instance type of the catalog has the resource %s", strict.Member("spec.limits", string(name)), name)})
			}
		}
	}
	return out
}

// unsoldZones warns of zones that a pool requires and in which none of its instance types is sold, because pods
// are then spread over the other zones only. It skips pools that can buy no offering.
func unsoldZones(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		s := newPoolFilter(pool, p.CatalogOf(pool.Name))
		at := slices.IndexFunc(s.requirements, func(r requirements.Requirement) bool {
			return r.Key() == corev1.LabelTopologyZone && r.Operator() == requirements.In && len(r.Values()) > 1
		})
		if at < 0 {
			continue
		}
		sold := s.launchableZones()
		unsold := slices.DeleteFunc(slices.Clone(s.requirements[at].Values()), func(zone string) bool { return sold[zone] })
		if len(sold) == 0 || len(unsold) == 0 {
			continue
		}
		slices.Sort(unsold)
		zones := "zone " + unsold[0]
		if len(unsold) > 1 {
			zones = "zones " + strings.Join(unsold, ", ")
		}
		out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: fmt.Sprintf(
			"requires %s, but none of the instance types that it may launch is sold in %s", s.requirements[at].Short(), zones)})
	}
	return out
}

// unmetMinValues warns of pools that can never launch a node because their requirements leave fewer values than
// minValues. It skips pools that can buy no offering.
func unmetMinValues(p *scheduling.Problem) []scheduling.Warning {
	var out []scheduling.Warning
	for _, pool := range offers.PoolOrder(p.NodePools) {
		if why := MinValuesUnmet(p, pool); why != "" {
			out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: why})
		}
	}
	return out
}

// MinValuesUnmet says that a pool can never launch a node because of its minValues; "" if it can, or if no
// offering meets its requirements.
func MinValuesUnmet(p *scheduling.Problem, pool *scheduling.NodePool) string {
	s := newPoolFilter(pool, p.CatalogOf(pool.Name))
	for i := range s.requirements {
		r := &s.requirements[i]
		if r.MinValues() == 0 {
			continue
		}
		values := map[string]bool{}
		for o := range s.matching {
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

// poolFilter checks the offerings of a catalog against a pool's requirements.
type poolFilter struct {
	catalog      *instancetypes.Catalog
	labels       map[string]string // labels that the pool gives to nodes whose offering does not define them
	requirements []requirements.Requirement
}

// newPoolFilter leaves out requirements on labels that no offering defines, because the pool or the provider
// sets those labels.
func newPoolFilter(pool *scheduling.NodePool, catalog *instancetypes.Catalog) *poolFilter {
	s := &poolFilter{catalog: catalog, labels: offers.PoolLabels(pool)}
	if catalog == nil {
		return s
	}
	for r := range offers.PoolSet(pool).All() {
		if s.defined(r.Key()) {
			s.requirements = append(s.requirements, r)
		}
	}
	return s
}

// each yields every offering.
func (s *poolFilter) each(yield func(offers.Offer) bool) {
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

func (s *poolFilter) offers() bool {
	for range s.each {
		return true
	}
	return false
}

// zones returns the zones of all offerings, sorted.
func (s *poolFilter) zones() []string {
	seen := map[string]bool{}
	for o := range s.each {
		seen[o.Offering.Zone] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (s *poolFilter) defined(key string) bool {
	for o := range s.each {
		if _, ok := o.Label(key); ok {
			return true
		}
	}
	return false
}

// meets reports whether a node of the offering satisfies the requirement.
func (s *poolFilter) meets(o *offers.Offer, r *requirements.Requirement) bool {
	value, ok := o.Label(r.Key())
	if !ok {
		value, ok = s.labels[r.Key()]
	}
	if !ok {
		return r.AllowsAbsent()
	}
	return r.Has(value)
}

// matching yields every offering that meets all requirements.
func (s *poolFilter) matching(yield func(offers.Offer) bool) {
next:
	for o := range s.each {
		for i := range s.requirements {
			if !s.meets(&o, &s.requirements[i]) {
				continue next
			}
		}
		if !yield(o) {
			return
		}
	}
}

// anyMatch reports whether some offering meets all requirements.
func (s *poolFilter) anyMatch() bool {
	for range s.matching {
		return true
	}
	return false
}

// launchableZones returns the zones of the launchable offerings that meet all requirements.
func (s *poolFilter) launchableZones() map[string]bool {
	zones := map[string]bool{}
	for o := range s.matching {
		if o.Offering.Launchable() {
			zones[o.Offering.Zone] = true
		}
	}
	return zones
}

// mostExcluding returns the requirement that alone excludes the most instance types, the first by key among
// equals, their number, and the number of all instance types.
func (s *poolFilter) mostExcluding() (worst requirements.Requirement, ruledOut, all int) {
	met := make([]map[string]bool, len(s.requirements)) // by requirement: the types that meet it
	for i := range met {
		met[i] = map[string]bool{}
	}
	for o := range s.each {
		for i := range s.requirements {
			if s.meets(&o, &s.requirements[i]) {
				met[i][o.InstanceType.Name] = true
			}
		}
	}
	all, ruledOut = s.catalog.Len(), -1
	for i := range s.requirements {
		if n := all - len(met[i]); n > ruledOut {
			worst, ruledOut = s.requirements[i], n
		}
	}
	return worst, ruledOut, all
}
