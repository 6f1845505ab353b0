package covering

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Cover looks for the cheapest machines that have together what the items request, and
// returns their price or most, whichever is lower: a lower bound on every plan, since no
// plan does with less than all of them request. Unlike worths of resources it knows that
// machines are whole ones, which counts where a few large ones suffice.
//
// values are worths of resources, as [Resource] finds them: by them it tells which
// choices of machines lead nowhere. It looks at so many choices at most, in part or
// whole, and settles for a lower bound where they do not suffice; 0 is none. The same
// input gives the same bound.
func Cover(in Input, values []*big.Int, most int64, choices int) int64 {
	c := newCovers(in, values)
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
	coverTries = 3
	careful    = 1e-9
)

// covers is a search for machines that cover what is wanted.
type covers struct {
	values  []float64 // in nano-USD per hour for a unit
	wanted  []int64
	options []coverer // in the order of what their capacity costs
	best    int64
	left    int // choices that may still be looked at
}

// coverer is a machine on sale.
type coverer struct {
	cap   []int64
	price int64
	count int64   // how many there are
	rate  float64 // price for a worth of 1
}

func newCovers(in Input, values []*big.Int) *covers {
	demand, ok := in.demand()
	if !ok || len(values) != in.Dims {
		return nil
	}
	gratis, ok := in.gratis()
	if !ok {
		return nil
	}
	c := &covers{}
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
	c.thin()
	return c
}

func (c *covers) add(capacity []int64, price, count int64) {
	x := coverer{cap: make([]int64, len(c.wanted)), price: price, count: count}
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

// thin leaves out what another option is as good as, and puts the rest in order.
func (c *covers) thin() {
	slices.SortStableFunc(c.options, func(a, b coverer) int { return cmp.Compare(a.price, b.price) })
	var kept []coverer
	for _, x := range c.options {
		if !slices.ContainsFunc(kept, func(k coverer) bool { return k.count == math.MaxInt64 && model.Fits(k.cap, x.cap) }) {
			kept = append(kept, x)
		}
	}
	slices.SortStableFunc(kept, func(a, b coverer) int { return cmp.Compare(a.rate, b.rate) })
	c.options = kept
}

// search decides how many of the next option there are, at a cost so far and with so much
// left to cover.
func (c *covers) search(next int, cost int64, wanted []int64) {
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
	// Whatever comes now costs at least as much for its worth.
	if next == len(c.options) || float64(cost)+worth*c.options[next].rate*(1-careful) >= float64(c.best) {
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
			after[d] = n - min(n, k*x.cap[d]) // k is no more than is wanted of some, so that nothing overflows
		}
		c.search(next+1, cost+k*x.price, after)
	}
}
