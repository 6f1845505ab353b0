package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomInterior is a problem of a few machines and classes, some limited, some with
// places that matter.
func randomInterior(rng *rand.Rand) *interior {
	p := &interior{dims: 1 + rng.IntN(3), machines: 1 + rng.IntN(6), first: []int{0}}
	for range p.machines {
		for range p.dims {
			p.cap = append(p.cap, 0.1+rng.Float64())
		}
		p.price = append(p.price, 0.01+rng.Float64())
	}
	for o := 1; o < p.machines; o++ {
		if rng.IntN(4) > 0 {
			continue
		}
		p.price[o] *= float64(rng.IntN(2)) * 0.3
		if last := len(p.limits) - 1; last >= 0 && rng.IntN(2) == 0 {
			p.limits[last].machines = append(p.limits[last].machines, o)
		} else {
			p.limits = append(p.limits, limit{count: float64(1 + rng.IntN(4)), machines: []int{o}, sign: 1})
		}
	}
	for range 1 + rng.IntN(20) {
		p.demand = append(p.demand, float64(1+rng.IntN(50)))
		for range p.dims {
			p.size = append(p.size, 0.005+0.09*rng.Float64())
		}
		for o := range p.machines {
			if o > 0 && rng.IntN(3) == 0 {
				continue
			}
			q := pair{class: p.classes, machine: o}
			if rng.IntN(2) == 0 {
				q.k = float64(1 + rng.IntN(4))
			}
			p.pairs = append(p.pairs, q)
		}
		p.first = append(p.first, len(p.pairs))
		p.classes++
	}
	return newInterior(p)
}

// violation is by how much the worths overstep a constraint at most.
func (p *interior) violation() float64 {
	worst := 0.0
	held := make([]float64, p.machines)
	for o := range held {
		for d := range p.dims {
			held[o] += p.s[p.lambda+o*p.dims+d] * p.cap[o*p.dims+d]
		}
		if at := p.pi[o]; at >= 0 {
			held[o] -= p.s[at]
		}
	}
	for i := range p.pairs {
		q := &p.pairs[i]
		worst = max(worst, p.u[q.class]-p.worth(i))
		if q.k > 0 {
			held[q.machine] += q.k * p.s[q.mu]
		}
	}
	for o := range held {
		worst = max(worst, held[o]-p.price[o])
	}
	for _, s := range p.s {
		worst = max(worst, -s)
	}
	return worst
}

// cost is what the multipliers, as machines and assigned pods, pay, and by how much
// they fall short of holding every pod.
func (p *interior) cost() (cost, short float64) {
	for o := range p.machines {
		cost += p.price[o] * p.m[p.budget+o]
	}
	use := make([]float64, p.machines*p.dims)
	for c := range p.classes {
		missing := p.demand[c]
		for i := p.first[c]; i < p.first[c+1]; i++ {
			q := &p.pairs[i]
			missing -= p.m[i]
			if q.k > 0 {
				short = max(short, p.m[i]-q.k*p.m[p.budget+q.machine])
			}
			for d := range p.dims {
				use[q.machine*p.dims+d] += p.m[i] * p.size[c*p.dims+d]
			}
		}
		short = max(short, missing)
	}
	for o := range p.machines {
		for d := range p.dims {
			short = max(short, use[o*p.dims+d]-p.cap[o*p.dims+d]*p.m[p.budget+o])
		}
	}
	for _, l := range p.limits {
		left := l.count
		for _, o := range l.machines {
			left -= p.m[p.budget+o]
		}
		short = max(short, -left)
	}
	return cost, short
}

// Every iterate keeps within the constraints; at the end, worths and machines agree on
// the optimum, but where rounding errors got in the way.
func TestInteriorDuality(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	const problems = 1000
	off := 0
	for range problems {
		p := randomInterior(rng)
		require.LessOrEqual(t, p.violation(), 1e-12)
		p.run(1e-10, 3)
		require.LessOrEqual(t, p.violation(), 1e-9)
		p.run(1e-4, 60)
		require.LessOrEqual(t, p.violation(), 1e-8)
		cost, short := p.cost()
		before := p.objective()
		if short > 1e-3*(1+cost) || math.Abs(cost-before) > 1e-3*(1+cost) {
			off++
		}
		// Later steps only polish the worths; the machines get lost in rounding.
		p.run(1e-11, 60)
		require.LessOrEqual(t, p.violation(), 1e-8)
		require.InDelta(t, p.objective(), before, 2e-3*(1+cost))
		require.GreaterOrEqual(t, p.objective(), before-1e-5*(1+cost))
	}
	assert.LessOrEqual(t, off, problems/100)
}

// One machine, one resource: a pod is worth its share of the price.
func TestInteriorByHand(t *testing.T) {
	p := newInterior(&interior{dims: 1, machines: 1, classes: 2, cap: []float64{4}, price: []float64{2},
		size: []float64{1, 0.5}, demand: []float64{3, 8}, pairs: []pair{{class: 0}, {class: 1}}, first: []int{0, 1, 2}})
	steps := p.run(1e-11, 50)
	assert.Less(t, steps, 20)
	assert.InDelta(t, 0.5, p.u[0], 1e-9)
	assert.InDelta(t, 0.25, p.u[1], 1e-9)
	assert.InDelta(t, 7.0/4, p.m[p.budget], 1e-6, "machines")
	assert.Equal(t, 0, p.run(1e-9, 50), "nothing is left to do")

	places := newInterior(&interior{dims: 1, machines: 1, classes: 1, cap: []float64{1.9}, price: []float64{1},
		size: []float64{1}, demand: []float64{5}, pairs: []pair{{k: 1}}, first: []int{0, 1}})
	places.run(1e-11, 50)
	assert.InDelta(t, 1, places.u[0], 1e-7, "each has a machine for itself")

	limited := newInterior(&interior{dims: 1, machines: 2, classes: 1, cap: []float64{1, 1}, price: []float64{1, 0}, limits: []limit{{count: 2, machines: []int{1}, sign: 1}},
		size: []float64{0.25}, demand: []float64{20}, pairs: []pair{{}, {machine: 1}}, first: []int{0, 2}})
	limited.run(1e-11, 50)
	assert.InDelta(t, 3, limited.objective(), 1e-6, "two of five machines are free")
}

func TestInteriorWork(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 2))
	p := randomInterior(rng)
	before := p.work()
	assert.Positive(t, before)
	assert.Zero(t, p.run(1e-9, 0))
	assert.Equal(t, before, p.work())
}

// Rows that are worked on side by side end as those do that are worked on one by one, to the
// last bit.
func TestCholeskyByRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for n := range 30 {
		one, some := &interior{dims: 2}, &interior{dims: 2}
		for i := range n {
			row := make([]float64, n)
			for j := range i + 1 {
				row[j] = r.NormFloat64()
			}
			row[i] = float64(10 * n)
			if i%3 == 0 {
				row[i] = -row[i]
			}
			one.matrix, some.matrix = append(one.matrix, row), append(some.matrix, slices.Clone(row))
		}
		scaled := make([]float64, n)
		for k := range n {
			require.True(t, one.finish(k, 0, scaled))
		}
		require.True(t, some.cholesky())
		require.Equal(t, one.matrix, some.matrix)
	}
}
