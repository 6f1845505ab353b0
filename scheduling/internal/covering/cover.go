package covering

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Cover returns the price of the cheapest machines whose total room suffices for the items, or most, if that is
// lower. It is a lower bound on every plan, because no plan has less room than the total request. In contrast
// to [Resource] it knows that machines are whole, which matters where a few large ones suffice.
//
// values are resource duals from [Resource], which prune the search. choices bounds the nodes of the search;
// where they do not suffice, the result is a lower bound of that price, or 0 for none. The same input gives the
// same result.
func Cover(in Input, values []*big.Int, most int64, choices int) int64 {
	c := newCoverSearch(in, values)
	if c == nil || most <= 0 {
		return 0
	}
	plain := 0.0
	for d, n := range c.wanted {
		plain += c.values[d] * float64(n)
	}
	for target, tries := most, 0; tries < coverTries; tries++ {
		c.best, c.left = target, choices
		if c.search(0, 0, c.wanted); c.left > 0 {
			return c.best
		}
		target = int64(plain + (float64(target)-plain)/2)
	}
	return 0
}

// coverTries is how many bounds are tried, each half as far above that on resources as
// the one before. careful is the share of a bound that is given up for rounding errors.
const (
	// coverTries is the number of targets that are tried, each half as far above the resource bound as the one
	// before. roundingMargin is the share of a bound that is given up for rounding errors.
	coverTries     = 3
	roundingMargin = 1e-9
)

// coverSearch is a depth-first search for the cheapest machines that cover a demand.
type coverSearch struct {
	values  []float64 // in nano-USD per hour for a base unit
	wanted  []int64
	options []coverOption // in ascending order of rate
	best    int64
	left    int // search nodes that are left
}

// coverOption is a machine on sale.
type coverOption struct {
	cap   []int64
	price int64
	count int64   // machines available
	rate  float64 // price per value of the capacity
}

func newCoverSearch(in Input, values []*big.Int) *coverSearch {
	demand, ok := in.demand()
	if !ok || len(values) != in.Dims {
		return nil
	}
	gratis, ok := in.gratis()
	if !ok {
		return nil
	}
	c := &coverSearch{}
	for d := range in.Dims {
		n := demand[d].Minus(gratis[d])
		if n.Int64() > math.MaxInt64/2 {
			return nil
		}
		c.wanted = append(c.wanted, n.Int64())
		c.values = append(c.values, fixed.Float64(values[d]))
	}
	for _, o := range in.Options {
		c.add(o.Cap, o.Price, math.MaxInt64)
	}
	for _, f := range in.Free {
		if f.Price > 0 && f.Count > 0 {
			c.add(f.Cap, f.Price, f.Count)
		}
	}
	c.pruneDominated()
	return c
}

func (c *coverSearch) add(capacity []int64, price, count int64) {
	x := coverOption{cap: make([]int64, len(c.wanted)), price: price, count: count}
	worth := 0.0
	for d, n := range c.wanted {
		x.cap[d] = min(at(capacity, d), n)
		worth += c.values[d] * float64(x.cap[d])
	}
	x.rate = math.Inf(1)
	if worth > 0 {
		x.rate = float64(price) / worth
	}
	c.options = append(c.options, x)
}

// pruneDominated removes options that another one dominates, and sorts the others by rate.
func (c *coverSearch) pruneDominated() {
	slices.SortStableFunc(c.options, func(a, b coverOption) int { return cmp.Compare(a.price, b.price) })
	var kept []coverOption
	for _, x := range c.options {
		if !slices.ContainsFunc(kept, func(k coverOption) bool { return k.count == math.MaxInt64 && model.Fits(k.cap, x.cap) }) {
			kept = append(kept, x)
		}
	}
	slices.SortStableFunc(kept, func(a, b coverOption) int { return cmp.Compare(a.rate, b.rate) })
	c.options = kept
}

// search decides the number of machines of the next option, for a cost so far and a demand that is left.
func (c *coverSearch) search(next int, cost int64, wanted []int64) {
	if c.left--; c.left <= 0 {
		return
	}
	worth, open := 0.0, false
	for d, n := range wanted {
		if n > 0 {
			worth, open = worth+c.values[d]*float64(n), true
		}
	}
	if !open {
		c.best = min(c.best, cost)
		return
	}
	// Options are in order of rate, so the rest costs at least its value times this rate.
	if next == len(c.options) || float64(cost)+worth*c.options[next].rate*(1-roundingMargin) >= float64(c.best) {
		return
	}
	x := &c.options[next]
	k := int64(0)
	for d, n := range wanted {
		if n > 0 && x.cap[d] > 0 {
			k = max(k, (n-1)/x.cap[d]+1)
		}
	}
	if k = min(k, x.count); x.price > 0 {
		k = min(k, (c.best-cost)/x.price)
	}
	after := make([]int64, len(wanted))
	for ; k >= 0 && c.left > 0; k-- {
		for d, n := range wanted {
			after[d] = n - min(n, fixed.Product(k, x.cap[d]))
		}
		c.search(next+1, cost+k*x.price, after)
	}
}
