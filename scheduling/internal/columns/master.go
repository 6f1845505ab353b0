package columns

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where per-node limits make many machines necessary, or pods are restricted to few options, buying the best
// machine each time ends far from the optimum, because the last pods do not fit together. A linear program over
// all pods knows how many machines of each option there should be.

const (
	// Rounds bounds the rounds of pricing in the first solution.
	Rounds = 300
	// Again bounds the rounds of pricing after machines are bought.
	Again = 10
	// mostKinds bounds the kinds of pods, mostMore the patterns added in a round, mostPivots the pivots of one
	// solution.
	mostKinds, mostMore, mostPivots = 320, 64, 800
	// standInFactor is the cost of a pod that no pattern holds, in multiples of its value.
	standInFactor = 64
	// leastGain is the gain of a new pattern as a share of its cost.
	leastGain = 1e-4
	// farBelow is how far the value of the best pattern may be below the cost, as a share, for other patterns
	// of the option to be tried.
	farBelow = 0.1
	// nearGain is the loss of a pattern, as a share of its cost, up to which it is passed on to other searches.
	nearGain = 0.01
	// priceWork is the work of pricing one column, in matrix entries.
	priceWork = 8
)

// Master is the restricted master problem: how often to buy which pattern, in fractions, so that the pods of
// every kind have a place. A kind is classes of one size that the same rows of the market admit and that have
// the same per-node limits, as far as these need nearly the most machines.
type Master struct {
	p         *model.Problem
	f         *greedy.Filler
	m         *greedy.Market
	late      func() bool
	kinds     [][]model.ClassID
	kindOf    []int32         // by class, −1 for none
	classes   []model.ClassID // of all kinds
	remaining []int64         // by class
	wanted    []int64         // by kind
	standIn   []float64       // by kind
	patterns  []pattern
	duals     []float64      // by class
	First     []float64      // duals before any machine was bought, by class
	Seen      [][]model.Item // the patterns at these duals, see [Master.Patterns]
	lp        *linear.Cover
	excluded  []bool    // by place in the market: not bought any more
	gains     []float64 // by place in the market: gain of its best pattern in the last pricing
	until     int64     // work at which to stop pricing
}

// pattern is a machine with numbers of pods of some kinds.
type pattern struct {
	at     int // place in the market
	kinds  []int32
	counts []int64
}

// New returns a master problem for the pods on some machines. It begins with the patterns of these machines and with more
// patterns, each on the cheapest option that holds its pods. work bounds the pricing, and late reports whether the deadline has passed.
// It returns nil where there are too many kinds.
func New(p *model.Problem, f *greedy.Filler, m *greedy.Market, nodes []model.Node, more [][]model.Item, work int64, late func() bool) *Master {
	n := len(p.Classes)
	x := &Master{p: p, f: f, m: m, late: late, kindOf: make([]int32, n), remaining: make([]int64, n), duals: make([]float64, n), until: f.Work + work}
	x.excluded, x.gains = make([]bool, len(x.m.Options)), make([]float64, len(x.m.Options))
	for i := range nodes {
		for _, it := range nodes[i].Items {
			x.remaining[it.Class] += it.N * nodes[i].N
		}
	}
	if !x.sort() {
		return nil
	}
	values := f.ShareValues()
	for _, classes := range x.kinds {
		x.standIn = append(x.standIn, standInFactor*max(1, values[classes[0]]))
	}
	for i := range nodes {
		at, _ := slices.BinarySearch(x.m.Options, nodes[i].Option)
		x.addPattern(at, nodes[i].Items)
	}
	for _, items := range more {
		if at := x.cheapest(items); at >= 0 {
			x.addPattern(at, items)
		}
	}
	return x
}

// kindKey is equal for the classes of one kind.
type kindKey struct {
	size          int32
	rows          string
	perNode       int64
	perNodeLimits string
}

// sort finds the kinds. It reports false where there are too many, or the market does not admit a class.
func (x *Master) sort() bool {
	known, rowsOf := map[kindKey]int32{}, map[int32]string{}
	for c, n := range x.remaining {
		x.kindOf[c] = -1
		if n == 0 {
			continue
		}
		class := &x.p.Classes[c]
		rows, ok := rowsOf[class.Group]
		if !ok {
			var b []byte
			for r, row := range x.m.Rows {
				if row.Has(int(class.Group)) {
					b = append(b, byte(r), byte(r>>8))
				}
			}
			if rows = string(b); rows == "" {
				return false // a pass before this one admitted it
			}
			rowsOf[class.Group] = rows
		}
		key := kindKey{size: x.f.SizeOf[c], rows: rows, perNode: class.PerNode}
		var b []byte
		for _, m := range x.f.LimitsOf(model.ClassID(c)) {
			b = append(b, byte(m.Limit), byte(m.Limit>>8), byte(m.Weight))
		}
		key.perNodeLimits = string(b)
		k, ok := known[key]
		if !ok {
			if k = int32(len(x.kinds)); k == mostKinds {
				return false
			}
			known[key] = k
			x.kinds = append(x.kinds, nil)
		}
		x.kindOf[c] = k
		x.kinds[k] = append(x.kinds[k], model.ClassID(c))
		x.classes = append(x.classes, model.ClassID(c))
	}
	return true
}

