package linear

import (
	"cmp"
	"math"
	"slices"
)

const (
	// restPivots is how many pivots go by until the inverse is worked out anew.
	restPivots = 64
	// patience is how many pivots may gain nothing until the first column in line enters
	// and not the best, which cannot go round in circles.
	patience = 40
	// tolerance is the share of its cost that a column must gain to enter, and smallest
	// the smallest number that is divided by, but for leastPivot to invert the basis.
	tolerance, smallest = 1e-9, 1e-9
	leastPivot          = 1e-13
	// manyColumns is from how many columns on only those are looked at that gained most when
	// all were looked at last, as long as one of these gains; hopefuls is how many they are.
	manyColumns, hopefuls = 1024, 16
)

// Column is something to buy: so much of some rows for a cost above 0.
type Column struct {
	Rows    []int32
	Amounts []float64
	Cost    float64
}

// Cover is the linear program
//
//	min Σ cost·x   subject to   Σ amounts·x ≥ wanted for every row,   x ≥ 0.
//
// Columns can be added between solutions, which go on from where the last one ended.
type Cover struct {
	wanted  []float64
	standIn []float64 // cost of a unit of each row from nowhere
	columns []Column
	basis   []int // by row: ≥ 0 a column, −1−r the stand-in of row r, −1−rows−r its surplus
	place   []int // by column: its place in the basis, −1 for none
	inverse []float64
	x       []float64 // of the basis
	worths  []float64 // of a unit of each row
	entry   []float64 // the entering column in terms of the basis
	pivots  int
	since   int // pivots since the inverse was worked out
	looked  int64
	hopes   []hope
}

// hope is a column that gains, and how much per cost.
type hope struct {
	column int
	gain   float64
}

// NewCover takes what is wanted of each row and what a unit costs where no column has it:
// more than it would with any column that is of use. Less than nothing is wanted of what columns
// may use up.
func NewCover(wanted, standIn []float64) *Cover {
	n := len(wanted)
	c := &Cover{
		wanted: wanted, standIn: standIn,
		basis: make([]int, n), inverse: make([]float64, n*n),
		x: make([]float64, n), worths: make([]float64, n), entry: make([]float64, n),
	}
	for r := range n {
		if c.basis[r] = -1 - r; wanted[r] < 0 {
			c.basis[r] = -1 - n - r
		}
	}
	c.refresh()
	return c
}

// Grow makes room for so many more columns.
func (c *Cover) Grow(columns int) {
	c.columns, c.place = slices.Grow(c.columns, columns), slices.Grow(c.place, columns)
}

// Add adds a column and returns its number.
func (c *Cover) Add(x Column) int {
	c.columns, c.place = append(c.columns, x), append(c.place, -1)
	return len(c.columns) - 1
}

// Duals are what a unit of each row is worth by the last solution. They are good until
// the next one.
func (c *Cover) Duals() []float64 { return c.worths }

// Amount is how much of a column the last solution buys.
func (c *Cover) Amount(column int) float64 {
	if at := c.place[column]; at >= 0 {
		return max(0, c.x[at])
	}
	return 0
}

// Missing is how much of a row the last solution takes from nowhere.
func (c *Cover) Missing(row int) float64 {
	for i, j := range c.basis {
		if j == -1-row {
			return max(0, c.x[i])
		}
	}
	return 0
}

// Cost is what the last solution costs.
func (c *Cover) Cost() float64 {
	sum := 0.0
	for i, j := range c.basis {
		sum += c.cost(j) * c.x[i]
	}
	return sum
}

// Work is how much has been done: one for each number of the inverse and pivot.
func (c *Cover) Work() int64 { return int64(c.pivots) * int64(len(c.inverse)) }

// Looked is how many columns have been looked at to find those that enter.
func (c *Cover) Looked() int64 { return c.looked }

// Solve finds the cheapest cover, in at most so many pivots. It reports false where it
// ended before: what it has by then is a cover all the same.
func (c *Cover) Solve(limit int) bool {
	c.since = max(restPivots, len(c.wanted))
	return c.Continue(limit)
}

// Continue is Solve for a program that has some more columns than last time: it goes on with
// the numbers as they stand if they were worked out anew not many pivots ago.
func (c *Cover) Continue(limit int) bool {
	stalled := 0
	for range limit {
		if c.since >= max(restPivots, len(c.wanted)) {
			if !c.refresh() {
				return false
			}
			c.since = 0
		}
		entering, surplus := c.choose(stalled > patience)
		if entering < 0 && surplus < 0 {
			return true
		}
		step, ok := c.pivot(entering, surplus)
		if !ok {
			return false
		}
		c.pivots++
		c.since++
		if stalled++; step > 1e-12 {
			stalled = 0
		}
	}
	return false
}

// cost is that of a variable of the basis.
func (c *Cover) cost(j int) float64 {
	switch {
	case j >= 0:
		return c.columns[j].Cost
	case -1-j < len(c.wanted):
		return c.standIn[-1-j]
	}
	return 0
}

