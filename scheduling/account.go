package scheduling

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// account adds a bundle of machines to the plan's sums.
func (d *decoder) account(plan *Plan, m *machine, first int, daemons []int64) {
	o := &d.offers.offers[first]
	s := &plan.Summary
	s.Nodes += int(m.count)
	total, ok := o.offering.Price.Times(m.count)
	if !ok {
		total = offerings.MaxPrice
	}
	s.PricePerHour = addPrice(s.PricePerHour, total)
	s.Pools = share(s.Pools, d.templates[m.template].pool.Name, m.count, total)
	s.CapacityTypes = share(s.CapacityTypes, string(o.offering.CapacityType), m.count, total)
	shape := &d.offers.shapes[o.shape]
	if s.Resources == nil {
		for _, name := range d.named {
			s.Resources = append(s.Resources, ResourceUse{Resource: string(name)})
		}
	}
	for i, name := range d.named {
		use, r := &s.Resources[i], d.table.index[name]
		capacity := int64(0)
		if q, ok := shape.capacity[name]; ok {
			capacity = amount(name, q)
		}
		use.Capacity += capacity * m.count
		use.Reserved += max(0, capacity-shape.allocatable[r]) * m.count
		use.Daemons += daemons[r] * m.count
		use.Pods += m.load[r] * m.count
		use.Free += (shape.allocatable[r] - daemons[r] - m.load[r]) * m.count
	}
}

func addPrice(a, b offerings.Price) offerings.Price {
	if sum, ok := a.Plus(b); ok {
		return sum
	}
	return offerings.MaxPrice
}

// share adds nodes to the share of a name, keeping the list sorted.
func share(shares []Share, name string, n int64, price offerings.Price) []Share {
	i, found := slices.BinarySearchFunc(shares, name, func(s Share, name string) int { return strings.Compare(s.Name, name) })
	if !found {
		shares = slices.Insert(shares, i, Share{Name: name})
	}
	shares[i].Nodes += int(n)
	shares[i].PricePerHour = addPrice(shares[i].PricePerHour, price)
	return shares
}

// placed counts the pods of a solution by planned class.
func (c *compiler) placed(solution model.Solution) []int64 {
	out := make([]int64, len(c.planned))
	for i := range c.parts {
		for _, p := range c.parts[i].portions {
			out[p.class] += (c.parts[i].count - solution.Unplaced[i]) * p.n
		}
	}
	return out
}
