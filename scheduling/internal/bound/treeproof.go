package bound

import (
	"math/big"
	"math/bits"
)

// Row is worths of classes that say of every plan that its machines hold no less than its pods are
// worth. They prove nothing of prices by themselves.
type Row struct {
	// Worths and Vectors are as those of [Assigned].
	Worths  []*big.Int
	Vectors [][]*big.Int
}

// Case is plans that are told apart by how many machines they buy that cost at least From: at
// most AtMost, or more. Or else it is proven by rows, each of which counts so many times, in parts
// of 2^[WeightScale]: no machine holds more worth than it costs with tolls, where what it holds by a
// row is rounded up to parts of 2^[HeldScale] of a nano-USD.
type Case struct {
	From, AtMost int64
	Fewer, More  *Case
	Rows         []int
	Weights      []int64
	// Tolls are those of [Assigned.CountTolls].
	Tolls []int64
}

// WeightScale is the exponent of the unit of weights.
const WeightScale = 30

// HeldScale is the exponent of the unit in which is counted what machines hold by rows.
const HeldScale = 16

// spared says how much more than it holds a machine is taken to hold by a row, in binary places, so
// that it may be worked out with rounding errors.
const spared = 32

// caseMargins are the shares of all weights that are given up for rounding errors, until the proof
// holds. Where many variables were exchanged there are more of them than [margins] allow for.
var caseMargins = [...]float64{1e-13, 1e-9, 1e-7, 1e-5, 1e-4}

// wholeCut is a cut in whole numbers.
type wholeCut struct {
	number  int // among those that prove something
	worths  []uint128
	vectors [][]uint128 // as far as they are needed
	excess  [][]uint128
	sum     *big.Int
	part    float64  // of the worths
	held    []uint64 // by machine, and one more; 0 for not known yet
}

// caseProof turns cases into whole numbers.
type caseProof struct {
	*parting
	whole []*wholeCut // by cut; nil for not needed yet
	rows  []Row
}

// proof returns what proves cases, with the least bound of all. Where halves cannot be proven, what
// was known of both together has to do.
func (p *caseProof) proof(x *bough) (out *Case, least int64, ok bool) {
	if x.fewer != nil {
		if fewer, a, ok := p.proof(x.fewer); ok {
			if more, b, ok := p.proof(x.more); ok {
				return &Case{From: x.by.from, AtMost: x.by.number, Fewer: fewer, More: more}, min(a, b), true
			}
		}
	}
	for _, margin := range caseMargins {
		if out, least, ok = p.tried(x, 1-margin); ok {
			return out, least, true
		}
	}
	return nil, 0, false
}

// tried proves a case with its weights and tolls, less a margin.
func (p *caseProof) tried(x *bough, factor float64) (out *Case, least int64, ok bool) {
	out = &Case{}
	var cuts []*wholeCut
	for _, w := range x.weights {
		c := p.cut(w.cut)
		if times := w.times / c.part * factor * (1 << WeightScale); times >= 1 && times < 1<<62 {
			cuts = append(cuts, c)
			out.Rows, out.Weights = append(out.Rows, w.cut), append(out.Weights, int64(times))
		}
	}
	for k := range x.counts {
		toll := x.tolls[k] * p.all.price
		switch c := &x.counts[k]; {
		case !(toll*float64(max(1, c.number)) < dearestTolls/2): // whatever is added to it
			return nil, 0, false
		case c.least:
			out.Tolls = append(out.Tolls, max(0, int64(toll*factor)-1))
		default:
			out.Tolls = append(out.Tolls, int64(toll*(2-factor))+1)
		}
	}
	for _, i := range p.amongRows(x.counts) {
		if !p.bears(i, cuts, x.counts, out) {
			return nil, 0, false
		}
	}
	total := new(big.Int)
	for k, c := range cuts {
		total.Add(total, new(big.Int).Mul(c.sum, big.NewInt(out.Weights[k])))
	}
	least = ceil(total, Scale+WeightScale) + owed(x.counts, out.Tolls)
	return out, least, true
}

// bears says that a machine holds no more worth than it costs.
func (p *caseProof) bears(i int, cuts []*wholeCut, counts []count, x *Case) bool {
	m := &p.all.machines[i]
	price := m.price + m.surcharge(counts, x.Tolls)
	if price < 0 {
		return false
	}
	var sum uint128
	for k, c := range cuts {
		held, ok := p.holding(x.Rows[k], c, i)
		if !ok {
			return false
		}
		hi, lo := bits.Mul64(held, uint64(x.Weights[k]))
		var over bool
		if sum, over = sum.plus(uint128{hi, lo}); over {
			return false
		}
	}
	hi, lo := bits.Mul64(uint64(price), 1<<(WeightScale+HeldScale))
	return !sum.greater(uint128{hi, lo})
}

// cut is one in whole numbers.
func (p *caseProof) cut(j int) *wholeCut {
	if p.whole[j] != nil {
		return p.whole[j]
	}
	c := p.cuts[j]
	w := &wholeCut{number: -1, part: min(1, p.dearest/c.sum), sum: new(big.Int), held: make([]uint64, len(p.choices)), vectors: make([][]uint128, len(c.vectors)), excess: make([][]uint128, len(c.vectors))}
	for k, worth := range c.worths {
		if p.all.demand[k] == 0 {
			worth = 0
		}
		w.worths = append(w.worths, fixedPointOf(worth*p.all.price*w.part))
		w.sum.Add(w.sum, new(big.Int).Mul(w.worths[k].big(), big.NewInt(p.all.market.Classes[k].Count)))
	}
	p.whole[j] = w
	return w
}

// holding is what a machine holds of a cut at most, in parts of 2^[HeldScale] of a nano-USD, and one
// more.
func (p *caseProof) holding(j int, w *wholeCut, i int) (most uint64, ok bool) {
	if w.held[i] > 0 {
		return w.held[i] - 1, true
	}
	c := p.cuts[j]
	p.held(c, i)
	at := c.proof[i]
	for len(w.vectors) < len(c.vectors) {
		w.vectors, w.excess = append(w.vectors, nil), append(w.excess, nil)
	}
	if w.vectors[at] == nil {
		w.vectors[at] = p.all.wholeVector(&c.vectors[at], w.part)
		w.excess[at] = p.all.market.excess(w.worths, w.vectors[at])
	}
	held, overflow := (&rounding{assignment: p.all}).held(&p.all.machines[i], w.vectors[at], w.excess[at])
	up := held.shifted(Scale-HeldScale, true)
	up += up>>spared + 1
	if overflow || held.bits() > Scale-HeldScale+62 {
		return 0, false
	}
	w.held[i] = up + 1
	return up, true
}

// number gives the rows that count their numbers, in the order in which cases have them.
func (p *caseProof) number(x *Case) {
	if x.Fewer != nil {
		p.number(x.Fewer)
		p.number(x.More)
		return
	}
	for k, j := range x.Rows {
		w := p.whole[j]
		if w.number < 0 {
			w.number = len(p.rows)
			p.rows = append(p.rows, w.row())
		}
		x.Rows[k] = w.number
	}
}

// row is the cut as others see it.
func (w *wholeCut) row() (out Row) {
	out.Worths = bigsOf(w.worths)
	for _, v := range w.vectors {
		if v != nil {
			out.Vectors = append(out.Vectors, bigsOf(v))
		}
	}
	return out
}
