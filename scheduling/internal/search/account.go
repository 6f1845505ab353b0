package search

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// account adds a bundle of machines to the plan's sums.
func (d *decoder) account(plan *scheduling.Plan, m *machine, first int, daemons []int64) {
	o := &d.Offers.Offers[first]
	s := &plan.Summary
	s.Nodes += int(m.count)
	total, ok := o.Offering.Price.Times(m.count)
	if !ok {
		total = offerings.MaxPrice
	}
	s.PricePerHour = offerings.Sum(s.PricePerHour, total)
	s.Pools = share(s.Pools, d.Templates[m.template].Pool.Name, m.count, total)
	s.CapacityTypes = share(s.CapacityTypes, string(o.Offering.CapacityType), m.count, total)
	shape := &d.Offers.Shapes[o.Shape]
	if s.Resources == nil {
		for _, name := range d.named {
			s.Resources = append(s.Resources, scheduling.ResourceUse{Resource: string(name)})
		}
	}
	for i, name := range d.named {
		use, r := &s.Resources[i], d.Table.Index[name]
		capacity := int64(0)
		if q, ok := shape.Capacity[name]; ok {
			capacity = podspec.Amount(name, q)
		}
		use.Capacity += capacity * m.count
		use.Reserved += max(0, capacity-shape.Allocatable[r]) * m.count
		use.Daemons += daemons[r] * m.count
		use.Pods += m.load[r] * m.count
		use.Free += (shape.Allocatable[r] - daemons[r] - m.load[r]) * m.count
	}
}

// share adds nodes to the share of a name, keeping the list sorted.
func share(shares []scheduling.Share, name string, n int64, price offerings.Price) []scheduling.Share {
	i, found := slices.BinarySearchFunc(shares, name, func(s scheduling.Share, name string) int { return strings.Compare(s.Name, name) })
	if !found {
		shares = slices.Insert(shares, i, scheduling.Share{Name: name})
	}
	shares[i].Nodes += int(n)
	shares[i].PricePerHour = offerings.Sum(shares[i].PricePerHour, price)
	return shares
}
