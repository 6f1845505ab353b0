package instancetypes

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Filter decides whether a catalog keeps an offering of a type. A type that has no
// offerings at all is asked about once, with the zero Offering. A Filter must not
// change what it is given.
type Filter func(t *InstanceType, o offerings.Offering) bool

// Filter returns a catalog with the offerings that every filter keeps, and the
// types of which at least one is left. Types without offerings stay if the filters
// keep them with the zero Offering.
func (c *Catalog) Filter(keep ...Filter) *Catalog {
	types := make([]*InstanceType, 0, c.Len())
	for t := range c.All() {
		if len(t.Offerings) == 0 {
			if keepsAll(keep, t, offerings.Offering{}) {
				types = append(types, t)
			}
			continue
		}
		kept := make([]offerings.Offering, 0, len(t.Offerings))
		for _, o := range t.Offerings {
			if keepsAll(keep, t, o) {
				kept = append(kept, o)
			}
		}
		switch len(kept) {
		case 0:
		case len(t.Offerings):
			types = append(types, t)
		default:
			narrowed := *t // shares what does not change
			narrowed.Offerings = slices.Clip(kept)
			types = append(types, &narrowed)
		}
	}
	return c.derive(types)
}

func keepsAll(filters []Filter, t *InstanceType, o offerings.Offering) bool {
	for _, keep := range filters {
		if keep != nil && !keep(t, o) {
			return false
		}
	}
	return true
}

// ByRequirements keeps offerings whose nodes carry labels that satisfy the set; see
// [requirements.Set.Matches]. A label that neither type nor offering sets counts as
// absent, so remove from the set what a NodePool adds of its own.
func ByRequirements(set requirements.Set) Filter {
	m := newMatcher(set)
	return func(t *InstanceType, o offerings.Offering) bool { return m.matches(t, &o, nil) }
}

// ByName keeps types whose name matches one of the patterns, in which * stands for
// any text, ? for any single byte, and everything else for itself: "m7i.*".
func ByName(patterns ...string) Filter {
	patterns = slices.Clone(patterns)
	return func(t *InstanceType, _ offerings.Offering) bool { return globAny(patterns, t.Name) }
}

// ByZone keeps offerings in one of the zones.
func ByZone(zones ...string) Filter {
	zones = slices.Clone(zones)
	return func(_ *InstanceType, o offerings.Offering) bool { return slices.Contains(zones, o.Zone) }
}

// ByCapacityType keeps offerings of one of the capacity types.
func ByCapacityType(types ...offerings.CapacityType) Filter {
	types = slices.Clone(types)
	return func(_ *InstanceType, o offerings.Offering) bool { return slices.Contains(types, o.CapacityType) }
}

func globAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return glob(p, s) })
}

// glob matches s against a pattern with * and ?. On a mismatch it returns to the
// last *, which is enough: an earlier one can match nothing that a later one
// cannot.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
