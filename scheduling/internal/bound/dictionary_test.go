package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// covered is a linear program with the same numbers for a dictionary and for a master. Rows from most
// on ask for no more than so much.
type covered struct {
	prices []float64
	has    [][]float64 // by row and machine
	wanted []float64
	most   int
}

func someCovered(rng *rand.Rand) covered {
	c := covered{most: 1 + rng.IntN(5)}
	machines, rows := 2+rng.IntN(12), c.most+rng.IntN(4)
	for range machines {
		c.prices = append(c.prices, 0.5+rng.Float64())
	}
	for r := range rows {
		row := make([]float64, machines)
		for i := range row {
			switch {
			case r >= c.most:
				row[i] = -float64(rng.IntN(2))
			case rng.IntN(4) > 0:
				row[i] = rng.Float64()
			}
		}
		c.has = append(c.has, row)
		if r < c.most {
			c.wanted = append(c.wanted, 1)
		} else {
			c.wanted = append(c.wanted, -float64(rng.IntN(4)))
		}
	}
	return c
}

const coveredDearest = 1e5

// value is what it comes to by primal exchanges, where each row that asks for something can also be
// met for a price.
func (c *covered) value() float64 {
	alone := make([]column, c.most)
	for r := range alone {
		alone[r] = column{rows: []int{r}, counts: []float64{1}, price: coveredDearest}
	}
	m := newMaster(c.wanted, alone)
	for i, price := range c.prices {
		x := column{price: price}
		for r := range c.has {
			if n := c.has[r][i]; n != 0 {
				x.rows, x.counts = append(x.rows, r), append(x.counts, n)
			}
		}
		m.add(x)
	}
	value, _ := m.solve()
	return value
}

func (c *covered) row(t *dictionary, r int) {
	t.row(-1-r, c.wanted[r], func(i int) float64 { return c.has[r][i] })
}

// check sees to it that a dictionary says of itself what is true: no machine has more than it costs
// by the prices of rows, and these come to the value.
func (c *covered) check(t *testing.T, x *dictionary, times float64, short int) {
	t.Helper()
	prices := make([]float64, len(c.wanted))
	for k, v := range x.zero {
		require.GreaterOrEqual(t, x.costs[k+1], 0.0)
		if v < 0 {
			prices[-1-v] = x.costs[k+1]
		}
	}
	if short >= 0 && x.basic[short] < 0 {
		prices[-1-x.basic[short]] = times
	}
	sum := 0.0
	for r, p := range prices {
		sum += p * c.wanted[r]
	}
	require.InDelta(t, x.costs[0], sum, 1e-7)
	for i, price := range c.prices {
		has := 0.0
		for r, p := range prices {
			has += p * c.has[r][i]
		}
		require.LessOrEqual(t, has, price+1e-7)
	}
}

// Whatever the order in which rows and machines come, a dictionary comes to what primal exchanges
// come to, and where a row can never be met it shows so.
func TestDictionaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 5))
	met, short := 0, 0
	for range 4000 {
		c := someCovered(rng)
		late := rng.IntN(len(c.prices)) // those that come late
		var first []int
		for i := late; i < len(c.prices); i++ {
			first = append(first, i)
		}
		x := newDictionary(first, c.prices)
		for r := range c.has {
			c.row(x, r)
		}
		for i := range late { // as if nothing could be gained by them before
			x.column(i, c.prices[i], func(v int) float64 { return c.has[-1-v][i] })
		}
		if rng.IntN(2) == 0 {
			x = x.clone(rng.IntN(3))
		}
		want, at := c.value(), x.solve()
		if at >= 0 {
			short++
			require.Greater(t, want, x.costs[0])
			if times := x.lift(at, 10); times > 0 {
				c.check(t, x, times, at)
			}
			continue
		}
		if slices.Max(x.costs[1:]) >= coveredDearest/2 {
			continue // some row is met so dearly that primal exchanges had better not meet it
		}
		met++
		require.InEpsilon(t, want, x.costs[0], 1e-6)
		c.check(t, x, 0, -1)
		// One more row, beside what is known, and all from what is basic.
		last := len(c.has) - 1
		again := newDictionary(append([]int{}, first...), c.prices)
		for i := range late {
			again.column(i, c.prices[i], func(v int) float64 { return c.has[-1-v][i] })
		}
		for r := range last {
			c.row(again, r)
		}
		again.solve()
		again = again.clone(0)
		c.row(again, last)
		require.Equal(t, -1, again.solve())
		require.InEpsilon(t, want, again.costs[0], 1e-6)
		c.check(t, again, 0, -1)
		anew := newDictionary(first, c.prices)
		for i := range late {
			anew.column(i, c.prices[i], func(v int) float64 { return c.has[-1-v][i] })
		}
		for r := range c.has {
			c.row(anew, r)
		}
		if anew.into(x.basic) {
			require.InEpsilon(t, want, anew.costs[0], 1e-6)
			require.Equal(t, -1, anew.solve())
			c.check(t, anew, 0, -1)
		}
	}
	t.Logf("%d are met, %d never are", met, short)
	assert.Greater(t, met, 1500)
	assert.Greater(t, short, 100)
}

// Machines come to what rows ask for, and the price is theirs.
func TestWhatIsHadOfMachines(t *testing.T) {
	x := newDictionary([]int{0, 1}, []float64{3, 4})
	x.row(-1, 6, func(i int) float64 { return []float64{1, 2}[i] })
	x.row(-2, -2, func(i int) float64 { return []float64{0, -1}[i] })
	require.Equal(t, -1, x.solve())
	assert.InDelta(t, 2*4+2*3, x.costs[0], 1e-12)
	had := map[int]float64{}
	x.each(func(i int, n float64) { had[i] = math.Round(n*1e9) / 1e9 })
	assert.Equal(t, map[int]float64{0: 2, 1: 2}, had)
	assert.Positive(t, x.work)
}
