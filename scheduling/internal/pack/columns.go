package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// mostColumnClasses bounds the classes for which fillings are mixed, columnRounds how
	// often fillings are added, columnMore how many at once, columnPivots bounds each
	// solution.
	mostColumnClasses, columnRounds, columnMore, columnPivots = 64, 40, 48, 600
	// columnGain is the share of its cost that a filling must gain to be added.
	columnGain = 1e-6
	// columnDear is how many times its worth a pod costs that no filling holds.
	columnDear = 16
	// columnFar is how much less than its cost a filling may be worth for others of its
	// option to be looked for.
	columnFar = 0.1
	// columnTimes is how often whole machines are bought of a mix for what is left.
	columnTimes = 3
)

// filling is a machine with pods, a column of a mix.
type filling struct {
	at    int // place in the market
	items []model.Item
}

// columns are which fillings to buy how often if machines could be bought in parts, so that
// every class has its pods. It is solved by column generation: what pods are worth in the
// best mix of the fillings that are known tells which others to look for.
type columns struct {
	s        *search
	m        *market
	classes  []model.ClassID
	row      []int32 // by class
	fillings []filling
	worths   []float64 // by class
	lp       *linear.Cover
}

// inColumns buys machines for what remains in a pass by mixing fillings, as many whole ones
// as the mix has. known are fillings to begin with. It leaves the rest in remaining, and
// returns what pods are worth in it.
func (s *search) inColumns(pass int, remaining []int64, values []float64, known []model.Node, b *budget) ([]model.Node, []float64) {
	m := s.markets[pass]
	classes := slices.DeleteFunc(slices.Clone(s.fill.those(remaining, values)), func(c model.ClassID) bool { return values[c] == 0 })
	if len(classes) == 0 || len(classes) > mostColumnClasses {
		return nil, values
	}
	x := &columns{s: s, m: m, classes: classes, row: make([]int32, len(values)), worths: slices.Clone(values)}
	for i, c := range classes {
		x.row[c] = int32(i)
	}
	for i := range known {
		at, _ := slices.BinarySearch(m.options, known[i].Option)
		if s.p.Options[known[i].Option].Supply == model.NoSupply {
			x.fillings = append(x.fillings, filling{at, known[i].Items})
		}
	}
	var out []model.Node
	for range columnTimes {
		x.generate(remaining, values)
		bought := x.buy(remaining, b)
		if len(bought) == 0 {
			break
		}
		out = append(out, bought...)
	}
	return out, x.worths
}

// restart sets the program up for what remains.
func (x *columns) restart(remaining []int64, values []float64) {
	wanted, standIn := make([]float64, len(x.classes)), make([]float64, len(x.classes))
	for _, c := range x.classes {
		i := x.row[c]
		wanted[i], standIn[i] = float64(remaining[c]), columnDear*values[c]
	}
	x.lp = linear.NewCover(wanted, standIn)
	for _, f := range x.fillings {
		x.add(f, remaining)
	}
}

// add makes a column of a filling, without pods that are not wanted any more.
func (x *columns) add(f filling, remaining []int64) {
	c := linear.Column{Cost: x.s.fill.costs[x.m.options[f.at]]}
	for _, it := range f.items {
		if n := min(it.N, remaining[it.Class]); n > 0 {
			c.Rows, c.Amounts = append(c.Rows, x.row[it.Class]), append(c.Amounts, float64(n))
		}
	}
	x.lp.Add(c)
}

// found is a filling that is worth more than it costs, and by what share.
type found struct {
	filling
	gain float64
}

// generate adds fillings until there is nothing to be gained.
func (x *columns) generate(remaining []int64, values []float64) {
	x.restart(remaining, values)
	for range columnRounds {
		x.lp.Solve(columnPivots)
		for _, c := range x.classes {
			x.worths[c] = max(0, x.lp.Worths()[x.row[c]])
		}
		more := x.look(remaining)
		if len(more) == 0 || x.s.over() {
			break
		}
		slices.SortStableFunc(more, func(a, b found) int { return cmp.Compare(b.gain, a.gain) })
		for _, y := range more[:min(len(more), columnMore)] {
			x.fillings = append(x.fillings, y.filling)
			x.add(y.filling, remaining)
		}
	}
	x.lp.Solve(columnPivots)
	x.s.fill.work += x.lp.Work() / 4
}

// look looks for fillings among the options that can be had without end.
func (x *columns) look(remaining []int64) []found {
	f := x.s.fill
	f.arrange(x.classes, x.worths)
	f.stock(&x.s.stage, x.m, x.m.all, x.classes)
	endless := func(at int) bool { return x.s.p.Options[x.m.options[at]].Supply == model.NoSupply }
	return x.s.look(x.m, endless, remaining, x.worths, columnGain)
}

// look fills every option of a market that may be by worths, from what the stage has in
// stock. Where no filling is worth more than it costs by more than a share, it looks for
// others that begin with one size or another.
func (s *search) look(m *market, may func(at int) bool, remaining []int64, worths []float64, least float64) (more []found) {
	try := func(at int, seeds []shelf) float64 {
		o := m.options[at]
		items, worth := s.fill.fill(o, seeds, s.stage.shelves[m.row[at]], remaining, worths)
		gain := worth/s.fill.costs[o] - 1
		if gain > least {
			more = append(more, found{filling{at, slices.Clone(items)}, gain})
		}
		return gain
	}
	gains := make([]float64, len(m.options))
	for at := range m.options {
		if gains[at] = -1; may(at) && len(s.stage.shelves[m.row[at]]) > 0 {
			gains[at] = try(at, nil)
		}
	}
	if len(more) > 0 {
		return more
	}
	for at, gain := range gains {
		if gain < -columnFar {
			continue
		}
		for _, first := range s.stage.shelves[m.row[at]] {
			try(at, []shelf{first})
		}
	}
	return more
}

// buy buys the whole parts of a mix.
func (x *columns) buy(remaining []int64, b *budget) []model.Node {
	var out []model.Node
	for j := range x.fillings {
		if n := int64(x.lp.Amount(j) + 1e-6); n > 0 {
			out = x.buyOne(out, j, n, remaining, b)
		}
	}
	return out
}

// buyOne buys a filling some times, as often as it can be had whole, or once with what is
// left of it.
func (x *columns) buyOne(out []model.Node, j int, n int64, remaining []int64, b *budget) []model.Node {
	y := &x.fillings[j]
	o := x.m.options[y.at]
	var items []model.Item
	for _, it := range y.items {
		if k := min(it.N, remaining[it.Class]); k > 0 {
			items = append(items, model.Item{Class: it.Class, N: k})
		}
	}
	n = b.times(&x.s.p.Options[o], items, n, remaining)
	if len(items) == 0 || n == 0 {
		return out
	}
	node := model.Node{Option: o, N: n, Items: items}
	b.buy(&x.s.p.Options[o], &node, remaining)
	return append(out, node)
}
