package bound

import (
	"math"
	"slices"
)

// cut is worths of classes with what they say of every plan: its machines hold no less than all
// pods are worth. That is so whatever machines cost, and so in every case.
type cut struct {
	worths  []float64
	vectors []vector
	sum     float64   // what all pods are worth
	holds   []float64 // by machine: the worth that it holds at most; NaN for not known yet
	proof   []int     // vector of each machine
	// counts and tolls are those of the case that it was found for.
	counts []count
	tolls  []int64
}

func (d *parting) newCut(worths []float64, vectors []vector, counts []count, tolls []int64) *cut {
	c := &cut{worths: worths, vectors: vectors, holds: make([]float64, len(d.choices)), proof: make([]int, len(d.choices)), counts: counts, tolls: tolls}
	for i := range c.holds {
		c.holds[i] = math.NaN()
	}
	for k, n := range d.all.demand {
		c.sum += n * worths[k]
	}
	return c
}

// held is the worth that a machine holds at most by a cut.
func (d *parting) held(c *cut, i int) float64 {
	if !math.IsNaN(c.holds[i]) {
		return c.holds[i]
	}
	at, worth := d.all.tightest(i, c.vectors, c.worths, -1)
	d.work -= int64(len(c.vectors) * len(d.all.demand))
	if d.merged == nil && worth > c.price(d.all, i)*(1+roundingErrors) {
		v := d.all.vector(d.all.sharpen(i, c.vectors[at].values, c.worths))
		if w := d.all.holds(i, &v, c.worths, math.Inf(1)); w < worth {
			at, worth = len(c.vectors), w
			c.vectors = append(c.vectors, v)
		}
	}
	c.holds[i], c.proof[i] = worth, at
	return worth
}

// price is what a machine costs in the case that the cut was found for.
func (c *cut) price(a *assignment, i int) float64 {
	m := &a.machines[i]
	return float64(m.price+m.surcharge(c.counts, c.tolls)) / a.price
}

// weigh finds what all cuts prove together of a case, and with which tolls. The cheapest machines
// by the cuts and counts alone, in parts, are a small linear program, and its dual says that.
func (d *parting) weigh(x *twig) {
	x.seen = len(d.cuts)
	wanted := make([]float64, 0, len(d.cuts)+len(x.counts))
	for _, c := range d.cuts {
		wanted = append(wanted, c.sum)
	}
	row := make([]int, len(x.counts))
	for k, c := range x.counts {
		if c.least {
			row[k], wanted = len(wanted), append(wanted, float64(c.number))
		}
	}
	alone := make([]column, len(wanted))
	for r, n := range wanted {
		alone[r] = column{rows: []int{r}, counts: []float64{n}, price: d.dearest}
	}
	for k, c := range x.counts {
		if !c.least {
			row[k], wanted = len(wanted), append(wanted, -float64(c.number))
		}
	}
	m := newMaster(wanted, alone)
	first := len(m.columns)
	for _, i := range x.machines {
		m.add(d.column(x, i, row))
	}
	value, pivots := m.solve()
	d.work -= int64(pivots) * int64(len(wanted)) * int64(len(wanted)+len(x.machines))
	x.mix = map[int64]float64{}
	for i, j := range m.basis {
		if j >= first {
			x.mix[d.choices[x.machines[j-first]].Price] += m.x[i]
		}
	}
	sumFrom(x.mix)
	if !(value > x.value) {
		return // nothing new, but for rounding errors
	}
	x.value = value
	x.weights, x.tolls = make([]float64, len(d.cuts)), make([]float64, len(row))
	for j := range x.weights {
		x.weights[j] = max(0, m.y[j])
	}
	for k, r := range row {
		x.tolls[k] = max(0, m.y[r])
	}
}

// column is a machine in that program.
func (d *parting) column(x *twig, i int, row []int) column {
	size := len(d.cuts) + len(row)
	out := column{price: d.all.prices[i], rows: make([]int, 0, size), counts: make([]float64, 0, size)}
	for j, c := range d.cuts {
		if h := d.held(c, i); h > 0 {
			out.rows, out.counts = append(out.rows, j), append(out.counts, h)
		}
	}
	for k, c := range x.counts {
		if d.choices[i].Price < c.from {
			continue
		}
		sign := 1.0
		if !c.least {
			sign = -1
		}
		out.rows, out.counts = append(out.rows, row[k]), append(out.counts, sign)
	}
	return out
}

// cutOf is the cut that a solution for merged classes stands for.
func (d *parting) cutOf(p *interior, few []candidate, counts []count, tolls []int64) *cut {
	worths, vectors := d.alike.suggestion(p), d.alike.suggested(p, few, nothing)
	if d.merged == nil {
		return d.newCut(worths, vectors, counts, tolls)
	}
	// What a merged class pays for places its members pay as they share in it.
	places := make([]float64, len(worths)*len(few))
	for c, m := range p.which {
		for i := p.first[c]; i < p.first[c+1]; i++ {
			if q := &p.pairs[i]; q.k > 0 {
				places[m*len(few)+q.machine] = p.s[q.mu]
			}
		}
	}
	own := make([]float64, len(d.all.demand))
	for k := range own {
		own[k] = math.Inf(1)
	}
	for o := range vectors {
		vectors[o] = d.all.vector(vectors[o].values)
		d.all.machines[few[o].machine].users.Each(func(k int) {
			own[k] = min(own[k], vectors[o].worths[k]+d.share[k]*places[d.merged[k]*len(few)+o])
		})
	}
	for k, w := range own {
		switch {
		case d.all.demand[k] == 0:
			own[k] = 0
		case math.IsInf(w, 1):
			own[k] = worths[d.merged[k]]
		}
	}
	return d.newCut(own, vectors, counts, tolls)
}

// roundedTolls is the share of a toll that is given up for rounding errors, so that no price
// falls below 0.
const roundedTolls = 1e-9

// settle makes what cuts prove of a case something that every machine bears.
func (d *parting) settle(x *twig) {
	x.whole = make([]int64, len(x.tolls))
	for k, t := range x.tolls {
		if toll := t * d.all.price; x.counts[k].least {
			x.whole[k] = max(0, int64(toll*(1-roundedTolls))-1)
		} else {
			x.whole[k] = int64(toll*(1+roundedTolls)) + 1
		}
	}
	a, ok := d.all.only(x.machines).withTolls(x.counts, x.whole)
	if !ok {
		return
	}
	worths := make([]float64, len(a.demand))
	for j, w := range x.weights {
		if w > 0 {
			for k, u := range d.cuts[j].worths {
				worths[k] += w * u
			}
		}
	}
	// A machine has a vector of its own where none of the others will do.
	var vectors []vector
	for k, i := range x.machines {
		if !slices.ContainsFunc(vectors, func(v vector) bool { return a.holds(k, &v, worths, a.prices[k]) <= a.prices[k] }) {
			vectors = append(vectors, d.mixed(x, i))
		}
	}
	a.best = a.polish(a.settle(worths, vectors))
	x.proven = a
}

// mixed is the vector of a machine that the cuts of a case make together.
func (d *parting) mixed(x *twig, i int) vector {
	values := make([]float64, len(d.all.dims))
	for j, w := range x.weights {
		if w == 0 {
			continue
		}
		c := d.cuts[j]
		d.held(c, i)
		for e, v := range c.vectors[c.proof[i]].values {
			values[e] += w * v
		}
	}
	return d.all.vector(values)
}
