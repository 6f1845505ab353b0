package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const requirementsField = "spec.template.spec.requirements"

// unmet are NodePools that buy nothing.
func (s *Subject) unmet() (out []Finding) {
	for _, w := range provisioning.IdleNodePools(s.problem()) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "change the requirement that is named, or name a catalog that has such machines",
		})
	}
	return out
}

// overlaps are NodePools that buy the same machines for the same pods at the same weight.
func (s *Subject) overlaps() (out []Finding) {
	pools := slices.DeleteFunc(slices.Clone(s.problem().NodePools), func(p *scheduling.NodePool) bool { return p.Spec.Replicas != nil })
	sold := make([]map[offerings.Key]bool, len(pools))
	for i, pool := range pools {
		sold[i] = map[offerings.Key]bool{}
		for t := range s.sells(pool).All() {
			for j := range t.Offerings {
				sold[i][t.Offerings[j].Key(t.Name)] = true
			}
		}
	}
	meet := func(a, b map[offerings.Key]bool) bool {
		for k := range a {
			if b[k] {
				return true
			}
		}
		return false
	}
	for i, a := range pools {
		var others []string
		for j, b := range pools {
			if i != j && a.Weight() == b.Weight() && sameTaints(a, b) && meet(sold[i], sold[j]) {
				others = append(others, b.Name)
			}
		}
		if len(others) > 0 {
			slices.Sort(others)
			out = append(out, Finding{
				Severity: Warning, Code: NodePoolOverlap, Object: "NodePool/" + a.Name, Field: "spec.weight", Value: fmt.Sprint(a.Weight()),
				Message: "buys machines that " + strings.Join(others, ", ") + " would buy as well for the same pods, at the same weight: Karpenter takes one of them by name",
				Advice:  "give one of them a higher weight, or keep pods apart by taints",
			})
		}
	}
	return out
}

// sameTaints reports whether the same pods tolerate both pools.
func sameTaints(a, b *scheduling.NodePool) bool {
	texts := func(p *scheduling.NodePool) (out []string) {
		for _, t := range p.Spec.Template.Spec.Taints {
			out = append(out, t.ToString())
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(texts(a), texts(b))
}

// enoughSpot is how many spot types a NodePool should leave: so many cheaper ones Karpenter wants
// before it replaces spot by spot.
const enoughSpot = 15

// narrow are NodePools that allow spot and leave few types of it. The requirement is named
// without which there are the most.
func (s *Subject) narrow() (out []Finding) {
	for _, pool := range s.problem().NodePools {
		types := s.spotTypes(pool)
		if types == 0 || types >= enoughSpot {
			continue
		}
		f := Finding{
			Severity: Warning, Code: SpotNarrow, Object: "NodePool/" + pool.Name, Field: requirementsField,
			Message: fmt.Sprintf("leaves %s on spot: where they run out there is little to turn to, and Karpenter replaces spot by spot only from %d on", figures.Count(types, "instance type"), enoughSpot),
			Advice:  "allow more families, sizes, generations or architectures",
		}
		all, most := pool.Spec.Template.Spec.Requirements, types
		for i := range all {
			without := *pool
			without.Spec.Template.Spec.Requirements = slices.Concat(all[:i], all[i+1:])
			if more := s.spotTypes(&without); more > most {
				if r, err := all[i].Requirement(); err == nil {
					most, f.Field, f.Value = more, fmt.Sprintf("%s[%d]", requirementsField, i), r.Short()
					f.Advice = fmt.Sprintf("widen this requirement: without it there are %d", more)
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// spotTypes is how many instance types a pool can buy on spot.
func (s *Subject) spotTypes(pool *scheduling.NodePool) int {
	return s.sells(pool).Filter(instancetypes.ByCapacityType(offerings.Spot)).Len()
}

// sells is what of its catalog a pool may buy. Requirements about labels of its own are met.
func (s *Subject) sells(pool *scheduling.NodePool) *instancetypes.Catalog {
	catalog := s.problem().CatalogOf(pool.Name)
	known := s.labelsOf(catalog)
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

// labelsOf are the keys of labels that machines of a catalog bring.
func (s *Subject) labelsOf(catalog *instancetypes.Catalog) map[string]bool {
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
