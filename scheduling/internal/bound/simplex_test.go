package bound

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomCovering has rows, columns and some bounded columns, scaled so that the
// stand-ins cost what the best column for their row costs.
func randomCovering(rng *rand.Rand) *covering {
	c := &covering{rows: 1 + rng.IntN(6)}
	n, bounded := 5+rng.IntN(60), rng.IntN(6)
	most := make([]float64, c.rows)
	for j := range n + bounded {
		for d := range c.rows {
			v := max(0, rng.Float64()*1.3-0.3)
			c.a = append(c.a, v)
			if j < n {
				most[d] = max(most[d], v)
			}
		}
		if j >= n {
			c.upper = append(c.upper, rng.Float64())
		}
	}
	for k := range c.a {
		c.a[k] /= most[k%c.rows]
		if k >= n*c.rows {
			c.a[k] *= 2
		}
	}
	for range c.rows {
		c.b = append(c.b, rng.Float64())
	}
	return c
}

// value is the dual objective of worths, which must be feasible for the columns.
func (c *covering) value(t *testing.T, y []float64) float64 {
	t.Helper()
	total := 0.0
	for d := range y {
		require.GreaterOrEqual(t, y[d], -1e-9)
		total += y[d] * c.b[d]
	}
	n := c.columns() - len(c.upper)
	for j := range c.columns() {
		worth := 0.0
		for d := range y {
			worth += y[d] * c.a[j*c.rows+d]
		}
		if j < n {
			require.LessOrEqual(t, worth, 1+1e-9)
		} else {
			total -= c.upper[j-n] * max(0, worth-1)
		}
	}
	return total
}

// cost is the primal objective of the state, which must be feasible.
func (s *simplex) objective(t *testing.T) float64 {
	t.Helper()
	total := 0.0
	for i, j := range s.basis {
		require.GreaterOrEqual(t, s.x[i], -1e-9)
		require.LessOrEqual(t, s.x[i], s.bound(j)+1e-9)
		total += s.cost(j) * s.x[i]
	}
	for k, up := range s.atUpper {
		if up {
			require.False(t, s.inBasis[s.columns()-len(s.upper)+k])
			total += s.upper[k]
		}
	}
	return total
}

// Both objectives meet at the optimum, whichever rule chooses the columns.
func TestSimplexDuality(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for range 400 {
		c := randomCovering(rng)
		s := newSimplex(c)
		s.run(pivotLimit)
		assert.InDelta(t, s.objective(t), c.value(t, s.y), 1e-9)

		bland := newSimplex(c)
		for range pivotLimit {
			bland.price()
			entering, down := bland.choose(true)
			if entering < 0 {
				break
			}
			_, ok := bland.pivot(entering, down)
			require.True(t, ok)
		}
		assert.InDelta(t, s.objective(t), bland.objective(t), 1e-9)
	}
}

// The objective never rises on the way.
func TestSimplexDescends(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 15))
	for range 50 {
		s := newSimplex(randomCovering(rng))
		last := s.objective(t)
		for {
			s.price()
			entering, down := s.choose(false)
			if entering < 0 {
				break
			}
			_, ok := s.pivot(entering, down)
			require.True(t, ok)
			now := s.objective(t)
			require.LessOrEqual(t, now, last+1e-9)
			last = now
		}
	}
}

// Computing the state anew from the basis changes nothing but rounding.
func TestSimplexRefresh(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 16))
	for range 200 {
		s := newSimplex(randomCovering(rng))
		s.run(rng.IntN(12))
		x, y := append([]float64(nil), s.x...), append([]float64(nil), s.y...)
		for i := range s.inverse {
			for d := range s.inverse[i] {
				s.inverse[i][d] += 0.5
			}
			s.x[i] = -1
		}
		require.True(t, s.refresh())
		s.price()
		assert.InDeltaSlice(t, x, s.x, 1e-9)
		assert.InDeltaSlice(t, y, s.y, 1e-9)
	}
	s := newSimplex(&covering{rows: 2, a: []float64{1, 1, 2, 2}, b: []float64{1, 1}})
	s.basis = []int{0, 1}
	assert.False(t, s.refresh(), "a singular basis")
}

// A run that is cut short leaves worths that Resource would only have to shrink.
func TestSimplexLimit(t *testing.T) {
	c := randomCovering(rand.New(rand.NewPCG(3, 17)))
	_, y := c.solve(0)
	for _, v := range y {
		assert.InDelta(t, 1, v, 0, "the stand-ins' price")
	}
}

// A column that nothing stops ends the run instead of dividing by zero.
func TestSimplexUnbounded(t *testing.T) {
	s := newSimplex(&covering{rows: 1, a: []float64{0}, b: []float64{1}})
	_, ok := s.pivot(0, false)
	assert.False(t, ok)
}
