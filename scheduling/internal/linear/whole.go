package linear

import "slices"

const (
	// WorkShare is for how many numbers that change a unit of work is counted: a budget, of some three
	// times what else takes as long.
	WorkShare = 32
	// wholePivots bounds one linear program.
	wholePivots = 400
	// covered is the share of a row that may be missing.
	covered = 1e-9
	// wholeDear is how many times what it costs at most a unit costs that no column has.
	wholeDear = 4
)

// Whole looks for the cheapest whole columns that cover all rows, by branch and bound: each
// branch buys some columns, rules out others, and knows by a linear program what the rest costs
// at least.
type Whole struct {
	// Work is how much was done so far.
	Work    int64
	rows    int
	shares  []float64 // by column, rows each
	cost    []float64
	standIn []float64
	useless []bool // columns that no cover below the limit has
	open    []branch
}

// NewWhole takes columns by what they cost and, rows each, which share of each row they cover.
// It returns nil where there are no rows or they cannot be covered. Costs and shares are not copied.
func NewWhole(rows int, cost, shares []float64) *Whole {
	x := &Whole{rows: rows, cost: cost, shares: shares, standIn: make([]float64, rows)}
	for at, share := range shares {
		i := at % rows
		if dear := wholeDear * cost[at/rows] / share; share > 0 && (x.standIn[i] == 0 || dear < x.standIn[i]) {
			x.standIn[i] = dear
		}
	}
	if rows == 0 || slices.Contains(x.standIn, 0) {
		return nil
	}
	return x
}

// branch is how often columns are bought and which are ruled out, what the former cost, and what
// everything costs at least.
type branch struct {
	bought       []int32
	banned       []bool
	spent, bound float64
}

// Find returns the cheapest columns below a limit that it finds with so many linear programs, each
// as often as it is bought; nil where it finds none.
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
		if more, cost := x.complete(rest, lp.Duals(), y.banned, limit-y.spent); more != nil {
			best, limit = slices.Clone(y.bought), y.spent+cost
			for _, k := range more {
				best[k]++
			}
		}
		if tried == 0 {
			x.rule(lp, limit)
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

// rule rules columns out that cost so much more than they are worth by a program of all needs
// that no cover below the limit has them.
func (x *Whole) rule(lp *Cover, limit float64) {
	spare := limit - lp.Cost()
	for k, more := range x.cost {
		for i, worth := range lp.Duals() {
			more -= max(0, worth) * x.shares[k*x.rows+i]
		}
		x.useless[k] = more >= spare
	}
}

// pop takes the branch that was opened last, or the one with the least bound.
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

// missing is what is needed beside columns that are bought, and whether that is nothing.
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

// program finds the cheapest parts of columns that cover the rest, and which columns it has; nil
// where there are none.
func (x *Whole) program(rest []float64, banned []bool) (*Cover, []int) {
	lp := NewCover(rest, x.standIn)
	lp.Grow(len(x.cost))
	every := make([]int32, x.rows)
	for i := range every {
		every[i] = int32(i)
	}
	var columns []int
	for k, cost := range x.cost {
		if !banned[k] && !x.useless[k] {
			lp.Add(Column{Rows: every, Amounts: x.shares[k*x.rows:][:x.rows], Cost: cost})
			columns = append(columns, k)
		}
	}
	lp.Solve(wholePivots)
	x.Work += (lp.Work() + lp.Looked()*int64(x.rows)) / WorkShare
	for i := range rest {
		if lp.Missing(i) > covered {
			return nil, nil
		}
	}
	return lp, columns
}

// complete buys columns one by one that cover the most of a rest for their cost, by what its
// parts are worth, until one covers all that is left. It returns the cheapest that come
// out below a limit, and what they cost.
func (x *Whole) complete(rest, worths []float64, banned []bool, limit float64) (best []int, cost float64) {
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
				worth += max(0, worths[i]) * min(v, rest[i])
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

// branch opens the branches of one: where the program buys some columns more than once, it
// has all of these but the last; else one has the column that it has the largest part of,
// and one has not. It reports whether the branch to look at next was opened last.
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
