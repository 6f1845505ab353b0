package billing

import (
	"fmt"
	"path"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Discount is a discount of an agreement with a cloud. It applies to the offerings that match every field which is not empty.
type Discount struct {
	// Percent is the part of the list price that is taken off, more than 0 and at most 100.
	Percent Units `json:"percent"`
	// Families are instance families, as [FamilyOf] names them. InstanceTypes are names of instance types, or
	// patterns in which * stands for any text and ? for any character.
	Families      []string `json:"families,omitempty"`
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	// Regions and Zones are places, see [offerings.InRegion].
	Regions []string `json:"regions,omitempty"`
	Zones   []string `json:"zones,omitempty"`
	// CapacityTypes are capacity types, e.g. on-demand.
	CapacityTypes []offerings.CapacityType `json:"capacityTypes,omitempty"`
}

// DeepCopy returns a discount that shares no memory with d.
func (d Discount) DeepCopy() Discount {
	d.Families, d.InstanceTypes = slices.Clone(d.Families), slices.Clone(d.InstanceTypes)
	d.Regions, d.Zones = slices.Clone(d.Regions), slices.Clone(d.Zones)
	d.CapacityTypes = slices.Clone(d.CapacityTypes)
	return d
}

// applies reports whether the discount is one of an offering of an instance type.
func (d *Discount) applies(instanceType string, o *offerings.Offering) bool {
	one := func(list []string, matches func(string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, matches)
	}
	return one(d.Families, func(family string) bool { return family == FamilyOf(instanceType) }) &&
		one(d.InstanceTypes, func(pattern string) bool {
			ok, err := path.Match(pattern, instanceType)
			return ok && err == nil
		}) &&
		one(d.Regions, func(region string) bool { return offerings.InRegion(o.Zone, region) }) &&
		one(d.Zones, func(zone string) bool { return zone == o.Zone }) &&
		(len(d.CapacityTypes) == 0 || slices.Contains(d.CapacityTypes, o.CapacityType))
}

// validate returns the faults of the discount at a position of its list.
func (d *Discount) validate(at int) (faults []error) {
	fail := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("discounts[%d]."+format, append([]any{at}, args...)...))
	}
	if d.Percent <= 0 || d.Percent > 100*nano {
		fail("percent: %v: must be more than 0 and at most 100", d.Percent)
	}
	for i, pattern := range d.InstanceTypes {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			fail("instanceTypes[%d]: %q: must be the name of an instance type, or a pattern such as m7i.*", i, pattern)
		}
	}
	for i, t := range d.CapacityTypes {
		if _, err := offerings.ParseCapacityType(string(t)); err != nil {
			fail("capacityTypes[%d]: %w", i, err)
		}
	}
	return faults
}

// Discounted returns the catalog with its list prices less the discounts. Of several discounts that apply to an offering
// the last counts, alone: they never add up. source names them in the catalog's provenance. unused are the positions of the
// discounts that apply to no offering, because of the fields that they state or because of later discounts. The error
// states the faults of the discounts.
func Discounted(c *instancetypes.Catalog, source string, discounts []Discount) (discounted *instancetypes.Catalog, unused []int, err error) {
	prices, used := instancetypes.Prices{Source: source}, make([]bool, len(discounts))
	off := make([]offerings.Adjustment, len(discounts))
	for i := range discounts {
		if faults := discounts[i].validate(i); len(faults) > 0 {
			return nil, nil, faults[0]
		}
		if off[i], err = offerings.ParseAdjustment("-" + discounts[i].Percent.String() + "%"); err != nil {
			return nil, nil, fmt.Errorf("discounts[%d].percent: %w", i, err)
		}
	}
	for t := range c.All() {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			for at, d := range slices.Backward(discounts) {
				if d.applies(t.Name, o) {
					used[at] = true
					prices.Changes = append(prices.Changes, instancetypes.PriceChange{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: off[at]})
					break
				}
			}
		}
	}
	for at, applied := range used {
		if !applied {
			unused = append(unused, at)
		}
	}
	if len(prices.Changes) == 0 {
		return c, unused, nil
	}
	discounted, _, err = c.WithPrices(prices)
	return discounted, unused, err
}
