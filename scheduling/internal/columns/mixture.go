package columns

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where pods under per-node limits make for many machines, or pods are tied to places, what is bought one
// best machine after the other strays far from what could be: nothing is left in the end
// that suits the others. A mix of fillings that covers all pods at once knows how many
// machines of each option there should be.

const (
	// Rounds is how often fillings are added at first.
	Rounds = 300
	// Again is how often they are added once machines are bought.
	Again = 10
	// mostKinds bounds the kinds of pods for which fillings are mixed, mostMore the fillings
	// added at once, mostPivots each solution.
	mostKinds, mostMore, mostPivots = 320, 64, 800
	// dear is how many times its worth a pod costs that no filling holds.
	dear = 64
	// leastGain is the share of its cost that a filling must gain to be added.
	leastGain = 1e-4
	// farBelow is how much less than its cost a filling may be worth for others of its
	// option to be looked for.
	farBelow = 0.1
	// lookWork is how many numbers it takes to look at a filling that could be bought.
	lookWork = 8
)

// Mixture is which fillings to buy how often if machines could be bought in parts, so that
// the pods of every kind have a place. Kinds are classes of one size that may be in the same
// rows of the market and belong to the same per-node limits of those that need the most machines.
type Mixture struct {
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
	fillings  []kindFilling
	worths    []float64 // by class
	First     []float64 // as they were before anything was bought
	lp        *linear.Cover
	barred    []bool    // by place in the market, what is not bought any more
	gains     []float64 // by place in the market, what look has found there
	until     int64     // work at which to make do with the fillings found
}

// kindFilling is a machine with so many pods of some kinds.
type kindFilling struct {
	at     int // place in the market
	kinds  []int32
	counts []int64
}

// New begins with the fillings of some machines, to find others for their pods with so much
// work, until it is late. It returns nil where there are too many kinds.
func New(p *model.Problem, f *greedy.Filler, m *greedy.Market, nodes []model.Node, work int64, late func() bool) *Mixture {
	n := len(p.Classes)
	x := &Mixture{p: p, f: f, m: m, late: late, kindOf: make([]int32, n), remaining: make([]int64, n), worths: make([]float64, n), until: f.Work + work}
	x.barred, x.gains = make([]bool, len(x.m.Options)), make([]float64, len(x.m.Options))
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
		x.standIn = append(x.standIn, dear*max(1, values[classes[0]]))
	}
	for i := range nodes {
		at, _ := slices.BinarySearch(x.m.Options, nodes[i].Option)
		x.keep(at, nodes[i].Items)
	}
	return x
}

// kindKey is equal for classes of one kind.
type kindKey struct {
	size          int32
	rows          string
	perNode       int64
	perNodeLimits string
}

// sort finds the kinds, and reports whether there are few enough and the market admits all.
func (x *Mixture) sort() bool {
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
				return false // an earlier pass let it in
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

// keep notes a filling.
func (x *Mixture) keep(at int, items []model.Item) {
	f := kindFilling{at: at}
	for _, it := range items {
		k := x.kindOf[it.Class]
		i := slices.Index(f.kinds, k)
		if i < 0 {
			i = len(f.kinds)
			f.kinds, f.counts = append(f.kinds, k), append(f.counts, 0)
		}
		f.counts[i] += it.N
	}
	x.fillings = append(x.fillings, f)
}

// restart sets the program up for what remains.
func (x *Mixture) restart() {
	x.wanted = make([]int64, len(x.kinds))
	for _, c := range x.classes {
		x.wanted[x.kindOf[c]] += x.remaining[c]
	}
	wanted := make([]float64, len(x.kinds))
	for k, n := range x.wanted {
		wanted[k] = float64(n)
	}
	x.lp = linear.NewCover(wanted, x.standIn)
	for i := range x.fillings {
		x.add(&x.fillings[i])
	}
}

// add makes a column of a filling, without pods that are not wanted any more; without any if
// the machine is not bought any more.
func (x *Mixture) add(f *kindFilling) {
	c := linear.Column{Cost: x.f.Costs[x.m.Options[f.at]]}
	for i, k := range f.kinds {
		if n := min(f.counts[i], x.wanted[k]); n > 0 && !x.barred[f.at] {
			c.Rows, c.Amounts = append(c.Rows, k), append(c.Amounts, float64(n))
		}
	}
	x.lp.Add(c)
}

// generate adds fillings until there is nothing to be gained, or so often.
func (x *Mixture) generate(rounds int) {
	x.restart()
	done := x.lp.Work() + x.lp.Looked()*lookWork
	for i := 0; ; i++ {
		x.lp.Solve(mostPivots)
		for _, c := range x.classes {
			x.worths[c] = max(0, x.lp.Duals()[x.kindOf[c]])
		}
		now := x.lp.Work() + x.lp.Looked()*lookWork
		x.f.Work += (now - done) / linear.WorkShare
		done = now
		if i == rounds || x.over() {
			return
		}
		more := x.look()
		if len(more) == 0 {
			return
		}
		slices.SortStableFunc(more, func(a, b found) int { return cmp.Compare(b.gain, a.gain) })
		for _, y := range more[:min(len(more), mostMore)] {
			x.keep(y.at, y.items)
			x.add(&x.fillings[len(x.fillings)-1])
		}
	}
}

// over reports whether no more fillings should be looked for.
func (x *Mixture) over() bool { return x.late() || x.f.Work > x.until }

// indexClasses puts what remains on shelves by the present worths.
func (x *Mixture) indexClasses() {
	x.f.Index(x.m, x.m.All, x.classes, x.worths)
}

// filling is a machine with pods, a column of a mix.
type filling struct {
	at    int // place in the market
	items []model.Item
}

// found is a filling that is worth more than it costs, and by what share.
type found struct {
	filling
	gain float64
}

// look fills every option that may be bought by worths. Where no filling is worth more than it
// costs by more than a share, it looks for others that begin with one size or another.
func (x *Mixture) look() (more []found) {
	x.indexClasses()
	f := x.f
	try := func(at int, seeds []greedy.SizeList) float64 {
		items, worth := f.Fill(at, seeds, x.remaining, x.worths)
		gain := worth/f.Costs[x.m.Options[at]] - 1
		if gain > leastGain {
			more = append(more, found{filling{at, slices.Clone(items)}, gain})
		}
		return gain
	}
	for at := range x.gains {
		if x.gains[at] = -1; !x.barred[at] && len(f.ListsAt(at)) > 0 {
			x.gains[at] = try(at, nil)
		}
	}
	if len(more) > 0 {
		return more
	}
	for at, gain := range x.gains {
		if gain < -farBelow {
			continue
		}
		for _, first := range f.ListsAt(at) {
			try(at, []greedy.SizeList{first})
		}
	}
	return more
}