// cheapest returns the place of the cheapest option that holds some pods; −1 where there is none, or pods are not to be placed.
func (x *Master) cheapest(items []model.Item) (at int) {
	groups, load := model.NewBits(x.p.Groups), make([]int64, x.p.Dims)
	for _, it := range items {
		if x.kindOf[it.Class] < 0 {
			return -1
		}
		groups.Set(int(x.p.Classes[it.Class].Group))
	}
	if !x.p.WithinPerNodeLimits(items, nil) {
		return -1
	}
	x.p.Load(load, items)
	for _, at := range x.m.ByCost {
		if x.f.Work++; model.Fits(x.p.Options[x.m.Options[at]].Room, load) && x.m.Rows[x.m.Row[at]].Contains(groups) {
			return at
		}
	}
	return -1
}

// Patterns are the pods on the machines of the master problem that have nearly the value of their cost, or more, by the
// duals of the last solution, each kind as pods of its first class.
func (x *Master) Patterns() (out [][]model.Item) {
	for j := range x.patterns {
		if x.lp.Amount(j) == 0 && x.lp.Gain(j) < -nearGain {
			continue
		}
		var items []model.Item
		for i, k := range x.patterns[j].kinds {
			items = append(items, model.Item{Class: x.kinds[k][0], N: x.patterns[j].counts[i]})
		}
		out = append(out, items)
	}
	return out
}

// addPattern adds a pattern.
func (x *Master) addPattern(at int, items []model.Item) {
	f := pattern{at: at}
	for _, it := range items {
		k := x.kindOf[it.Class]
		i := slices.Index(f.kinds, k)
		if i < 0 {
			i = len(f.kinds)
			f.kinds, f.counts = append(f.kinds, k), append(f.counts, 0)
		}
		f.counts[i] += it.N
	}
	x.patterns = append(x.patterns, f)
}

// restart states the linear program for the remaining pods.
func (x *Master) restart() {
	x.wanted = make([]int64, len(x.kinds))
	for _, c := range x.classes {
		x.wanted[x.kindOf[c]] += x.remaining[c]
	}
	wanted := make([]float64, len(x.kinds))
	for k, n := range x.wanted {
		wanted[k] = float64(n)
	}
	x.lp = linear.NewCover(wanted, x.standIn)
	for i := range x.patterns {
		x.addColumn(&x.patterns[i])
	}
}

// addColumn adds the column of a pattern with at most the remaining pods. It is empty if the option is
// excluded.
func (x *Master) addColumn(f *pattern) {
	c := linear.Column{Cost: x.f.Costs[x.m.Options[f.at]]}
	for i, k := range f.kinds {
		if n := min(f.counts[i], x.wanted[k]); n > 0 && !x.excluded[f.at] {
			c.Rows, c.Amounts = append(c.Rows, k), append(c.Amounts, float64(n))
		}
	}
	x.lp.Add(c)
}

// generate solves the program and prices patterns in turn, until none gains, for so many rounds, or until over.
func (x *Master) generate(rounds int) {
	x.restart()
	done := x.lp.Work() + x.lp.Looked()*priceWork
	for i := 0; ; i++ {
		x.lp.Solve(mostPivots)
		for _, c := range x.classes {
			x.duals[c] = max(0, x.lp.Duals()[x.kindOf[c]])
		}
		now := x.lp.Work() + x.lp.Looked()*priceWork
		x.f.Work += (now - done) / linear.WorkShare
		done = now
		if i == rounds || x.over() {
			return
		}
		more := x.price()
		if len(more) == 0 {
			return
		}
		slices.SortStableFunc(more, func(a, b pricedPattern) int { return cmp.Compare(b.gain, a.gain) })
		for _, y := range more[:min(len(more), mostMore)] {
			x.addPattern(y.at, y.items)
			x.addColumn(&x.patterns[len(x.patterns)-1])
		}
	}
}

// over reports whether the deadline has passed or the work is used up.
func (x *Master) over() bool { return x.late() || x.f.Work > x.until }

// indexClasses indexes the remaining pods by the present duals.
func (x *Master) indexClasses() {
	x.f.Index(x.m, x.m.All, x.classes, x.duals)
}
