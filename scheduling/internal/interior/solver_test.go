package interior

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// random has machines of which each lets in some of the classes, the last one all of them. Of
// some there are only so many, or at least so many.
func random(rng *rand.Rand) Problem {
	p := Problem{Dims: 1 + rng.IntN(3), First: []int{0}, Exact: true}
	machines := 1 + rng.IntN(5)
	for o := range machines {
		for range p.Dims {
			p.Caps = append(p.Caps, 0.2+rng.Float64())
		}
		p.Prices = append(p.Prices, 0.2+rng.Float64())
		if o < machines-1 && rng.IntN(4) == 0 {
			p.Limits = append(p.Limits, Limit{Count: float64(rng.IntN(3)), Machines: []int{o}})
		}
	}
	if rng.IntN(3) == 0 {
		p.Limits = append(p.Limits, Limit{Count: float64(1 + rng.IntN(9)), AtLeast: true, Machines: []int{machines - 1}})
	}
	for c := range 1 + rng.IntN(8) {
		p.Demand = append(p.Demand, float64(1+rng.IntN(50)))
		for range p.Dims {
			p.Sizes = append(p.Sizes, 0.01+0.1*rng.Float64())
		}
		for o := range machines {
			if o == machines-1 || rng.IntN(3) > 0 {
				p.Pairs = append(p.Pairs, Pair{Class: c, Machine: o, Places: float64(max(0, rng.IntN(5)-2))})
			}
		}
		p.First = append(p.First, len(p.Pairs))
	}
	return p
}

// The sum of the duals of pods equals the price of the machines, and no machine's pods have duals above its price.
func TestSolver(t *testing.T) {
	early := 0
	for seed := range uint64(300) {
		p := New(random(rand.New(rand.NewPCG(seed, 5))))
		assert.Positive(t, p.Work())
		steps := p.Run(1e-8, 60)
		require.Less(t, steps, 60, "seed %d", seed)
		if p.Residual() > 1e-6 {
			early++ // rounding errors took over
			continue
		}
		worth, paid := 0.0, 0.0
		for c, n := range p.Demand {
			worth += n * p.Worth(c)
		}
		for o, price := range p.Prices {
			paid += price * p.Bought(o)
		}
		for i, l := range p.Limits {
			if l.AtLeast {
				worth += l.Count * p.LimitDual(i)
			} else {
				worth -= l.Count * p.LimitDual(i)
			}
		}
		require.InEpsilon(t, paid, worth, 1e-5, "seed %d", seed)
		held := make([]float64, len(p.Prices))
		for o := range held {
			for d, v := range p.Values(o) {
				require.GreaterOrEqual(t, v, 0.0)
				held[o] += v * p.Caps[o*p.Dims+d]
			}
		}
		for _, q := range p.Pairs {
			over := p.Worth(q.Class)
			for d, v := range p.Values(q.Machine) {
				over -= v * p.Sizes[q.Class*p.Dims+d]
			}
			if q.Places == 0 {
				require.LessOrEqual(t, over, 1e-6, "seed %d", seed)
			}
			held[q.Machine] += q.Places * max(0, over)
		}
		for i, l := range p.Limits {
			for _, o := range l.Machines {
				if l.AtLeast {
					held[o] += p.LimitDual(i)
				} else {
					held[o] -= p.LimitDual(i)
				}
			}
		}
		for o, price := range p.Prices {
			require.LessOrEqual(t, held[o], price*(1+1e-6), "seed %d", seed)
		}
	}
	assert.LessOrEqual(t, early, 3)
}

// The solver stops when it is told to, at a point that meets all constraints.
func TestSolverStops(t *testing.T) {
	problem := random(rand.New(rand.NewPCG(1, 5)))
	calls := 0
	problem.Late = func() bool { calls++; return calls > 3 }
	assert.Equal(t, 3, New(problem).Run(1e-8, 60))
	problem.Late = nil
	assert.Equal(t, 2, New(problem).Run(1e-8, 2))
}
