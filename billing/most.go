package billing

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// MostCovered returns the most that commitments can cover of the list prices of nodes, whichever nodes of a catalog's offerings
// there are: what is left of each, times the highest list price for each unit. With a lower bound on the sum of list prices it
// gives one on the bill, because the bill is the list prices without the covered part, and the price of the commitments.
func MostCovered(commitments []Commitment, catalog *instancetypes.Catalog) (most offerings.Price) {
	if catalog == nil {
		return 0
	}
	for _, c := range inOrder(commitments) {
		rates := c.index()
		var best demand // of the highest list price for each unit
		for t := range catalog.All() {
			for i := range t.Offerings {
				u := UsageOf("", t, &t.Offerings[i])
				if d, ok := c.demand(&u, rates); ok && (best.amount == 0 || compareProducts(int64(d.price), int64(best.amount), int64(best.price), int64(d.amount)) > 0) {
					best = d
				}
			}
		}
		if best.amount > 0 {
			most = offerings.Sum(most, offerings.Price(scaled(int64(c.Left()), int64(best.price), int64(best.amount), true)))
		}
	}
	return most
}
