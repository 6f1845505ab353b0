package pack

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// coverPivots bounds one linear program, and coverWork is how many machines are weighed
	// with the work of weighing one class.
	coverPivots, coverWork = 200, 2
	// covered is the share of what is asked that may be missing.
	covered = 1e-9
)

// breadths are how many machines are tried next at every step, search after search: first
// few, so that all that is tried does not only differ in the last machines.
func breadths() []int { return []int{1, 2, 3, 4, 6, 12} }

// cover looks for the cheapest machines that together have as much of every resource as
// some pods ask for. It goes through the combinations in depth and leaves out those that
// cannot become cheaper than the best, by what a unit of each resource is worth.
type cover struct {
	dims   int
	places []int     // in the market, the dearest first
	room   []float64 // by place, dims each, in shares of what is asked
	cost   []float64
	losses []float64 // what places cost beyond what they are worth, ascending
	least  []uint64  // by number, which so many places lose the least, a row of bits each
	worths []float64 // of what is asked of each resource
	base   []int     // machines that are bought whole by the linear program, but for the last of each

	limit   float64
	nodes   int // machines to weigh
	breadth int // of the search
	work    int64
	coverRoom
}

// coverRoom is what a search among machines writes to, for one search after the other.
type coverRoom struct {
	rest     []float64 // what is still asked, by depth
	chosen   []int
	best     []int // nil where nothing is found
	children []child
	banned   []uint64 // places, as bits
	bans     int      // how many
}

// child is a machine that could come next, what everything costs at least with it, and
// what part of its own cost is lost.
type child struct {
	k           int
	bound, lost float64
}

// newCover finds out what resources are worth, where so many times as much is to be had as
// is asked, and so many slots. It returns nil where the options do not have it.
func newCover(p *model.Problem, m *market, places []int, asked []int64, times float64, slots int64) *cover {
	x := &cover{places: slices.Clone(places)}
	slices.SortStableFunc(x.places, func(a, b int) int {
		return cmp.Compare(p.Options[m.options[b]].Cost, p.Options[m.options[a]].Cost)
	})
	var rows []int32
	var wanted []float64
	for _, n := range asked {
		if n > 0 {
			rows, wanted = append(rows, int32(x.dims)), append(wanted, 1)
			x.dims++
		}
	}
	if slots > 1 {
		rows, wanted = append(rows, int32(x.dims)), append(wanted, 1)
		x.dims++
	}
	standIn := make([]float64, x.dims)
	x.cost, x.room = make([]float64, 0, len(places)), make([]float64, 0, x.dims*len(places))
	for _, at := range x.places {
		option := &p.Options[m.options[at]]
		cost := float64(max(option.Cost, 1))
		x.cost = append(x.cost, cost)
		i := 0
		add := func(share float64) {
			x.room = append(x.room, share)
			if share > 0 && (standIn[i] == 0 || 4*cost/share < standIn[i]) {
				standIn[i] = 4 * cost / share
			}
			i++
		}
		for d, n := range asked {
			if n > 0 {
				add(min(1, float64(option.Room[d])/(float64(n)*times)))
			}
		}
		if slots > 1 {
			add(1 / float64(slots))
		}
	}
	if x.dims == 0 || slices.Contains(standIn, 0) {
		return nil
	}
	lp := linear.NewCover(wanted, standIn)
	lp.Grow(len(x.cost))
	for k, cost := range x.cost {
		lp.Add(linear.Column{Rows: rows, Amounts: x.room[k*x.dims:][:x.dims], Cost: cost})
	}
	lp.Solve(coverPivots)
	x.work = lp.Work() + int64(len(x.places))
	for _, worth := range lp.Worths() {
		x.worths = append(x.worths, max(0, worth))
	}
	x.reckon()
	for k := range x.places {
		for range int(lp.Amount(k)+covered) - 1 {
			x.base = append(x.base, k)
		}
	}
	return x
}

// reckon works out what machines cost beyond what they are worth.
func (x *cover) reckon() {
	type loss struct {
		k    int
		lost float64
	}
	all := make([]loss, len(x.cost))
	for k, cost := range x.cost {
		for i, v := range x.room[k*x.dims:][:x.dims] {
			cost -= x.worths[i] * v
		}
		all[k] = loss{k, cost}
	}
	slices.SortFunc(all, func(a, b loss) int { return cmp.Or(cmp.Compare(a.lost, b.lost), cmp.Compare(a.k, b.k)) })
	words := x.words()
	x.losses, x.least = make([]float64, len(all)), make([]uint64, (len(all)+1)*words)
	for n, y := range all {
		x.losses[n] = y.lost
		row := x.least[(n+1)*words:][:words]
		copy(row, x.least[n*words:])
		row[y.k/64] |= 1 << (y.k % 64)
	}
}

