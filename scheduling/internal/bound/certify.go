package bound

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
)

const (
	// leastMargin is the share of all worths that is given up for rounding errors at first. Where
	// the proof does not hold, marginGrowth times as much is, at least, and up to mostMargin.
	leastMargin, marginGrowth, mostMargin = 1e-13, 100, 1e-2
)

// certify turns the best proposal into whole numbers and proves it with them.
func (a *assignment) certify() Assigned {
	if a.best == nil || !(a.best.value > 0) {
		return Assigned{}
	}
	return a.certified(noMultipliers)
}

// noMultipliers are no multipliers.
func noMultipliers(*rounding, float64) []wholeReductions { return nil }

// certified proves it with the multipliers that belong to whole numbers.
func (a *assignment) certified(multipliers func(c *rounding, factor float64) []wholeReductions) Assigned {
	if c := a.proved(multipliers); c != nil {
		return c.assigned()
	}
	return Assigned{}
}

// proved gives up the least margin by which the best proposal can be proven; nil for none.
func (a *assignment) proved(multipliers func(c *rounding, factor float64) []wholeReductions) *rounding {
	a.best.used()
	for margin := leastMargin; margin <= mostMargin; {
		c := a.rounded(1 - margin)
		c.multipliers = multipliers(c, 1-margin)
		over := c.prove()
		if over <= 1 {
			return c
		}
		// A search that leaves out states says another thing by other worths.
		margin = max(marginGrowth*margin, 1-(1-margin)/over)
	}
	return nil
}

// rounding is a proposal in whole numbers.
type rounding struct {
	*assignment
	worths      []fixed.Uint128
	vectors     [][]fixed.Uint128
	multipliers []wholeReductions // of the spreads
	lost        *big.Int          // what limited machines hold beyond their price
	bound       int64
}

// assigned is the proof for others to read.
func (c *rounding) assigned() Assigned {
	out := Assigned{Bound: c.bound, Filled: slices.ContainsFunc(c.best.widths, func(n int) bool { return n > 0 }), Duals: fixed.Bigs(c.worths)}
	for i := range c.multipliers {
		t := &c.multipliers[i]
		out.DomainMultipliers = append(out.DomainMultipliers, t.less)
		for k := range t.Kinds {
			for _, part := range t.Kinds[k].Parts {
				out.Duals[part] = t.worths[k]
			}
		}
	}
	for _, v := range c.vectors {
		out.Vectors = append(out.Vectors, fixed.Bigs(v))
	}
	return out
}

func (a *assignment) rounded(factor float64) *rounding {
	c := &rounding{assignment: a}
	for class, w := range a.best.worths {
		if a.demand[class] == 0 {
			w = 0
		}
		c.worths = append(c.worths, fixed.Of(w*a.price*factor))
	}
	for _, v := range a.best.vectors {
		c.vectors = append(c.vectors, a.wholeVector(&v, factor))
	}
	return c
}

// wholeVector is a vector in whole numbers, of all resources of the market.
func (a *assignment) wholeVector(v *vector, factor float64) []fixed.Uint128 {
	whole := make([]fixed.Uint128, a.market.Dims)
	for e, d := range a.dims {
		whole[d] = fixed.Of(v.values[e] * a.price / a.unit[e] * factor)
	}
	return whole
}

// excess is what classes are worth beyond their resources. Where those are worth more, or more than
// there are numbers for, that is nothing.
func (m *Market) excess(worths, vector []fixed.Uint128) []fixed.Uint128 {
	out := make([]fixed.Uint128, len(worths))
	for i, w := range worths {
		if own, overflow := fixed.Dot(vector, m.Classes[i].Size); !overflow {
			out[i] = w.Minus(own)
		}
	}
	return out
}

// prove checks every machine on sale and adds the worths up. That is a proof unless over, how many
// times its price a machine holds at most, is above 1.
func (c *rounding) prove() (over float64) {
	over = 1
	excess := make([][]fixed.Uint128, len(c.vectors))
	for k, v := range c.vectors {
		excess[k] = c.market.excess(c.worths, v)
	}
	surplus := make([]*big.Int, len(c.market.Supplies))
	for i := range c.machines {
		x := &c.machines[i]
		at := c.best.proof[i]
		held, overflow := c.held(x, c.vectors[at], excess[at])
		price := fixed.Whole(x.price)
		if !overflow && held.Greater(price) && c.best.width(i) > 0 {
			held = c.fullest(x, c.vectors[at], held, c.best.width(i))
		}
		if overflow {
			return math.Inf(1)
		}
		if x.supply < 0 {
			if held.Greater(price) {
				over = max(over, held.Float64()/price.Float64(), math.Nextafter(1, 2))
			}
			continue
		}
		if over := held.Minus(price).Big(); surplus[x.supply] == nil || over.Cmp(surplus[x.supply]) > 0 {
			surplus[x.supply] = over
		}
	}
	if over > 1 {
		return over
	}
	c.lost = new(big.Int)
	for s, over := range surplus {
		if over != nil {
			c.lost.Add(c.lost, over.Mul(over, big.NewInt(c.market.Supplies[s].Count)))
		}
	}
	total := c.total()
	total.Sub(total, c.lost)
	c.bound = fixed.Ceil(total)
	return over
}

// total is what all pods are worth together.
func (c *rounding) total() *big.Int {
	sum := new(big.Int)
	for i := range c.multipliers {
		c.multipliers[i].addTo(sum)
	}
	for i, w := range c.worths {
		if !c.parts.Has(i) {
			sum.Add(sum, new(big.Int).Mul(w.Big(), big.NewInt(c.market.Classes[i].Count)))
		}
	}
	return sum
}

// held is the worth that a machine can hold at most, as far as a vector tells.
func (c *rounding) held(x *machine, vector, excess []fixed.Uint128) (sum fixed.Uint128, overflow bool) {
	sum, overflow = fixed.Dot(vector, x.cap)
	for w, word := range x.users {
		for ; word != 0 && !overflow; word &= word - 1 {
			class := w<<6 + bits.TrailingZeros64(word)
			if excess[class].IsZero() {
				continue
			}
			var more fixed.Uint128
			if more, overflow = excess[class].Times(uint64(c.market.alone(x, class))); !overflow {
				sum, overflow = sum.Plus(more)
			}
		}
	}
	return sum, overflow
}

// fullest is the worth that a machine can hold at most, by every pattern that is worth
// more than it costs as far as a vector tells. held is what that vector says itself.
func (c *rounding) fullest(x *machine, vector []fixed.Uint128, held fixed.Uint128, width int) fixed.Uint128 {
	shift := uint(max(0, held.BitLen()-wholeBits))
	v := c.market.knapsack(x)
	if !v.Countable() {
		return held
	}
	s := &knapsack.Search{Knapsack: v, Width: width, Floor: int64(fixed.Whole(x.price).Shifted(shift, false))}
	for _, class := range v.Classes {
		s.Worths = append(s.Worths, int64(c.worths[class].Shifted(shift, true)))
	}
	for d, row := range v.Rows {
		unit, overflow := vector[row].Times(uint64(v.Units[d]))
		if overflow {
			return held
		}
		s.Values = append(s.Values, int64(unit.Shifted(shift, true)))
	}
	most := fixed.Int(s.Run().Bound)
	for range shift {
		most, _ = most.Plus(most)
	}
	if most.Greater(held) {
		return held
	}
	return most
}
