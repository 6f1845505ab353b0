package covering

import (
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
)

const (
	// pivotLimit ends the simplex method in any case; it takes about three pivots
	// for each resource.
	pivotLimit = 1000
	// standInFactor prices the stand-in of a resource that only bins of limited number offer, in multiples of
	// the dearest unit price among them.
	standInFactor = 4
	// shrinkLimit bounds the attempts to make worths feasible.
	shrinkLimit = 64
)

// Result is a proven lower bound.
type Result struct {
	// Values are the duals of one base unit of each resource, in nano-USD per hour divided by 2^[fixed.Scale].
	// None is negative.
	Values []*big.Int
	// Bound is the lower bound in nano-USD per hour, rounded up to a whole number.
	Bound int64
}

// Resource returns the best resource bound of the input, up to rounding, with the duals that prove it. The same
// input gives the same result. Resources that no option offers have the dual 0, as have resources that an
// option of price 0 offers.
//
// The bound is 0 where a price is negative or sums exceed 128 bits.
func Resource(in Input) Result {
	none := Result{Values: make([]*big.Int, max(0, in.Dims))}
	for d := range none.Values {
		none.Values[d] = new(big.Int)
	}
	if !in.sound() {
		return none
	}
	demand, ok := in.demand()
	if !ok {
		return none
	}
	gratis, ok := in.gratis()
	if !ok {
		return none
	}
	p := newProgram(in, demand, gratis)
	if len(p.dims) == 0 {
		return none
	}
	duals := p.solve()
	if !in.shrink(duals) {
		return none
	}
	res := none
	for d, w := range duals {
		res.Values[d] = w.Big()
	}
	res.Bound = in.evaluate(duals, demand, gratis)
	return res
}

// program is the linear program in the resources whose dual can be above 0, scaled so that prices are 1. The
// stand-in of a resource is the constraint unit·y ≤ price, and scale is the dual at which that is tight.
type program struct {
	in      Input
	lp      *linear.Cover
	dims    []int     // resource of each row
	every   []int32   // all rows
	amounts []float64 // of all columns
	columns []Option
	unit    []int64
	price   []*big.Int
	scale   []float64
}

func newProgram(in Input, demand, gratis []fixed.Uint128) *program {
	p := &program{in: in}
	p.chooseRows(demand, gratis)
	wanted, standIn := make([]float64, len(p.dims)), slices.Repeat([]float64{1}, len(p.dims))
	largest := 0.0
	for r, d := range p.dims {
		p.every = append(p.every, int32(r))
		wanted[r] = demand[d].Minus(gratis[d]).Float64() * p.scale[r]
		largest = max(largest, wanted[r])
	}
	for r := range wanted {
		wanted[r] /= largest
	}
	p.lp = linear.NewCover(wanted, standIn)
	n := len(in.Options) + len(in.Free)
	p.lp.Grow(n)
	p.amounts, p.columns = make([]float64, 0, n*len(p.dims)), make([]Option, 0, n)
	for i := range in.Options {
		if o := &in.Options[i]; o.Price > 0 {
			p.addColumn(o.Cap, o.Price, 0)
		}
	}
	for i := range in.Free {
		if f := &in.Free[i]; f.Price > 0 && f.Count > 0 {
			p.addColumn(f.Cap, f.Price, float64(f.Count)*float64(f.Price)/largest)
		}
	}
	return p
}

// chooseRows finds the resources whose demand exceeds the free capacity and that some machine offers at a
// price, with the least unit price of each.
func (p *program) chooseRows(demand, gratis []fixed.Uint128) {
	type cheapest struct {
		ratio  float64 // price per unit
		unit   int64
		price  int64
		given  bool
		bought bool
	}
	best := make([]cheapest, p.in.Dims)
	offer := func(caps []int64, price int64, unlimited bool) {
		for d := range min(len(best), len(caps)) {
			c := &best[d]
			if caps[d] <= 0 {
				continue
			}
			if price == 0 {
				c.given = c.given || unlimited
				continue
			}
			ratio := float64(price) / float64(caps[d])
			// Options bound a dual from above, so the least price counts; bins only suggest how large it may
			// get, so the largest counts.
			if unlimited && (!c.bought || ratio < c.ratio) || !unlimited && !c.bought && ratio > c.ratio {
				c.ratio, c.unit, c.price = ratio, caps[d], price
			}
			c.bought = c.bought || unlimited
		}
	}
	for i := range p.in.Options {
		offer(p.in.Options[i].Cap, p.in.Options[i].Price, true)
	}
	for i := range p.in.Free {
		if p.in.Free[i].Count > 0 {
			offer(p.in.Free[i].Cap, p.in.Free[i].Price, false)
		}
	}
	for d, c := range best {
		if c.unit == 0 || c.given || demand[d].Minus(gratis[d]).IsZero() {
			continue
		}
		price := big.NewInt(c.price)
		if !c.bought {
			c.ratio *= standInFactor
			price.Mul(price, big.NewInt(standInFactor))
		}
		p.dims = append(p.dims, d)
		p.unit = append(p.unit, c.unit)
		p.price = append(p.price, price)
		p.scale = append(p.scale, c.ratio)
	}
}

// addColumn adds the capacity per price as a column, if there is any.
func (p *program) addColumn(caps []int64, price int64, upper float64) {
	start, some, perPrice := len(p.amounts), false, 1/float64(price)
	for r, d := range p.dims {
		c := at(caps, d)
		some = some || c > 0
		p.amounts = append(p.amounts, float64(c)*p.scale[r]*perPrice)
	}
	if some {
		p.lp.Add(linear.Column{Rows: p.every, Amounts: p.amounts[start:], Cost: 1, Upper: upper})
		p.columns = append(p.columns, Option{caps, price})
	}
}

// solve solves the program and returns the dual of every resource in fixed point: the exact solution of the
// final basis, rounded down.
func (p *program) solve() []fixed.Uint128 {
	p.lp.Solve(pivotLimit)
	out := make([]fixed.Uint128, p.in.Dims)
	var eqs []equation
	for column, slack := range p.lp.Basis() {
		eqs = append(eqs, p.equation(column, slack))
	}
	if numerators, denominator, ok := solveExactly(eqs); ok {
		for r, d := range p.dims {
			out[d] = fixed.Quotient(numerators[r], denominator)
		}
		return out
	}
	for r, d := range p.dims {
		if v := p.lp.Duals()[r] * p.scale[r]; !math.IsNaN(v) {
			out[d] = fixed.Of(v)
		}
	}
	return out
}

// equation returns the constraint that a basic variable makes tight.
func (p *program) equation(column int, slack linear.Slack) equation {
	eq := equation{coef: make([]int64, len(p.dims)), rhs: new(big.Int)}
	switch {
	case column >= 0:
		eq.rhs.SetInt64(p.columns[column].Price)
		for r, d := range p.dims {
			eq.coef[r] = at(p.columns[column].Cap, d)
		}
	case slack.StandIn >= 0:
		eq.coef[slack.StandIn], eq.rhs = p.unit[slack.StandIn], p.price[slack.StandIn]
	default:
		eq.coef[slack.Surplus] = 1
	}
	return eq
}
