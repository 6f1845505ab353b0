package bound

import (
	"cmp"
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
	last    int       // vector of the machine that was looked at last
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
	at, worth := d.all.tightest(i, c.vectors, c.worths, c.last)
	c.last = at
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

// weigh finds what all cuts prove together of a case. It begins with those
// that did so before and new ones, and adds others that the machines found do not meet.
func (d *parting) weigh(x *twig) {
	x.seen = len(d.cuts)
	active := d.active(x)
	for {
		m := d.program(d.picked(active), x.counts, x.machines)
		value := d.solved(m, len(x.machines))
		number := make([]float64, len(x.machines))
		for i, j := range m.basis {
			if at := j - len(m.columns) + len(x.machines); at >= 0 {
				number[at] = max(0, m.x[i])
			}
		}
		if missed := d.missed(x, number, active); len(missed) > 0 {
			active = append(active, missed...)
			continue
		}
		x.mix = map[int64]float64{}
		for k, n := range number {
			if n > 0 {
				x.mix[d.choices[x.machines[k]].Price] += n
			}
		}
		sumFrom(x.mix)
		if value > x.value { // beyond rounding errors
			x.value = value
			x.weights = make([]float64, len(d.cuts))
			for k, j := range active {
				x.weights[j] = max(0, m.y[k])
			}
		}
		return
	}
}

// active are the cuts that proved something of a case, and those that have come since.
func (d *parting) active(x *twig) (out []int) {
	for j := range d.cuts {
		if j >= len(x.weights) || x.weights[j] > 0 {
			out = append(out, j)
		}
	}
	return out
}

// picked are the cuts of some numbers.
func (d *parting) picked(numbers []int) []*cut {
	out := make([]*cut, len(numbers))
	for k, j := range numbers {
		out[k] = d.cuts[j]
	}
	return out
}

// missed are cuts that some machines hold less by than all pods are worth, but for the active
// ones: those of which most is missing.
func (d *parting) missed(x *twig, number []float64, active []int) (out []int) {
	share := make([]float64, len(d.cuts))
	for j, c := range d.cuts {
		if slices.Contains(active, j) {
			continue
		}
		held := 0.0
		for k, n := range number {
			if n > 0 {
				held += n * d.held(c, x.machines[k])
			}
		}
		if share[j] = 1 - held/max(c.sum, 1e-300); share[j] > leastMissed {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(share[j], share[i]) })
	return out[:min(len(out), mostMissed)]
}

const (
	// leastMissed is the share of a cut that has to be missing for it to be added, mostMissed
	// how many are added at once.
	leastMissed, mostMissed = 1e-6, 8
)

// program is the small linear program of the cheapest machines by some cuts and counts alone,
// in parts; its dual says what the cuts prove together.
func (d *parting) program(cuts []*cut, counts []count, machines []int) *master {
	wanted := make([]float64, 0, len(cuts)+len(counts))
	for _, c := range cuts {
		wanted = append(wanted, c.sum)
	}
	row := make([]int, len(counts)) // of each count
	for k, c := range counts {
		if c.least {
			row[k], wanted = len(wanted), append(wanted, c.wanted())
		}
	}
	alone := make([]column, len(wanted))
	for r, n := range wanted {
		alone[r] = column{rows: []int{r}, counts: []float64{n}, price: d.dearest}
	}
	for k, c := range counts {
		if !c.least {
			row[k], wanted = len(wanted), append(wanted, c.wanted())
		}
	}
	m := newMaster(wanted, alone)
	for _, i := range machines {
		m.add(d.column(cuts, counts, i, row))
	}
	return m
}

// solved is what such a program comes to.
func (d *parting) solved(m *master, machines int) float64 {
	value, pivots := m.solve()
	d.work -= int64(pivots) * int64(len(m.wanted)) * int64(len(m.wanted)+machines)
	return value
}

// column is a machine in that program.
func (d *parting) column(cuts []*cut, counts []count, i int, row []int) column {
	size := len(cuts) + len(row)
	out := column{price: d.all.prices[i], rows: make([]int, 0, size), counts: make([]float64, 0, size)}
	for j, c := range cuts {
		if h := d.held(c, i); h > 0 {
			out.rows, out.counts = append(out.rows, j), append(out.counts, h)
		}
	}
	for k, c := range counts {
		if sign := c.sign(d.choices[i].Price); sign != 0 {
			out.rows, out.counts = append(out.rows, row[k]), append(out.counts, sign)
		}
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
		vectors[o] = d.all.vector(d.widened(vectors[o].values))
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
