package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// coverPivots bounds one linear program, and pivotShare is how many numbers a pivot changes
	// in the time that a class is looked at.
	coverPivots, pivotShare = 400, 32
	// covered is the share of a need that may be missing.
	covered = 1e-9
	// coverDear is how many times what it costs at most a unit costs that no option has.
	coverDear = 4
)

// need is what a fleet must have: so much of a resource on options of certain rows of the
// market, or so many machines.
type need struct {
	dim   int // of the resource; -1 for machines
	asked float64
	rows  model.Bits
}

// share is which part of a need an option meets.
func (n *need) share(option *model.Option, row int32) float64 {
	switch {
	case !n.rows.Has(int(row)):
		return 0
	case n.dim < 0:
		return 1 / n.asked
	}
	return min(1, float64(option.Room[n.dim])/n.asked)
}

// cover looks for the cheapest whole machines that meet all needs, by branch and bound: each
// branch buys some machines, rules out others, and knows by a linear program what the rest costs
// at least.
type cover struct {
	dims    int
	places  []int     // in the market, the dearest first
	room    []float64 // by place, dims each, in shares of what is needed
	cost    []float64
	standIn []float64
	useless []bool // places that no cover below the limit has
	open    []branch
	work    int64
}

// branch is machines that are bought, by place, and places that are ruled out, what the former
// cost, and what everything costs at least.
type branch struct {
	bought       []int32
	banned       []bool
	spent, bound float64
}

// newCover returns nil where the options do not meet the needs.
func newCover(p *model.Problem, m *market, places []int, needs []need) *cover {
	x := &cover{places: slices.Clone(places), dims: len(needs), standIn: make([]float64, len(needs))}
	slices.SortStableFunc(x.places, func(a, b int) int {
		return cmp.Compare(p.Options[m.options[b]].Cost, p.Options[m.options[a]].Cost)
	})
	x.cost, x.room = make([]float64, 0, len(places)), make([]float64, 0, x.dims*len(places))
	for _, at := range x.places {
		option := &p.Options[m.options[at]]
		cost := float64(max(option.Cost, 1))
		for i := range needs {
			share := needs[i].share(option, m.row[at])
			x.room = append(x.room, share)
			if dear := coverDear * cost / share; share > 0 && (x.standIn[i] == 0 || dear < x.standIn[i]) {
				x.standIn[i] = dear
			}
		}
		x.cost = append(x.cost, cost)
	}
	if x.dims == 0 || slices.Contains(x.standIn, 0) {
		return nil
	}
	return x
}

// find returns the places of the cheapest machines below a limit that it finds with so many
// linear programs; nil where it finds none.
func (x *cover) find(limit float64, programs int) (fleet []int) {
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
		lp, places := x.program(rest, y.banned)
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
			dive = x.branch(&y, lp, places)
		}
	}
	for k, count := range best {
		for range count {
			fleet = append(fleet, x.places[k])
		}
	}
	return fleet
}

// rule rules places out that cost so much more than they are worth by a program of all needs
// that no cover below the limit has them.
func (x *cover) rule(lp *linear.Cover, limit float64) {
	spare := limit - lp.Cost()
	for k, more := range x.cost {
		for i, worth := range lp.Duals() {
			more -= max(0, worth) * x.room[k*x.dims+i]
		}
		x.useless[k] = more >= spare
	}
}

// pop takes the branch that was opened last, or the one with the least bound.
func (x *cover) pop(last bool) branch {
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

// missing is what is needed beside machines that are bought, and whether that is nothing.
func (x *cover) missing(bought []int32) (rest []float64, met bool) {
	rest = slices.Repeat([]float64{1}, x.dims)
	for k, count := range bought {
		if count > 0 {
			for i, v := range x.room[k*x.dims:][:x.dims] {
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

// program finds the cheapest parts of machines that have the rest, and the places of its
// columns; nil where there are none.
func (x *cover) program(rest []float64, banned []bool) (*linear.Cover, []int) {
	lp := linear.NewCover(rest, x.standIn)
	lp.Grow(len(x.cost))
	rows := make([]int32, x.dims)
	for i := range rows {
		rows[i] = int32(i)
	}
	var places []int
	for k, cost := range x.cost {
		if !banned[k] && !x.useless[k] {
			lp.Add(linear.Column{Rows: rows, Amounts: x.room[k*x.dims:][:x.dims], Cost: cost})
			places = append(places, k)
		}
	}
	lp.Solve(coverPivots)
	x.work += (lp.Work() + lp.Looked()*int64(x.dims)) / pivotShare
	for i := range rest {
		if lp.Missing(i) > covered {
			return nil, nil
		}
	}
	return lp, places
}

// complete buys machines one by one that meet the most of a rest for their cost, by what its
// parts are worth, until one meets all that is left. It returns the cheapest places that come
// out below a limit, and what they cost.
func (x *cover) complete(rest, worths []float64, banned []bool, limit float64) (best []int, cost float64) {
	rest = slices.Clone(rest)
	var chosen []int
	for spent := 0.0; spent < limit; {
		next, most := -1, 0.0
		for k, c := range x.cost {
			if banned[k] || x.useless[k] || spent+c >= limit {
				continue
			}
			met, worth := true, 0.0
			for i, v := range x.room[k*x.dims:][:x.dims] {
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
		x.work += int64(len(x.cost)*x.dims) / pivotShare
		if next < 0 {
			break
		}
		chosen, spent = append(chosen, next), spent+x.cost[next]
		for i, v := range x.room[next*x.dims:][:x.dims] {
			rest[i] = max(0, rest[i]-v)
		}
	}
	return best, cost
}

// branch opens the branches of one: where the program buys some machines more than once, it
// has all of these but the last; else one has the machine that it has the largest part of,
// and one has not. It reports whether the branch to look at next was opened last.
func (x *cover) branch(y *branch, lp *linear.Cover, places []int) bool {
	up := branch{bought: slices.Clone(y.bought), banned: y.banned, spent: y.spent, bound: y.bound}
	pick, most, whole := -1, covered, false
	for j, k := range places {
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
