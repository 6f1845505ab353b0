package pools

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Sales finds the offerings that NodePools may launch. It caches the label keys of each catalog; the zero value is ready.
type Sales struct {
	labels map[*instancetypes.Catalog]map[string]bool
}

// Of is the part of its catalog that a NodePool may launch. Requirements on labels that no instance type of the catalog
// has are met, because the NodePool itself sets these labels on its nodes.
func (s *Sales) Of(p *scheduling.Problem, pool *scheduling.NodePool) *instancetypes.Catalog {
	catalog := p.CatalogOf(pool.Name)
	known := s.Labels(catalog)
	set, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return catalog.Filter(func(*instancetypes.InstanceType, offerings.Offering) bool { return false }) // validation tells that
	}
	for _, key := range set.Keys() {
		if !known[key] {
			set = set.Without(key)
		}
	}
	return catalog.Filter(instancetypes.ByRequirements(set), func(_ *instancetypes.InstanceType, o offerings.Offering) bool { return o.Launchable() })
}

// Labels are the keys of labels that nodes of a catalog's instance types have.
func (s *Sales) Labels(catalog *instancetypes.Catalog) map[string]bool {
	if s.labels[catalog] != nil {
		return s.labels[catalog]
	}
	known := map[string]bool{}
	for t := range catalog.All() {
		for i := range t.Offerings {
			for key := range t.NodeLabels(t.Offerings[i]) {
				known[key] = true
			}
		}
	}
	if s.labels == nil {
		s.labels = map[*instancetypes.Catalog]map[string]bool{}
	}
	s.labels[catalog] = known
	return known
}
