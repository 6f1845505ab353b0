package instancetypes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Filter decides whether a catalog keeps an offering of a type. For a type without offerings it is
// called once, with the zero Offering. A Filter must not change its arguments.
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
			narrowed := *t // shares the parts that do not change
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
// [requirements.Set.Matches]. A label that neither type nor offering sets counts as absent, so
// remove labels that a NodePool adds from the set.
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

// glob matches s against a pattern with * and ?. On a mismatch it returns to the last *, which is
// enough, because an earlier one can match no text that a later one cannot.
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

// fieldKeys are the keys of filter expressions that do not stand for labels.
var fieldKeys = []string{"available", "cpu", "ephemeral-storage", "gpu", "memory", "name", "pods", "price"}

// labelKeys finds the label keys that a key of a filter expression stands for.
// There are several only if different providers have a label for the same thing.
//
// A key with a slash is a label key. Any other is the end of a well-known one:
// arch is kubernetes.io/arch, and category is karpenter.k8s.aws/instance-category,
// since the "instance-" and "sku-" that providers begin their labels with may be
// left out. The whole name goes before a part of it.
func labelKeys(key string) ([]string, error) {
	if exact, ok := strings.CutPrefix(key, "label:"); ok {
		if exact == "" {
			return nil, errors.New("has no key after the prefix label")
		}
		return []string{requirements.NormalizeKey(exact)}, nil
	}
	if strings.Contains(key, "/") {
		return []string{requirements.NormalizeKey(key)}, nil
	}
	var whole, part []string
	for _, known := range requirements.WellKnown().Keys() {
		switch name := attribute(known); {
		case name == key || known[strings.LastIndexByte(known, '/')+1:] == key:
			whole = append(whole, known)
		case strings.HasSuffix(name, "-"+key):
			part = append(part, known)
		}
	}
	found := whole
	if len(found) == 0 {
		found = part
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("has an unknown key %q%s; write label:%s for a label of exactly that name", key, nearest(key), key)
	case !sameAttribute(found):
		return nil, fmt.Errorf("has an ambiguous key %q, which may be any of %s", key, strings.Join(found, ", "))
	}
	return found, nil
}

// attribute returns the meaning of a well-known label, without the provider's prefix: "family" for
// karpenter.k8s.aws/instance-family and karpenter.azure.com/sku-family.
func attribute(key string) string {
	name := key[strings.LastIndexByte(key, '/')+1:]
	for _, prefix := range []string{"instance-", "sku-"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}

func sameAttribute(keys []string) bool {
	for _, key := range keys[1:] {
		if attribute(key) != attribute(keys[0]) {
			return false
		}
	}
	return true
}

// nearest suggests a key for a mistyped one; empty if none is near.
func nearest(key string) string {
	known := slices.Clone(fieldKeys)
	for _, k := range requirements.WellKnown().Keys() {
		known = append(known, attribute(k))
	}
	slices.Sort(known)
	best, distance := "", 3
	for _, k := range slices.Compact(known) {
		if d := spelling.Distance(key, k); d < distance && d < len(k) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// label returns the value of one label of a node of type t bought at o, as
// [InstanceType.NodeLabels] has it, without building the map. The key is in its stable form, and so
// are the labels of type and offering.
func (t *InstanceType) label(o *offerings.Offering, key string) (string, bool) {
	switch key {
	case offerings.ZoneLabel:
		return o.Zone, o.Zone != ""
	case offerings.CapacityTypeLabel:
		return string(o.CapacityType), o.CapacityType != ""
	case offerings.ReservationIDLabel:
		if id, ok := o.ReservationLabel(); ok {
			return id, true
		}
	}
	if value, ok := o.Labels[key]; ok {
		return value, true
	}
	value, ok := t.Labels[key]
	return value, ok
}

// matcher is a conjunction of requirements in the form that is quickest to test
// against many offerings.
type matcher []requirements.Requirement

func newMatcher(set requirements.Set) matcher { return slices.Collect(set.All()) }

// matches reports whether a node of type t bought at o satisfies the requirements.
// extra holds labels that the node has besides; the type's and the offering's come
// first.
func (m matcher) matches(t *InstanceType, o *offerings.Offering, extra map[string]string) bool {
	for i := range m {
		value, ok := t.label(o, m[i].Key())
		if !ok {
			value, ok = extra[m[i].Key()]
		}
		if ok && !m[i].Has(value) || !ok && !m[i].AllowsAbsent() {
			return false
		}
	}
	return true
}

// mentions reports whether a requirement is about one of the labels.
func (m matcher) mentions(labels map[string]string) bool {
	return slices.ContainsFunc(m, func(r requirements.Requirement) bool {
		_, ok := labels[r.Key()]
		return ok
	})
}
