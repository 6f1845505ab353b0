package columns

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// pricedPattern is a machine whose pods have more value than its cost, and the gain as a share of the cost.
type pricedPattern struct {
	at    int // place in the market
	items []model.Item
	gain  float64
}

// price finds patterns of more value than their cost by the present duals.
func (x *Master) price() []pricedPattern {
	x.indexClasses()
	if more := x.priceGreedily(); len(more) > 0 {
		return more
	}
	return x.priceBySeeds()
}

// priceGreedily fills each option that is not excluded.
func (x *Master) priceGreedily() (more []pricedPattern) {
	for at := range x.gains {
		if x.gains[at] = -1; !x.excluded[at] && len(x.f.ListsAt(at)) > 0 {
			x.gains[at] = x.try(&more, at, nil)
		}
	}
	return more
}

// priceBySeeds fills options that are close to a gain, beginning with one size after the other.
func (x *Master) priceBySeeds() (more []pricedPattern) {
	for at, gain := range x.gains {
		if gain < -farBelow {
			continue
		}
		for _, first := range x.f.ListsAt(at) {
			x.try(&more, at, []greedy.SizeList{first})
		}
	}
	return more
}

// try fills an option greedily, adds the pattern to more if it gains, and returns the gain.
func (x *Master) try(more *[]pricedPattern, at int, seeds []greedy.SizeList) float64 {
	items, worth := x.f.Fill(at, seeds, x.remaining, x.duals)
	gain := worth/x.f.Costs[x.m.Options[at]] - 1
	if gain > leastGain {
		*more = append(*more, pricedPattern{at, slices.Clone(items), gain})
	}
	return gain
}
