package bound

import (
	"math"
	"slices"
)

// dictionary is the linear program of the cheapest machines, in parts, that meet some rows: all
// machines together have at least so much of each. It states what the price and some variables,
// the basic ones, come to by the others, which are 0. Variables are machines, by their numbers,
// and what is had of rows beyond what is asked for. The cost of every variable that is 0 is
// never negative, so that the price is one that no solution is below, whatever is still missing.
type dictionary struct {
	// zero are the variables that are 0, basic the others.
	zero, basic []int
	// cells has a row for each basic variable, and costs is one for the price: a constant, and
	// then one number for each variable that is 0.
	cells [][]float64
	costs []float64
	work  int64 // what it took
}

const (
	// missing is how much less than 0 a variable has to be to be put right, and leastPivot the
	// least number that is divided by for it.
	missing, leastPivot = 1e-9, 1e-6
	// hardly is how much more than another one a variable may cost that is divided by better.
	hardly = 1e-11
	// mostExchanges bounds how many variables are exchanged at once.
	mostExchanges = 400
)

func newDictionary(machines []int, prices []float64) *dictionary {
	t := &dictionary{zero: slices.Clone(machines), costs: make([]float64, 1, len(machines)+1)}
	for _, i := range machines {
		t.costs = append(t.costs, prices[i])
	}
	return t
}

// clone leaves room for another row and some columns.
func (t *dictionary) clone(columns int) *dictionary {
	width := len(t.costs) + columns
	room := make([]float64, 0, (len(t.cells)+2)*width)
	part := func(from []float64) []float64 {
		at := len(room)
		room = append(room, from...)
		room = room[:at+width]
		return room[at : at+len(from) : at+width]
	}
	out := &dictionary{zero: slices.Clone(t.zero), basic: slices.Clone(t.basic), costs: part(t.costs), cells: make([][]float64, 0, len(t.cells)+1)}
	for _, row := range t.cells {
		out.cells = append(out.cells, part(row))
	}
	return out
}

// row asks for so much of what machines have.
func (t *dictionary) row(variable int, wanted float64, has func(machine int) float64) {
	row := make([]float64, len(t.costs), cap(t.costs))
	row[0] = -wanted
	for k, v := range t.zero {
		if v >= 0 {
			row[k+1] = has(v)
		}
	}
	for r, v := range t.basic {
		if v < 0 {
			continue
		}
		if n := has(v); n != 0 {
			for k, x := range t.cells[r] {
				row[k] += n * x
			}
		}
	}
	t.basic, t.cells = append(t.basic, variable), append(t.cells, row)
	t.work += int64(len(t.cells) * len(row) / 2)
}

// column adds a machine of which there is none. has is what it has of a row.
func (t *dictionary) column(machine int, price float64, has func(variable int) float64) {
	own := make([]float64, len(t.cells))
	for r, v := range t.basic {
		if v < 0 {
			own[r] = has(v)
		}
	}
	for k, v := range t.zero {
		if v >= 0 {
			continue
		}
		if n := has(v); n != 0 {
			price -= n * t.costs[k+1]
			for r, row := range t.cells {
				own[r] -= n * row[k+1]
			}
		}
	}
	t.zero, t.costs = append(t.zero, machine), append(t.costs, max(0, price))
	for r := range t.cells {
		t.cells[r] = append(t.cells[r], own[r])
	}
	t.work += int64(len(t.cells) * len(t.cells))
}

// solve exchanges variables until nothing is missing. Where that cannot be, short is the row of
// which there is never enough; else it is -1.
func (t *dictionary) solve() (short int) {
	for range mostExchanges {
		row, least := -1, -missing
		for r := range t.cells {
			if t.cells[r][0] < least {
				row, least = r, t.cells[r][0]
			}
		}
		if row < 0 {
			return -1
		}
		column := t.entering(t.cells[row])
		if column == 0 {
			return row
		}
		t.exchange(row, column)
	}
	return -1
}

// entering is the variable that becomes basic for that of a row: of those that cost least for it, or
// hardly more, the one that is divided by best.
func (t *dictionary) entering(row []float64) (column int) {
	most := math.Inf(1)
	for k := 1; k < len(row); k++ {
		if row[k] > leastPivot {
			most = min(most, (t.costs[k]+hardly)/row[k])
		}
	}
	for k := 1; k < len(row); k++ {
		if row[k] > leastPivot && t.costs[k] <= most*row[k] && (column == 0 || row[k] > row[column]) {
			column = k
		}
	}
	return column
}

// exchange makes a variable 0 and another one basic. No cost may get negative by it.
func (t *dictionary) exchange(r, k int) {
	t.swap(r, k)
	t.forgive()
}

// forgive raises costs to 0 that rounding errors have made negative.
func (t *dictionary) forgive() {
	for e := 1; e < len(t.costs); e++ {
		t.costs[e] = max(0, t.costs[e])
	}
}

// swap is exchange whatever becomes of the costs.
func (t *dictionary) swap(r, k int) {
	row := t.cells[r]
	by := 1 / row[k]
	for e := range row {
		row[e] *= -by
	}
	row[k] = by
	t.basic[r], t.zero[k-1] = t.zero[k-1], t.basic[r]
	for o, other := range t.cells {
		if o != r {
			replace(other, row, k)
		}
	}
	replace(t.costs, row, k)
	t.work += int64(len(t.cells) * len(row))
}

// replace puts a row in the place of the variable that it is now what stands for.
func replace(in, row []float64, k int) {
	n := in[k]
	if n == 0 {
		return
	}
	in[k] = 0
	in = in[:len(row)]
	for e, x := range row {
		in[e] += n * x
	}
}

// into makes some variables basic, where that can be, so that as few others are as before. ok is
// false where costs are negative then.
func (t *dictionary) into(basic []int) (ok bool) {
	for _, v := range basic {
		k := slices.Index(t.zero, v)
		if k < 0 {
			continue
		}
		row, most := -1, leastPivot
		for r, was := range t.basic {
			if x := math.Abs(t.cells[r][k+1]); x > most && !slices.Contains(basic, was) {
				row, most = r, x
			}
		}
		if row < 0 {
			return false
		}
		t.swap(row, k+1)
	}
	for _, c := range t.costs[1:] {
		if c < -missing {
			return false
		}
	}
	t.forgive()
	return true
}

// lift raises the price by some number, by what shows that a row can never be met. price is what
// the basic variable of that row then costs.
func (t *dictionary) lift(short int, by float64) (price float64) {
	row := t.cells[short]
	price = by / -row[0]
	for _, x := range row[1:] {
		if price*x > missing {
			return 0 // not for sure
		}
	}
	for k := 1; k < len(row); k++ {
		t.costs[k] -= price * min(0, row[k])
	}
	t.costs[0] += by
	return price
}

// each tells what is had of each machine.
func (t *dictionary) each(f func(machine int, number float64)) {
	for r, v := range t.basic {
		if v >= 0 && t.cells[r][0] > missing {
			f(v, t.cells[r][0])
		}
	}
}
