package columns

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A mix has parts of large machines. Once the small ones are bought there are no pods left to
// fill a large one, and nothing takes its place either. So it is decided first how many of them
// there are, while all else can still be arranged around them.

const (
	// largeShare is what share of the cost of a mix a machine has to cost to be large,
	// mostLarge how many decisions are made about them, and largeAgain how often fillings are
	// added for each.
	largeShare, mostLarge, largeAgain = 0.01, 40, 5
)

// roundLarge decides about the large machines of a mix, the dearest first: each of which it has
// a part is bought, or no more of the same option, whichever is cheaper with a mix for the
// rest. It returns what is bought.
func (x *Mixture) roundLarge() (out []model.Node) {
	least := largeShare * x.lp.Cost()
	for range mostLarge {
		filling, whole := x.large(least)
		if filling < 0 || x.over() {
			break
		}
		before := slices.Clone(x.remaining)
		node, ok := x.buyOne(filling)
		with := math.Inf(1)
		if ok {
			x.generate(largeAgain)
			with = x.lp.Cost() + x.f.Costs[node.Option]
		}
		if !whole || !ok {
			at, after := x.fillings[filling].at, x.remaining
			x.remaining, x.barred[at] = before, true
			x.generate(largeAgain)
			if x.lp.Cost() <= with {
				continue
			}
			x.remaining, x.barred[at] = after, false
			x.generate(0)
		}
		out = append(out, node)
	}
	return out
}

// large is the filling of which the mix has most for its dearest machine, and whether it has
// that whole; -1 if none costs so much at least.
func (x *Mixture) large(least float64) (filling int, whole bool) {
	filling = -1
	dearest, most := least, 0.0
	for j := range x.fillings {
		n, cost := x.lp.Amount(j), x.f.Costs[x.m.Options[x.fillings[j].at]]
		if n > 1e-6 && (cost > dearest || cost == dearest && n > most) {
			filling, dearest, most = j, cost, n
		}
	}
	return filling, most > 1-1e-6
}
