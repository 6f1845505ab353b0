package offers

import (
	"cmp"
	"slices"
)

// PriceRanks is the rank of every offer by expected price; of equal prices the larger allocatable comes first. It is
// worked out at the first call, and kept for the tables of later plans where [RankedOffers] has a place for it.
func (t *OfferTable) PriceRanks() []int32 {
	all := t.Offers
	if t.Ranks != nil && *t.Ranks != nil {
		return *t.Ranks
	}
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	dearer := func(a, b int32) int { return cmp.Compare(all[a].Expected, all[b].Expected) }
	if slices.IsSortedFunc(order, dearer) {
		return order // because offers are usually sorted by price
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &all[a], &all[b]
		return cmp.Or(
			dearer(a, b),
			-slices.Compare(t.Shapes[x.Shape].Allocatable, t.Shapes[y.Shape].Allocatable),
			cmp.Compare(a, b),
		)
	})
	ranks := make([]int32, len(all))
	for at, i := range order {
		ranks[i] = int32(at)
	}
	if t.Ranks != nil {
		*t.Ranks = ranks
	}
	return ranks
}
