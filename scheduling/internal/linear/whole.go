package linear

import "slices"

const (
	// WorkShare is the number of changed matrix entries that count as one unit of work, which takes some three
	// times as long as another unit.
	WorkShare = 32
	// wholePivots bounds one linear program.
	wholePivots = 400
	// covered is the share of a row that may be missing because of rounding.
	covered = 1e-9
	// wholeStandIn is the cost of a stand-in, in multiples of the largest unit cost by a column.
	wholeStandIn = 4
)

// Whole finds the cheapest whole columns that cover all rows, by branch and bound: each branch buys some
// columns and excludes others, and a linear program bounds the cost of the rest.
type Whole struct {
	// Work is how much was done so far.
	Work    int64
	rows    int
	shares  []float64 // by column: share of each row that it covers
	cost    []float64
	standIn []float64
	useless []bool // columns that are in no cover below the limit
	open    []branch
	lp      *Cover  // the last program; nil before the first
	every   []int32 // all rows
	columns []int   // of the last program
}

// NewWhole takes the cost of each column and its share of each row. It returns nil where there are no rows or
// no column covers one of them. Costs and shares are not copied.
func NewWhole(rows int, cost, shares []float64) *Whole {
	x := &Whole{rows: rows, cost: cost, shares: shares, standIn: make([]float64, rows)}
	for at, share := range shares {
		i := at % rows
		if dear := wholeStandIn * cost[at/rows] / share; share > 0 && (x.standIn[i] == 0 || dear < x.standIn[i]) {
			x.standIn[i] = dear
		}
	}
	if rows == 0 || slices.Contains(x.standIn, 0) {
		return nil
	}
	return x
}

// branch is a node of the search tree: numbers of bought columns, excluded columns, the cost so far, and a
// lower bound.
type branch struct {
	bought       []int32
	banned       []bool
	spent, bound float64
}

// Find returns the cheapest columns below the limit that at most so many linear programs find, each as often as
// it is bought; nil for none.
func (x *Whole) Find(limit float64, programs int) (bought []int) {
	n := len(x.cost)
	x.useless = make([]bool, n)
	x.open = append(x.open[:0], branch{bought: make([]int32, n), banned: make([]bool, n)})
	var best []int32
	for dive, tried := false, 0; tried < programs && len(x.open) > 0; tried++ {
		y := x.pop(dive)
		dive = false
		if max(y.bound, y.spent) >= limit {
			continue
		}
		rest, met := x.missing(y.bought)
		if met {
			best, limit = y.bought, y.spent
			continue
		}
		lp, columns := x.program(rest, y.banned)
		if lp == nil {
			continue
		}
		if y.bound = y.spent + lp.Cost(); y.bound >= limit {
			continue
		}
		if more, cost := x.greedyCover(rest, lp.Duals(), y.banned, limit-y.spent); more != nil {
			best, limit = slices.Clone(y.bought), y.spent+cost
			for _, k := range more {
				best[k]++
			}
		}
		if tried == 0 {
			x.excludeUseless(lp, limit)
		}
		if y.bound < limit {
			dive = x.branch(&y, lp, columns)
		}
	}
	for k, count := range best {
		for range count {
			bought = append(bought, k)
		}
	}
	return bought
}

// excludeUseless excludes columns whose reduced cost shows that no cover below the limit has them.
func (x *Whole) excludeUseless(lp *Cover, limit float64) {
	spare := limit - lp.Cost()
	for k, more := range x.cost {
		for i, worth := range lp.Duals() {
			more -= max(0, worth) * x.shares[k*x.rows+i]
		}
		x.useless[k] = more >= spare
	}
}

// pop removes the branch that was opened last, or else the one with the lowest bound.
func (x *Whole) pop(last bool) branch {
	at := len(x.open) - 1
	if !last {
		for i := range x.open {
			if x.open[i].bound < x.open[at].bound {
				at = i
			}
		}
	}
	y := x.open[at]
	x.open = slices.Delete(x.open, at, at+1)
	return y
}

