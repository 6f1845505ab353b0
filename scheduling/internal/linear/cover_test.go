package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn is a random program in which a unit of each row from nowhere costs more than any
// column would. Where columns use up what is limited, others do not.
func drawn(seed uint64) (wanted, standIn []float64, columns []Column) {
	r := rand.New(rand.NewPCG(seed, 11))
	rows := 1 + r.IntN(8)
	for range rows {
		wanted = append(wanted, float64(r.IntN(40)))
		standIn = append(standIn, 1000)
	}
	limits := r.IntN(3)
	for range limits {
		wanted, standIn = append(wanted, -float64(r.IntN(4))), append(standIn, 1e5)
	}
	for range r.IntN(40) {
		c := Column{Cost: 1 + float64(r.IntN(50))}
		if r.IntN(3) == 0 {
			c.Upper = float64(1 + r.IntN(4))
		}
		for row := range rows {
			if r.IntN(2) == 0 {
				c.Rows, c.Amounts = append(c.Rows, int32(row)), append(c.Amounts, float64(1+r.IntN(9)))
			}
		}
		for row := range limits {
			if r.IntN(2) == 0 {
				c.Rows, c.Amounts = append(c.Rows, int32(rows+row)), append(c.Amounts, -1)
			}
		}
		columns = append(columns, c)
	}
	if limits > 0 {
		for row := range rows {
			columns = append(columns, Column{Rows: []int32{int32(row)}, Amounts: []float64{1}, Cost: 60})
		}
	}
	return wanted, standIn, columns
}

// An answer is right if it covers, and worths that no column exceeds say that nothing
// can be cheaper.
func optimal(t *testing.T, c *Cover, wanted, standIn []float64, columns []Column) {
	t.Helper()
	have := make([]float64, len(wanted))
	cost, worth := 0.0, 0.0
	for j := range columns {
		x := c.Amount(j)
		cost += x * columns[j].Cost
		for k, row := range columns[j].Rows {
			have[row] += x * columns[j].Amounts[k]
		}
		held := 0.0
		for k, row := range columns[j].Rows {
			held += c.Duals()[row] * columns[j].Amounts[k]
		}
		if upper := columns[j].Upper; upper > 0 {
			assert.LessOrEqual(t, x, upper*(1+1e-6), "column %d", j)
			worth -= upper * max(0, held-columns[j].Cost)
			continue
		}
		assert.LessOrEqual(t, held, columns[j].Cost*(1+1e-6), "column %d", j)
	}
	for row := range wanted {
		missing := c.Missing(row)
		cost += missing * standIn[row]
		assert.InDelta(t, 0, math.Min(0, have[row]+missing-wanted[row]), 1e-6, "row %d", row)
		assert.GreaterOrEqual(t, c.Duals()[row], -1e-6, "row %d", row)
		assert.LessOrEqual(t, c.Duals()[row], standIn[row]*(1+1e-6), "row %d", row)
		worth += c.Duals()[row] * wanted[row]
	}
	assert.InDelta(t, cost, worth, 1e-6*(1+cost))
	assert.InDelta(t, cost, c.Cost(), 1e-6*(1+cost))
}

func TestCoversAreOptimal(t *testing.T) {
	for seed := range uint64(500) {
		wanted, standIn, columns := drawn(seed)
		c := NewCover(wanted, standIn)
		for _, x := range columns {
			c.Add(x)
		}
		require.True(t, c.Solve(1000), "seed %d", seed)
		require.Positive(t, c.Work(), "seed %d", seed)
		optimal(t, c, wanted, standIn, columns)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Columns that are added one by one lead to the same cost as all at once.
func TestColumnsMayComeLater(t *testing.T) {
	for seed := range uint64(200) {
		wanted, standIn, columns := drawn(seed)
		all, each := NewCover(wanted, standIn), NewCover(wanted, standIn)
		for i, x := range columns {
			assert.Equal(t, i, all.Add(x))
			each.Add(x)
			require.True(t, each.Solve(1000))
		}
		require.True(t, all.Solve(1000))
		require.True(t, each.Solve(1000))
		assert.InDelta(t, all.Cost(), each.Cost(), 1e-6*(1+all.Cost()), "seed %d", seed)
		optimal(t, each, wanted, standIn, columns)
	}
}

// What is cut short is a cover, only a dearer one.
func TestCutShort(t *testing.T) {
	for seed := range uint64(50) {
		wanted, standIn, columns := drawn(seed)
		c := NewCover(wanted, standIn)
		for _, x := range columns {
			c.Add(x)
		}
		last := math.Inf(1)
		for !c.Solve(1) {
			assert.LessOrEqual(t, c.Cost(), last*(1+1e-9)+1e-6)
			last = c.Cost()
		}
		optimal(t, c, wanted, standIn, columns)
	}
}

// A program that grows a few columns at a time ends where one does that has all from the start.
func TestGoingOnIsSolving(t *testing.T) {
	for seed := range uint64(300) {
		wanted, standIn, columns := drawn(seed)
		c := NewCover(wanted, standIn)
		for len(columns) > 0 {
			n := min(len(columns), 3)
			for _, x := range columns[:n] {
				c.Add(x)
			}
			columns = columns[n:]
			require.True(t, c.Solve(10_000), "seed %d", seed)
		}
		_, _, columns = drawn(seed)
		optimal(t, c, wanted, standIn, columns)
	}
}

// A program that is reset is solved as a new one, step by step, whatever it held before.
func TestResetIsNew(t *testing.T) {
	for seed := range uint64(200) {
		wanted, standIn, columns := drawn(seed)
		solve := func(c *Cover) *Cover {
			for _, x := range columns {
				c.Add(x)
			}
			c.Solve(400)
			return c
		}
		fresh := solve(NewCover(wanted, standIn))
		again := solve(NewCover(wanted, standIn))
		again.Reset(wanted)
		solve(again)
		assert.Equal(t, fresh.Duals(), again.Duals(), "seed %d", seed)
		assert.Equal(t, []any{fresh.Cost(), fresh.Work(), fresh.Looked()}, []any{again.Cost(), again.Work(), again.Looked()}, "seed %d", seed)
	}
}

// With many columns not all are looked at each time, and the end is the optimum all the same.
func TestManyColumns(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 11))
		wanted, standIn := make([]float64, 20), make([]float64, 20)
		for r := range wanted {
			wanted[r], standIn[r] = float64(rng.IntN(50)), 1e6
		}
		columns := make([]Column, 3*manyColumns/2)
		for j := range columns {
			x := Column{Cost: 1 + 100*rng.Float64()}
			for r := range wanted {
				if rng.IntN(4) == 0 {
					x.Rows, x.Amounts = append(x.Rows, int32(r)), append(x.Amounts, float64(1+rng.IntN(9)))
				}
			}
			columns[j] = x
		}
		c := NewCover(wanted, standIn)
		for _, x := range columns {
			c.Add(x)
		}
		require.True(t, c.Solve(10_000), "seed %d", seed)
		optimal(t, c, wanted, standIn, columns)
		assert.Greater(t, c.Looked(), int64(len(columns)))
	}
}
