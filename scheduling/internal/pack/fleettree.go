package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// treePivots bounds each linear program of a tree, treeDeep how many machines are weighed
	// in depth at every node of it.
	treePivots, treeDeep = 400, 5000
	// treeMore is how many times as many linear programs there are where nothing was found.
	treeMore = 4
	// treeDear is how many times what it costs at most a unit costs that nothing has.
	treeDear = 4
)

// need is something that the machines of a fleet have to have together: shares of it, by
// place of the market.
type need []float64

// fleetTree looks for the cheapest whole machines that have all that is needed, by branch
// and bound: each node of the tree buys some machines, rules out others, and knows by a
// linear program what the rest costs at least. At every node the rest is looked for in
// depth, by what needs are worth in that program.
type fleetTree struct {
	cover
	columns []linear.Column
	standIn []float64 // by need
	open    []fleetNode
	size    int64 // numbers in the columns
}

// fleetNode is what is bought and ruled out, what that costs, and what everything costs at
// least.
type fleetNode struct {
	bought []int // by place in the tree, how many
	banned []bool
	spent  float64
	bound  float64
}

// newFleetTree takes places of a market. It returns nil where they do not have what is needed.
func newFleetTree(p *model.Problem, m *market, places []int, needs []need) *fleetTree {
	x := &fleetTree{cover: cover{places: slices.Clone(places), dims: len(needs)}, standIn: make([]float64, len(needs))}
	slices.SortStableFunc(x.places, func(a, b int) int {
		return cmp.Compare(p.Options[m.options[b]].Cost, p.Options[m.options[a]].Cost)
	})
	for _, at := range x.places {
		c := linear.Column{Cost: float64(max(p.Options[m.options[at]].Cost, 1))}
		x.cost = append(x.cost, c.Cost)
		for i, y := range needs {
			share := min(1, y[at])
			x.room = append(x.room, share)
			if share > 0 {
				c.Rows, c.Amounts = append(c.Rows, int32(i)), append(c.Amounts, share)
				if unit := treeDear * c.Cost / share; x.standIn[i] == 0 || unit < x.standIn[i] {
					x.standIn[i] = unit
				}
			}
		}
		x.columns = append(x.columns, c)
		x.size += int64(len(c.Rows))
	}
	if x.dims == 0 || slices.Contains(x.standIn, 0) {
		return nil
	}
	return x
}

// cheapest returns the places of the cheapest machines below a limit, in so many linear
// programs, or some more where it finds none; nil where there are none in these.
func (x *fleetTree) cheapest(limit float64, programs int) (fleet []int) {
	n := len(x.places)
	x.open = append(x.open[:0], fleetNode{bought: make([]int, n), banned: make([]bool, n)})
	var best []int
	for dive, tried := false, 0; (tried < programs || best == nil && tried < treeMore*programs) && len(x.open) > 0; tried++ {
		y := x.pop(dive)
		dive = false
		if max(y.bound, y.spent) >= limit {
			continue
		}
		rest, enough := x.missing(y.bought)
		if enough {
			limit, best = y.spent, y.bought
			continue
		}
		lp, places := x.program(rest, y.banned)
		if lp == nil {
			continue
		}
		if y.bound = y.spent + lp.Cost(); y.bound >= limit {
			continue
		}
		if more := x.finish(rest, lp.Worths(), &y, limit); more != nil {
			best, limit = slices.Clone(y.bought), y.spent
			for _, k := range more {
				best[k]++
				limit += x.cost[k]
			}
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

// within are the places of those machines with one of which everything may cost less than a
// limit, by the linear program of all that is needed.
func (x *fleetTree) within(limit float64) []int {
	rest, _ := x.missing(nil)
	lp, _ := x.program(rest, make([]bool, len(x.places)))
	if lp == nil {
		return nil
	}
	var out []int
	spare := limit - lp.Cost()
	for k, at := range x.places {
		more := x.cost[k]
		for i, worth := range lp.Worths() {
			more -= max(0, worth) * x.room[k*x.dims+i]
		}
		if more < spare {
			out = append(out, at)
		}
	}
	return out
}

// pop takes the node that was opened last, or the one with the least bound.
func (x *fleetTree) pop(last bool) fleetNode {
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
func (x *fleetTree) missing(bought []int) (rest []float64, enough bool) {
	rest, enough = make([]float64, x.dims), true
	for i := range rest {
		rest[i] = 1
		for k, count := range bought {
			if count > 0 {
				rest[i] -= float64(count) * x.room[k*x.dims+i]
			}
		}
		if rest[i] > covered {
			enough = false
		} else {
			rest[i] = 0
		}
	}
	return rest, enough
}

// program finds the cheapest parts of machines that have the rest, and the places of its
// columns; nil where there are none.
func (x *fleetTree) program(rest []float64, banned []bool) (*linear.Cover, []int) {
	lp := linear.NewCover(rest, x.standIn)
	var places []int
	for k := range x.places {
		if !banned[k] {
			lp.Add(x.columns[k])
			places = append(places, k)
		}
	}
	lp.Solve(treePivots)
	rows := int64(x.dims * x.dims)
	x.work += lp.Work() / rows * (rows + x.size) / pivotShare
	for i := range rest {
		if lp.Missing(i) > covered {
			return nil, nil
		}
	}
	return lp, places
}

// branch opens the nodes below one: where the program buys some machines more than once, it
// has all of these but the last; else one has the machine that it has the largest part of,
// and one has not. It reports whether the node to look at next was opened last.
func (x *fleetTree) branch(y *fleetNode, lp *linear.Cover, places []int) bool {
	up := fleetNode{bought: slices.Clone(y.bought), banned: y.banned, spent: y.spent, bound: y.bound}
	pick, most, whole := -1, covered, false
	for j, k := range places {
		amount := lp.Amount(j)
		if n := int(amount+covered) - 1; n > 0 {
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
		down := fleetNode{bought: y.bought, banned: slices.Clone(y.banned), spent: y.spent, bound: y.bound}
		down.banned[pick] = true
		x.open = append(x.open, down)
		up.bought[pick]++
		up.spent += x.cost[pick]
	}
	x.open = append(x.open, up)
	return true
}

// finish looks in depth for the machines that are still missing, nil where it finds none
// below a limit.
func (x *fleetTree) finish(rest, worths []float64, y *fleetNode, limit float64) []int {
	x.worths = x.worths[:0]
	for _, worth := range worths {
		x.worths = append(x.worths, max(0, worth))
	}
	x.reckon()
	x.limit, x.best = limit, nil
	x.ban(y.banned)
	x.chosen, x.children = x.chosen[:0], x.children[:0]
	all := breadths()
	for _, x.breadth = range all {
		x.rest = append(x.rest[:0], rest...)
		x.nodes = treeDeep / len(all)
		x.descend(y.spent)
		x.work += int64(treeDeep/len(all)-x.nodes) / coverWork
	}
	return x.best
}
