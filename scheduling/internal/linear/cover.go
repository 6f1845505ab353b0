package linear

import (
	"iter"
	"slices"
)

const (
	// restPivots is how many pivots go by until the inverse is worked out anew.
	restPivots = 64
	// tolerance is the share of its cost that a column must gain to enter, and smallest
	// the smallest number that is divided by, but for leastPivot to invert the basis.
	tolerance, smallest = 1e-9, 1e-9
	leastPivot          = 1e-13
	// near is how much of a variable is as good as none.
	near = 1e-10
	// manyColumns is from how many columns on only those are looked at that gained most when
	// all were looked at last, as long as one of these gains; hopefuls is how many they are.
	manyColumns, hopefuls = 1024, 16
)

// Column is something to buy: so much of some rows for a cost above 0, as often as Upper says at
// most; 0 is no bound.
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
	wanted  []float64
	standIn []float64 // cost of a unit of each row from nowhere
	columns []Column
	basis   []int // ≥ 0 a column, −1−r the stand-in of row r, −1−rows−r its surplus
	place   []int // by column: its place in the basis, nowhere for none, or atUpper
	inverse []float64
	x       []float64 // of the basis
	shifts  []float64 // of x where a little else is wanted: of what comes to nothing at once they say what leaves
	worths  []float64 // of a unit of each row
	entry   []float64 // the entering column in terms of the basis
	some    []int32   // where a row of the inverse has a number
	since   int       // pivots since the inverse was worked out
	work    int64
	looked  int64
	hopes   []hope
}

// Places of columns outside of the basis.
const nowhere, atUpper = -1, -2

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
		x: make([]float64, n), shifts: make([]float64, n), worths: make([]float64, n), entry: make([]float64, n),
	}
	c.begin()
	return c
}

// begin takes everything from nowhere. The shifts are as if a little else were wanted than is, so that
// no two variables of the basis come to nothing together.
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
		// What multiplies the golden ratio is spread evenly.
		c.shifts[i] = 1 + float64(uint64(i+1)*0x9e3779b97f4a7c15>>11)/(1<<53)
	}
}

// Grow makes room for so many more columns.
func (c *Cover) Grow(columns int) {
	c.columns, c.place = slices.Grow(c.columns, columns), slices.Grow(c.place, columns)
}

// Add adds a column and returns its number.
func (c *Cover) Add(x Column) int {
	c.columns, c.place = append(c.columns, x), append(c.place, nowhere)
	return len(c.columns) - 1
}

// Duals are what a unit of each row is worth by the last solution. They are good until
// the next one.
func (c *Cover) Duals() []float64 { return c.worths }

// Amount is how much of a column the last solution buys.
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
	for j, at := range c.place {
		if at == atUpper {
			sum += c.columns[j].Cost * c.columns[j].Upper
		}
	}
	return sum
}

// Basis yields the variables of the last solution's basis: a column, or what a row has from
// nowhere, or its surplus; −1 stands for none.
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

// Slack is a row of which a solution has some from nowhere, or one of which it has more than is
// wanted; −1 for none.
type Slack struct{ StandIn, Surplus int }

// Work is how much has been done: one for each number that was changed.
func (c *Cover) Work() int64 { return c.work }

// Looked is how many columns have been looked at to find those that enter.
func (c *Cover) Looked() int64 { return c.looked }

// Solve finds the cheapest cover, in at most so many pivots, from where the last solution ended. It
// reports false where it ended before: what it has by then is a cover all the same.
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

// Gain is what a column outside of the basis is worth above its cost, as a share of that, or below
// it where as much is bought as there is.
func (c *Cover) Gain(column int) float64 {
	at := c.place[column]
	if at >= 0 {
		return 0
	}
	x := &c.columns[column]
	gain := c.surplusWorth(x) / x.Cost
	if at == atUpper {
		return -gain
	}
	return gain
}
