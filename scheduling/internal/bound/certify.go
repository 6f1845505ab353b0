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
	// leastMargin is the share of all duals that is given up for rounding errors at first. While the proof
	// fails, the margin grows by at least the factor marginGrowth, up to mostMargin.
	leastMargin, marginGrowth, mostMargin = 1e-13, 100, 1e-2
)

// certify proves the best proposal in whole numbers. Its bound is 0 where that fails.
func (a *assignment) certify() Assigned {
	if a.best == nil || !(a.best.value > 0) {
		return Assigned{}
	}
	return a.certified(noMultipliers)
}

// noMultipliers returns no multipliers: the market has no spreads.
func noMultipliers(*wholeProof, float64) []wholeReductions { return nil }

// certified is certify with the multipliers that belong to the rounded duals.
func (a *assignment) certified(multipliers func(c *wholeProof, factor float64) []wholeReductions) Assigned {
	if c := a.proved(multipliers); c != nil {
		return c.assigned()
	}
	return Assigned{}
}

// proved rounds the best proposal down by the least margin with which the proof holds; nil where none does.
func (a *assignment) proved(multipliers func(c *wholeProof, factor float64) []wholeReductions) *wholeProof {
	a.best.dropUnusedVectors()
	for margin := leastMargin; margin <= mostMargin; {
		c := newWholeProof(a.scaled, a.best, 1-margin)
		c.multipliers = multipliers(c, 1-margin)
		over := c.prove()
		if over <= 1 {
			return c
		}
		// A search that drops states may find another value for other duals, so the margin does not follow from
		// over alone.
		margin = max(marginGrowth*margin, 1-(1-margin)/over)
	}
	return nil
}

// wholeProof is a proposal in whole numbers.
type wholeProof struct {
	scaled      *scaledMarket
	from        *proposal
	duals       []fixed.Uint128
	vectors     [][]fixed.Uint128
	multipliers []wholeReductions // of the spreads
	surpluses   []*big.Int        // by supply, the value that its machines hold beyond their price; nil without machines
	surplus     *big.Int          // the sum of surpluses
	bound       int64
}

// assigned returns the proof in the form that certificates are written from.
func (c *wholeProof) assigned() Assigned {
	out := Assigned{Bound: c.bound, Surpluses: map[string]*big.Int{}, Filled: slices.ContainsFunc(c.from.widths, func(n int) bool { return n > 0 }), Duals: fixed.Bigs(c.duals)}
	for i := range c.multipliers {
		t := &c.multipliers[i]
		out.DomainMultipliers = append(out.DomainMultipliers, t.less)
		for k := range t.Kinds {
			for _, part := range t.Kinds[k].Parts {
				out.Duals[part] = t.duals[k]
			}
		}
	}
	for _, v := range c.vectors {
		out.Vectors = append(out.Vectors, fixed.Bigs(v))
	}
	for s, over := range c.surpluses {
		if name := c.scaled.exact.Supplies[s].Name; name != "" && over != nil {
			out.Surpluses[name] = over
		}
	}
	return out
}

// newWholeProof rounds a proposal, times a factor of at most 1, to whole numbers.
func newWholeProof(sm *scaledMarket, from *proposal, factor float64) *wholeProof {
	c := &wholeProof{scaled: sm, from: from}
	for class, w := range from.duals {
		if sm.demand[class] == 0 {
			w = 0
		}
		c.duals = append(c.duals, fixed.Of(w*sm.price*factor))
	}
	for _, v := range from.vectors {
		c.vectors = append(c.vectors, sm.wholeVector(&v, factor))
	}
	return c
}

// excess returns, by class, the dual minus the value of the class's resources by a vector. It is 0 where the
// resources have the larger value, or one that overflows.
func (m *Market) excess(duals, vector []fixed.Uint128) []fixed.Uint128 {
	out := make([]fixed.Uint128, len(duals))
	for i, w := range duals {
		if own, overflow := fixed.Dot(vector, m.Classes[i].Size); !overflow {
			out[i] = w.Minus(own)
		}
	}
	return out
}