// words is how many words a row of bits over the places has.
func (x *cover) words() int { return (len(x.cost) + 63) / 64 }

// ban leaves out some places, and no others.
func (x *cover) ban(places []bool) {
	x.banned, x.bans = slices.Grow(x.banned[:0], x.words())[:x.words()], 0
	clear(x.banned)
	for k, banned := range places {
		if banned {
			x.banned[k/64] |= 1 << (k % 64)
			x.bans++
		}
	}
}

// find returns the places of the cheapest machines below a limit that have what is to be
// had, nil where it finds none.
func (x *cover) find(limit float64, nodes int) []int {
	x.limit, x.nodes, x.best = limit, nodes, nil
	x.rest, x.chosen, x.children = x.rest[:0], x.chosen[:0], x.children[:0]
	x.ban(nil)
	for range x.dims {
		x.rest = append(x.rest, 1)
	}
	spent := 0.0
	for _, k := range x.base {
		spent += x.cost[k]
		for i, v := range x.room[k*x.dims:][:x.dims] {
			x.rest[i] = max(0, x.rest[i]-v)
		}
	}
	all := breadths()
	for i, breadth := range all {
		kept := nodes * (len(all) - 1 - i) / len(all) // for later searches
		x.breadth, x.nodes = breadth, x.nodes-kept
		x.descend(spent)
		x.nodes += kept
	}
	x.work += int64(nodes-x.nodes) / coverWork
	if x.best == nil {
		return nil
	}
	var out []int
	for _, k := range slices.Concat(x.base, x.best) {
		out = append(out, x.places[k])
	}
	return out
}

// descend adds machines to those chosen, which cost so much: those first of whose cost
// the least is lost. What was tried at some depth is not tried again below its successors:
// the order in which machines are bought does not matter.
func (x *cover) descend(spent float64) {
	depth, from := len(x.chosen), len(x.children)
	x.weigh(x.rest[depth*x.dims:][:x.dims], spent)
	to := min(len(x.children), from+x.breadth)
	for at := from; at < to && x.nodes > 0; at++ {
		y := bringUp(x.children[at:])
		if y.bound < x.limit {
			x.choose(y, depth, spent)
		}
		x.banned[y.k/64] |= 1 << (y.k % 64)
		x.bans++
	}
	for _, y := range x.children[from:to] {
		if bit := uint64(1) << (y.k % 64); x.banned[y.k/64]&bit != 0 {
			x.banned[y.k/64] ^= bit
			x.bans--
		}
	}
	x.children = x.children[:from]
}

// bringUp moves the child to the front that loses the least, of several the first, and returns
// it. The others stay in order.
func bringUp(children []child) child {
	least := 0
	for i := range children {
		if children[i].lost < children[least].lost {
			least = i
		}
	}
	y := children[least]
	copy(children[1:least+1], children[:least])
	children[0] = y
	return y
}

// choose goes on with a child.
func (x *cover) choose(y child, depth int, spent float64) {
	x.chosen = append(x.chosen, y.k)
	x.rest = x.rest[:(depth+1)*x.dims]
	for i, v := range x.room[y.k*x.dims:][:x.dims] {
		x.rest = append(x.rest, max(0, x.rest[depth*x.dims+i]-v))
	}
	x.descend(spent + x.cost[y.k])
	x.chosen = x.chosen[:depth]
}

// weigh lists the machines that could come next.
func (x *cover) weigh(rest []float64, spent float64) {
	before := spent
	for i, v := range rest {
		before += x.worths[i] * v
	}
	x.nodes -= len(x.cost) - x.bans
	// What a machine has beyond what is still asked for only makes it worse.
	worthwhile, most := 0, x.limit*(1+covered)
	for worthwhile < len(x.losses) && before+x.losses[worthwhile] < most {
		worthwhile++
	}
	words := len(x.banned)
	for w, row := range x.least[worthwhile*words:][:words] {
		for row &^= x.banned[w]; row != 0; row &= row - 1 {
			k := 64*w + bits.TrailingZeros64(row)
			cost := x.cost[k]
			bound, done := spent+cost, true
			for i, v := range x.room[k*x.dims:][:x.dims] {
				if left := rest[i] - v; left > covered {
					bound += x.worths[i] * left
					done = false
				}
			}
			switch {
			case bound >= x.limit:
			case done:
				x.limit = bound
				x.best = append(append(x.best[:0], x.chosen...), k)
			default:
				x.children = append(x.children, child{k, bound, (bound - before) / cost})
			}
		}
	}
}