// missing returns the share of each row that bought columns do not cover, and whether none is missing.
func (x *Whole) missing(bought []int32) (rest []float64, met bool) {
	rest = slices.Repeat([]float64{1}, x.rows)
	for k, count := range bought {
		if count > 0 {
			for i, v := range x.shares[k*x.rows:][:x.rows] {
				rest[i] -= float64(count) * v
			}
		}
	}
	met = true
	for i := range rest {
		if rest[i] > covered {
			met = false
		} else {
			rest[i] = 0
		}
	}
	return rest, met
}

// program solves the linear program for the rest. columns are its columns; lp is nil where it has no solution. Both are
// valid until the next program.
func (x *Whole) program(rest []float64, banned []bool) (lp *Cover, columns []int) {
	if x.lp == nil {
		x.lp = NewCover(rest, x.standIn)
		x.lp.Grow(len(x.cost))
		for i := range x.rows {
			x.every = append(x.every, int32(i))
		}
	} else {
		x.lp.Reset(rest)
	}
	lp, x.columns = x.lp, x.columns[:0]
	for k, cost := range x.cost {
		if !banned[k] && !x.useless[k] {
			lp.Add(Column{Rows: x.every, Amounts: x.shares[k*x.rows:][:x.rows], Cost: cost})
			x.columns = append(x.columns, k)
		}
	}
	lp.Solve(wholePivots)
	x.Work += (lp.Work() + lp.Looked()*int64(x.rows)) / WorkShare
	for i := range rest {
		if lp.Missing(i) > covered {
			return nil, nil
		}
	}
	return lp, x.columns
}

// greedyCover adds columns one by one, each time the one with the most value by the duals per cost, until one
// covers the rest. It returns the cheapest completion below the limit, and its cost.
func (x *Whole) greedyCover(rest, duals []float64, banned []bool, limit float64) (best []int, cost float64) {
	rest = slices.Clone(rest)
	var chosen []int
	for spent := 0.0; spent < limit; {
		next, most := -1, 0.0
		for k, c := range x.cost {
			if banned[k] || x.useless[k] || spent+c >= limit {
				continue
			}
			met, worth := true, 0.0
			for i, v := range x.shares[k*x.rows:][:x.rows] {
				worth += max(0, duals[i]) * min(v, rest[i])
				met = met && rest[i]-v <= covered
			}
			if met {
				limit, cost, best = spent+c, spent+c, append(slices.Clone(chosen), k)
			}
			if worth > most*c {
				next, most = k, worth/c
			}
		}
		x.Work += int64(len(x.cost)*x.rows) / WorkShare
		if next < 0 {
			break
		}
		chosen, spent = append(chosen, next), spent+x.cost[next]
		for i, v := range x.shares[next*x.rows:][:x.rows] {
			rest[i] = max(0, rest[i]-v)
		}
	}
	return best, cost
}

// branch divides a node: where the program buys columns more than once, its child has all of these but one;
// otherwise one child has the column with the largest fraction, and the other one excludes it. It reports
// whether the child to look at next was opened last.
func (x *Whole) branch(y *branch, lp *Cover, columns []int) bool {
	up := branch{bought: slices.Clone(y.bought), banned: y.banned, spent: y.spent, bound: y.bound}
	pick, most, whole := -1, covered, false
	for j, k := range columns {
		amount := lp.Amount(j)
		if n := int32(amount+covered) - 1; n > 0 {
			up.bought[k] += n
			up.spent += float64(n) * x.cost[k]
			whole = true
		}
		if amount > most {
			pick, most = k, amount
		}
	}
	if !whole {
		if pick < 0 {
			return false
		}
		down := branch{bought: y.bought, banned: slices.Clone(y.banned), spent: y.spent, bound: y.bound}
		down.banned[pick] = true
		x.open = append(x.open, down)
		up.bought[pick]++
		up.spent += x.cost[pick]
	}
	x.open = append(x.open, up)
	return true
}
