package linear

import (
	"iter"
	"slices"
)

const (
	// restPivots is the number of pivots after which the inverse is computed again.
	restPivots = 64
	// tolerance is the reduced gain, as a share of its cost, that a column must have to enter. smallest is the
	// least pivot element, except leastPivot for the inversion of the basis.
	tolerance, smallest = 1e-9, 1e-9
	leastPivot          = 1e-13
	// boundSlack is the distance at which a variable counts as being at its bound.
	boundSlack = 1e-10
	// From manyColumns columns on, only the mostCandidates with the largest gain of the last full pricing are
	// priced, as long as one of them gains (partial pricing).
	manyColumns, mostCandidates = 1024, 16
)

// Column is a variable: amounts of some rows at a cost above 0, at most Upper times; 0 is no bound.
type Column struct {
	Rows    []int32
	Amounts []float64
	Cost    float64
	Upper   float64
}

// Cover is the linear program
//
//	min Σ cost·x   subject to   Σ amounts·x ≥ wanted for every row,   0 ≤ x ≤ upper,
//
// solved by the revised simplex method with bounded variables. Columns can be added between
// solutions, which go on from where the last one ended.
type Cover struct {
	wanted     []float64
	standIn    []float64 // cost of a unit of each row by its stand-in (artificial variable)
	columns    []Column
	basis      []int // ≥ 0 a column, −1−r the stand-in of row r, −1−rows−r its surplus
	place      []int // by column: its position in the basis, nowhere, or atUpper
	inverse    []float64
	x          []float64 // of the basic variables
	shifts     []float64 // perturbation of x: it decides which of several variables at 0 leaves
	duals      []float64 // by row
	entry      []float64 // entering column in terms of the basis
	nonzero    []int32   // columns of the pivot row of the inverse that are not 0
	since      int       // pivots since the inverse was computed
	work       int64
	looked     int64
	candidates []candidate
}

// nowhere and atUpper are places of non-basic columns: at 0 and at their upper bound.
const nowhere, atUpper = -1, -2

// candidate is a column that gains, with its gain per cost.
type candidate struct {
	column int
	gain   float64
}

// NewCover takes the demand of each row and the cost of a unit of its stand-in, which must exceed the cost by
// any useful column. A negative demand is an amount that columns may use up.
func NewCover(wanted, standIn []float64) *Cover {
	n := len(wanted)
	c := &Cover{
		wanted: wanted, standIn: standIn,
		basis: make([]int, n), inverse: make([]float64, n*n),
		x: make([]float64, n), shifts: make([]float64, n), duals: make([]float64, n), entry: make([]float64, n),
	}
	c.begin()
	return c
}

// begin sets up the basis of stand-ins. The shifts perturb the demand, so that no two basic variables reach 0
// at once.
func (c *Cover) begin() {
	for j := range c.place {
		c.place[j] = nowhere
	}
	for r, n := range c.wanted {
		if c.basis[r] = -1 - r; n <= 0 {
			c.basis[r] = -1 - len(c.wanted) - r
		}
	}
	c.refresh()
	for i := range c.shifts {
		// Multiples of the golden ratio are evenly distributed.
		c.shifts[i] = 1 + float64(uint64(i+1)*0x9e3779b97f4a7c15>>11)/(1<<53)
	}
}

// Reset makes c a program without columns for another demand of the same rows. It keeps the memory.
func (c *Cover) Reset(wanted []float64) {
	c.wanted, c.columns, c.place, c.candidates = wanted, c.columns[:0], c.place[:0], c.candidates[:0]
	c.work, c.looked = 0, 0
	c.begin()
}

// Grow reserves memory for more columns.
func (c *Cover) Grow(columns int) {
	c.columns, c.place = slices.Grow(c.columns, columns), slices.Grow(c.place, columns)
}

// Add adds a column and returns its number.
func (c *Cover) Add(x Column) int {
	c.columns, c.place = append(c.columns, x), append(c.place, nowhere)
	return len(c.columns) - 1
}

// Duals returns the dual of each row in the last solution. The slice is valid until the next one.
func (c *Cover) Duals() []float64 { return c.duals }

// Amount returns the value of a column in the last solution.
func (c *Cover) Amount(column int) float64 {
	switch at := c.place[column]; at {
	case nowhere:
		return 0
	case atUpper:
		return c.columns[column].Upper
	default:
		return max(0, c.x[at])
	}
}

// Missing returns the amount of a row that the last solution takes from its stand-in.
func (c *Cover) Missing(row int) float64 {
	for i, j := range c.basis {
		if j == -1-row {
			return max(0, c.x[i])
		}
	}
	return 0
}

// Cost returns the objective of the last solution.
func (c *Cover) Cost() float64 {
	sum := 0.0
	for i, j := range c.basis {
		sum += c.cost(j) * c.x[i]
	}
	for j, at := range c.place {
		if at == atUpper {
			sum += c.columns[j].Cost * c.columns[j].Upper
		}
	}
	return sum
}

// Basis yields the basic variables of the last solution: a column, or −1 with the slack of a row.
func (c *Cover) Basis() iter.Seq2[int, Slack] {
	return func(yield func(int, Slack) bool) {
		for _, j := range c.basis {
			column, slack := j, Slack{-1, -1}
			switch {
			case j >= 0:
			case -1-j < len(c.wanted):
				column, slack.StandIn = -1, -1-j
			default:
				column, slack.Surplus = -1, -1-j-len(c.wanted)
			}
			if !yield(column, slack) {
				return
			}
		}
	}
}

// Slack is a row whose stand-in or whose surplus is basic; −1 for none.
type Slack struct{ StandIn, Surplus int }

// Work returns the number of matrix entries changed so far.
func (c *Cover) Work() int64 { return c.work }

// Looked returns the number of columns priced so far.
func (c *Cover) Looked() int64 { return c.looked }

// Solve optimizes in at most limit pivots, from the last solution on. It reports false where it ended before
// the optimum: the present solution is feasible all the same.
func (c *Cover) Solve(limit int) bool {
	for range limit {
		if c.since >= max(restPivots, len(c.wanted)) {
			c.refresh()
		}
		entering, gains := c.choose()
		if !gains {
			return true
		}
		if !c.pivot(entering) {
			return false
		}
	}
	return false
}

// Gain returns the reduced gain of a non-basic column as a share of its cost: its value by the duals minus its
// cost, negated at the upper bound. It is 0 for a basic column.
func (c *Cover) Gain(column int) float64 {
	at := c.place[column]
	if at >= 0 {
		return 0
	}
	x := &c.columns[column]
	gain := c.surplus(x) / x.Cost
	if at == atUpper {
		return -gain
	}
	return gain
}
