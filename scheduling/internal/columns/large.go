package columns

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A solution has fractions of large machines. Once the small machines are bought there are not enough pods left
// to fill a large one. So the numbers of large machines are decided first, while all other machines can still
// adapt.

const (
	// largeShare is the cost of a large machine as a share of the solution's cost. mostLarge bounds the
	// decisions, and largeAgain the rounds of pricing after each.
	largeShare, mostLarge, largeAgain = 0.01, 40, 5
)

// roundLarge decides about large machines, the dearest first: a machine with a fraction in the solution is
// bought, or its option is excluded, whichever gives the cheaper solution for the rest. It returns the bought
// machines.
func (x *Master) roundLarge() (out []model.Node) {
	least := largeShare * x.lp.Cost()
	for range mostLarge {
		pattern, whole := x.large(least)
		if pattern < 0 || x.over() {
			break
		}
		before := slices.Clone(x.remaining)
		node, ok := x.buyOne(pattern)
		with := math.Inf(1)
		if ok {
			x.generate(largeAgain)
			with = x.lp.Cost() + x.f.Costs[node.Option]
		}
		if !whole || !ok {
			at, after := x.patterns[pattern].at, x.remaining
			x.remaining, x.excluded[at] = before, true
			x.generate(largeAgain)
			if x.lp.Cost() <= with {
				continue
			}
			x.remaining, x.excluded[at] = after, false
			x.generate(0)
		}
		out = append(out, node)
	}
	return out
}

// large returns the pattern with the largest amount on the dearest machine of the solution, and whether a whole
// one is in it; −1 if no machine costs at least least.
func (x *Master) large(least float64) (pattern int, whole bool) {
	pattern = -1
	dearest, most := least, 0.0
	for j := range x.patterns {
		n, cost := x.lp.Amount(j), x.f.Costs[x.m.Options[x.patterns[j].at]]
		if n > 1e-6 && (cost > dearest || cost == dearest && n > most) {
			pattern, dearest, most = j, cost, n
		}
	}
	return pattern, most > 1-1e-6
}