// choose returns the column, or the row whose surplus, to enter the basis; −1 for none.
func (c *Cover) choose(first bool) (column, surplus int) {
	column, best := c.chooseColumn(first)
	if first && column >= 0 {
		return column, -1
	}
	surplus = -1
	for r, worth := range c.worths {
		// A unit for nothing is as good as any gain.
		if -worth > tolerance*c.standIn[r] && (column < 0 || -worth > best*c.standIn[r]) {
			column, surplus, best = -1, r, -worth/c.standIn[r]
			if first {
				break
			}
		}
	}
	return column, surplus
}

// chooseColumn returns the column that gains most for its cost, or the first that gains, and
// how much; −1 for none.
func (c *Cover) chooseColumn(first bool) (column int, best float64) {
	column, best = -1, tolerance
	many := len(c.columns) >= manyColumns && !first
	if many {
		for _, x := range c.hopes {
			if gain := c.Gain(x.column); gain > best {
				column, best = x.column, gain
			}
		}
		c.looked += int64(len(c.hopes))
		if column >= 0 {
			return column, best
		}
	}
	c.hopes = c.hopes[:0]
	for j := range c.columns {
		gain := c.Gain(j)
		if gain > tolerance && many {
			c.hopes = append(c.hopes, hope{j, gain})
		}
		if gain > best {
			column, best = j, gain
			if first {
				break
			}
		}
	}
	c.looked += int64(len(c.columns))
	if len(c.hopes) > hopefuls {
		slices.SortStableFunc(c.hopes, func(a, b hope) int { return cmp.Compare(b.gain, a.gain) })
		c.hopes = c.hopes[:hopefuls]
	}
	return column, best
}

// Gain is what a column outside of the basis is worth above its cost, as a share of that.
func (c *Cover) Gain(column int) float64 {
	if c.place[column] >= 0 {
		return 0
	}
	x := &c.columns[column]
	sum := -x.Cost
	for k, r := range x.Rows {
		sum += c.worths[r] * x.Amounts[k]
	}
	return sum / x.Cost
}

// pivot brings a column, or the surplus of a row, into the basis.
func (c *Cover) pivot(column, surplus int) (step float64, ok bool) {
	n := len(c.wanted)
	gain := 0.0
	if column >= 0 {
		x := &c.columns[column]
		gain = -x.Cost
		for k, r := range x.Rows {
			gain += c.worths[r] * x.Amounts[k]
		}
		for i := range n {
			row, sum := c.inverse[i*n:][:n], 0.0
			for k, r := range x.Rows {
				sum += row[r] * x.Amounts[k]
			}
			c.entry[i] = sum
		}
	} else {
		gain = -c.worths[surplus]
		for i := range n {
			c.entry[i] = -c.inverse[i*n+surplus]
		}
	}
	leaving := -1
	step = math.Inf(1)
	for i, v := range c.entry {
		if v <= smallest {
			continue
		}
		if t := max(0, c.x[i]) / v; t < step || t == step && v > c.entry[leaving] {
			leaving, step = i, t
		}
	}
	if leaving < 0 {
		return 0, false
	}
	for i, v := range c.entry {
		c.x[i] -= step * v
	}
	c.x[leaving] = step
	scale := 1 / c.entry[leaving]
	row := c.inverse[leaving*n:][:n]
	for d := range row {
		row[d] *= scale
	}
	for i, v := range c.entry {
		if i == leaving || v == 0 {
			continue
		}
		other := c.inverse[i*n:][:n]
		for d, p := range row {
			other[d] -= v * p
		}
	}
	for d, p := range row {
		c.worths[d] -= gain * p
	}
	if j := c.basis[leaving]; j >= 0 {
		c.place[j] = -1
	}
	c.basis[leaving] = -1 - n - surplus
	if column >= 0 {
		c.basis[leaving], c.place[column] = column, leaving
	}
	return step, true
}

// refresh works inverse, solution and worths out from the basis. It reports false where
// rounding errors have made the basis useless.
func (c *Cover) refresh() bool {
	n := len(c.wanted)
	matrix, cells := make([][]float64, n), make([]float64, n*n)
	for i := range matrix {
		matrix[i] = cells[i*n:][:n:n]
	}
	for k, j := range c.basis {
		switch {
		case j >= 0:
			for e, r := range c.columns[j].Rows {
				matrix[r][k] += c.columns[j].Amounts[e]
			}
		case -1-j < n:
			matrix[-1-j][k] = 1
		default:
			matrix[-1-n-j][k] = -1
		}
	}
	inverse, ok := Invert(matrix, leastPivot)
	if !ok {
		return false
	}
	clear(c.worths)
	for i := range n {
		row := inverse[i]
		copy(c.inverse[i*n:][:n], row)
		sum, cost := 0.0, c.cost(c.basis[i])
		for d, v := range row {
			sum += v * c.wanted[d]
			c.worths[d] += cost * v
		}
		c.x[i] = sum
	}
	c.pivots += n // as much work
	return true
}
