package search

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Account adds a number of machines of an offer to a plan's sums, on each of which daemons and pods
// ask for so much.
func Account(c *instance.Instance, s *scheduling.Summary, at offers.OfferRef, count int64, daemons, pods []int64) {
	o := &c.Offers.Offers[at.Offer]
	s.Nodes += int(count)
	total, ok := o.Offering.Price.Times(count)
	if !ok {
		total = offerings.MaxPrice
	}
	s.PricePerHour = offerings.Sum(s.PricePerHour, total)
	s.Pools = share(s.Pools, c.Templates[at.Template].Pool.Name, count, total)
	s.CapacityTypes = share(s.CapacityTypes, string(o.Offering.CapacityType), count, total)
	shape := &c.Offers.Shapes[o.Shape]
	named := c.Requestable()
	if s.Resources == nil {
		for _, name := range named {
			s.Resources = append(s.Resources, scheduling.ResourceUse{Resource: string(name)})
		}
	}
	for i, name := range named {
		use, r := &s.Resources[i], c.Table.Index[name]
		capacity := int64(0)
		if q, ok := shape.Capacity[name]; ok {
			capacity = podspec.Amount(name, q)
		}
		use.Capacity += capacity * count
		use.Reserved += max(0, capacity-shape.Allocatable[r]) * count
		use.Daemons += daemons[r] * count
		use.Pods += pods[r] * count
		use.Free += (shape.Allocatable[r] - daemons[r] - pods[r]) * count
	}
}

// Daemons is the sum of the requests of the DaemonSets that run on a machine, by resource.
func Daemons(c *instance.Instance, at offers.OfferRef) []int64 {
	load := make([]int64, c.Dims())
	for i, row := range c.Offered[at.Template].Daemons {
		if row.Has(at.Offer) {
			for r, n := range c.Daemons[i].Requests {
				load[r] += n
			}
		}
	}
	return load
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
