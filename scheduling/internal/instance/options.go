package instance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// withoutDominated drops options that another option dominates, and the entries of bought at the same indices. Only the
// search is without them: the alternatives of a launch are drawn from all offers.
func withoutDominated(options []model.Option, bought []offers.OfferRef) ([]model.Option, []offers.OfferRef) {
	kept := model.PruneDominated(options)
	if len(kept) == len(options) {
		return options, bought
	}
	left, refs := make([]model.Option, len(kept)), make([]offers.OfferRef, len(kept))
	for to, from := range kept {
		left[to], refs[to] = options[from], bought[from]
	}
	return left, refs
}

// passes are the tiers in which the engine launches nodes: weight ranks from the highest weight down for groups that
// tolerate all taints of the option, then again for groups that do not tolerate a PreferNoSchedule taint. Only tiers in
// which a group has an option are listed.
func passes(options []model.Option) []model.Pass {
	found := map[model.Pass]bool{}
	if len(options) == 0 {
		found[model.Pass{}] = true
	}
	for i := range options {
		o := &options[i]
		free := o.Admits.Clone()
		free.AndNot(o.Soft)
		if free.Any() {
			found[model.Pass{Weight: o.Weight}] = true
		}
		if o.Soft.Any() {
			found[model.Pass{Weight: o.Weight, Soft: true}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), ComparePasses)
}

// ComparePasses orders passes: without PreferNoSchedule taints first, then by weight rank.
func ComparePasses(a, b model.Pass) int {
	if a.Soft != b.Soft {
		if b.Soft {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Weight, b.Weight)
}

// newSupplies numbers the reservations. Where offers state different counts for one reservation the least holds.
func newSupplies(c *Instance) *offers.Supplies {
	s := &offers.Supplies{Index: map[string]int32{}}
	for _, i := range c.Offers.Reserved {
		o := c.Offers.Offers[i].Offering
		count := o.ReservationCount
		if n, ok := s.Index[o.ReservationID]; ok {
			s.Counts[n] = min(s.Counts[n], count)
			continue
		}
		s.Index[o.ReservationID] = int32(len(s.Counts))
		s.Counts = append(s.Counts, count)
	}
	return s
}