// prove checks every machine and adds up the bound. over is the largest ratio of a machine's value to its
// price: the proof holds only if it is 1.
func (c *wholeProof) prove() (over float64) {
	over = 1
	excess := make([][]fixed.Uint128, len(c.vectors))
	for k, v := range c.vectors {
		excess[k] = c.scaled.exact.excess(c.duals, v)
	}
	c.surpluses = make([]*big.Int, len(c.scaled.exact.Supplies))
	for i := range c.scaled.machines {
		x := &c.scaled.machines[i]
		at := c.from.proof[i]
		held, overflow := c.held(x, c.vectors[at], excess[at])
		price := fixed.Whole(x.price)
		if !overflow && held.Greater(price) && c.from.width(i) > 0 {
			held = c.fullest(x, c.vectors[at], held, c.from.width(i))
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
		// The whole amount would go to the members with the largest surplus for the amount that they take.
		over, s := held.Minus(price), &c.scaled.exact.Supplies[x.supply]
		most := over.Big()
		if s.Name != "" {
			// A checker compares worths with whole nano-USD.
			most = fixed.Whole(fixed.Ceil(most)).Big()
		}
		most = ceilQuo(most.Mul(most, big.NewInt(s.Count)), x.use)
		if known := c.surpluses[x.supply]; known == nil || most.Cmp(known) > 0 {
			c.surpluses[x.supply] = most
		}
	}
	if over > 1 {
		return over
	}
	c.surplus = new(big.Int)
	for _, over := range c.surpluses {
		if over != nil {
			c.surplus.Add(c.surplus, over)
		}
	}
	total := c.total()
	total.Sub(total, c.surplus)
	c.bound = fixed.Ceil(total)
	return over
}

// ceilQuo returns n/d, rounded up. n is at least 0, d at least 1. It changes n.
func ceilQuo(n *big.Int, d int64) *big.Int {
	if d == 1 {
		return n
	}
	return n.Quo(n.Add(n, big.NewInt(d-1)), big.NewInt(d))
}

// total returns the value of all pods, before the surplus of limited supply is subtracted.
func (c *wholeProof) total() *big.Int {
	sum := new(big.Int)
	for i := range c.multipliers {
		c.multipliers[i].addTo(sum)
	}
	for i, w := range c.duals {
		if !c.scaled.parts.Has(i) {
			sum.Add(sum, new(big.Int).Mul(w.Big(), big.NewInt(c.scaled.exact.Classes[i].Count)))
		}
	}
	return sum
}

// held returns the right side of the assignment bound for one machine: the largest value that a vector allows.
func (c *wholeProof) held(x *machine, vector, excess []fixed.Uint128) (sum fixed.Uint128, overflow bool) {
	sum, overflow = fixed.Dot(vector, x.cap)
	for w, word := range x.users {
		for ; word != 0 && !overflow; word &= word - 1 {
			class := w<<6 + bits.TrailingZeros64(word)
			if excess[class].IsZero() {
				continue
			}
			var more fixed.Uint128
			if more, overflow = excess[class].Times(uint64(c.scaled.exact.mostPods(x, class))); !overflow {
				sum, overflow = sum.Plus(more)
			}
		}
	}
	return sum, overflow
}

// fullest returns the largest value of any pattern of a machine, or an upper bound of it where the states of
// the search do not suffice. held is the bound by the vector alone, which it never exceeds.
func (c *wholeProof) fullest(x *machine, vector []fixed.Uint128, held fixed.Uint128, width int) fixed.Uint128 {
	shift := uint(max(0, held.BitLen()-knapsack.ValueBits))
	v := c.scaled.exact.knapsack(x)
	if !v.Countable() {
		return held
	}
	s := &knapsack.Search{Knapsack: v, Width: width, Floor: int64(fixed.Whole(x.price).Shifted(shift, false))}
	for _, class := range v.Classes {
		s.PodValues = append(s.PodValues, int64(c.duals[class].Shifted(shift, true)))
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
