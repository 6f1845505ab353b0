package greedy

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Bins is the remaining room of existing nodes (or of machines), and the pods that an answer places on them.
type Bins struct {
	Room  [][]int64
	Items [][]model.Item
}

// NewBins returns the bins of a problem without pods of an answer.
func NewBins(p *model.Problem) *Bins {
	b := &Bins{Room: make([][]int64, len(p.Bins)), Items: make([][]model.Item, len(p.Bins))}
	all := make([]int64, 0, p.Dims*len(p.Bins))
	for i := range p.Bins {
		from := len(all)
		all = append(all, p.Bins[i].Room...)
		b.Room[i] = all[from:len(all):len(all)]
	}
	return b
}

// binCandidate is a bin with room for one more pod of some size.
type binCandidate struct {
	bin  int
	soft bool    // the bin has a PreferNoSchedule taint that the pod does not tolerate
	left float64 // see spare
}

// before orders candidates by best fit, so that the emptiest bins keep room for large pods. Bins with an
// untolerated PreferNoSchedule taint come last.
func (x binCandidate) before(y binCandidate) bool {
	if x.soft != y.soft {
		return y.soft
	}
	return cmp.Or(cmp.Compare(x.left, y.left), cmp.Compare(x.bin, y.bin)) < 0
}

// binCandidates are the candidates for pods of one size and group, best first. They are sorted lazily, as far
// as callers look.
type binCandidates struct {
	sorted []binCandidate
	heap   heap[binCandidate]
}

// at returns the i-th best candidate, if there is one.
func (s *binCandidates) at(i int) (binCandidate, bool) {
	for len(s.sorted) <= i {
		if len(s.heap) == 0 {
			return binCandidate{}, false
		}
		s.sorted = append(s.sorted, s.heap.pop())
	}
	return s.sorted[i], true
}

// binPlacement places pods on existing machines.
type binPlacement struct {
	f        *Filler
	machines []model.Bin
	options  []model.OptionID // by machine: its option; nil for existing nodes
	bins     *Bins
	some     []int // machines with room for the least request
	least    []int64
	bestBins binCandidates
	partial  *rand.Rand // if set, machines take a random part of the pods that fit
}

// PlaceOn places as many remaining pods as fit on some of the bins, class by class in the given order, in which
// classes of one size and group are adjacent. With a random source, bins take a random part of them, which
// leaves room for classes later in the order.
func (f *Filler) PlaceOn(b *Bins, some []int, order []model.ClassID, remaining []int64, few *rand.Rand) {
	x := binPlacement{f: f, machines: f.sizes.p.Bins, bins: b, some: append(f.some[:0], some...), partial: few}
	f.some = x.some
	x.place(order, remaining)
}

// place is PlaceOn for any machines.
func (x *binPlacement) place(order []model.ClassID, remaining []int64) {
	f := x.f
	x.bestBins, f.bestBins = f.bestBins, binCandidates{}
	defer func() { f.bestBins = x.bestBins }()
	for _, c := range order {
		if x.least == nil {
			x.least = slices.Clone(f.sizes.p.Classes[c].Request)
		}
		for d, q := range f.sizes.p.Classes[c].Request {
			x.least[d] = min(x.least[d], q)
		}
	}
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && f.sizes.sameBins(order[from], order[to]) {
			to++
		}
		x.run(order[from:to], remaining)
		from = to
	}
}

// run places classes of one size and group.
func (x *binPlacement) run(classes []model.ClassID, remaining []int64) {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 }) {
		return
	}
	x.find(classes[0], x.f.sizes.uniform(classes))
	request := x.f.sizes.p.Classes[classes[0]].Request
	at := 0
	for i, c := range classes {
		if i == 0 || !x.f.sizes.sameConflicts(classes[i-1], c) {
			at = 0
		}
		for remaining[c] > 0 {
			s, ok := x.bestBins.at(at)
			if !ok {
				break
			}
			n := min(remaining[c], x.capacity(s.bin, request))
			if n > 0 {
				n = min(n, x.f.sizes.p.Joining(x.bins.Items[s.bin], x.machines[s.bin].Present, c))
			}
			if n > 0 && x.options != nil {
				n = x.f.machine.withinFloor(&x.f.sizes.p.Options[x.options[s.bin]], x.bins.Items[s.bin], c, n)
			}
			if n <= 0 {
				at++
				continue
			}
			if x.partial != nil {
				n = 1 + x.partial.Int64N(n)
				at++
			}
			for d, q := range request {
				x.bins.Room[s.bin][d] -= q * n
			}
			x.bins.Items[s.bin] = model.Add(x.bins.Items[s.bin], c, n)
			remaining[c] -= n
		}
	}
}

// find collects the candidates for the size and group of class c; with uniform, only bins whose pods class c
// may join.
func (x *binPlacement) find(c model.ClassID, uniform bool) {
	class := &x.f.sizes.p.Classes[c]
	x.f.Work += int64(len(x.some))
	x.bestBins.sorted, x.bestBins.heap = x.bestBins.sorted[:0], x.bestBins.heap[:0]
	kept := x.some[:0]
	for _, i := range x.some {
		if !model.Fits(x.bins.Room[i], x.least) {
			continue
		}
		kept = append(kept, i)
		bin := &x.machines[i]
		if bin.Admits.Has(int(class.Group)) && model.Fits(x.bins.Room[i], class.Request) &&
			(!uniform || x.f.sizes.p.Joining(x.bins.Items[i], bin.Present, c) > 0) {
			x.bestBins.heap = append(x.bestBins.heap, binCandidate{
				bin: i, soft: bin.Soft.Has(int(class.Group)), left: spare(x.bins.Room[i], bin.Room, class.Request),
			})
		}
	}
	x.some = kept
	x.bestBins.heap.order()
}

// capacity returns the number of pods of a size that bin i has room for.
func (x *binPlacement) capacity(i int, request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, x.bins.Room[i][d]/q)
		}
	}
	return n
}

// spare returns the largest share of a bin's resource that stays free after one more pod.
func spare(left, room, request []int64) float64 {
	worst := 0.0
	for d, q := range request {
		if q > 0 && room[d] > 0 {
			worst = max(worst, float64(left[d]-q)/float64(room[d]))
		}
	}
	return worst
}

// TopUp adds remaining pods that a market admits to machines that are already bought, best fit first, and
// returns the machines as single ones.
func (f *Filler) TopUp(nodes []model.Node, m *Market, order []model.ClassID, remaining []int64) []model.Node {
	singles := model.Unbundle(nodes)
	machines := make([]model.Bin, len(singles))
	b := &Bins{Room: make([][]int64, len(singles)), Items: make([][]model.Item, len(singles))}
	options, every := make([]model.OptionID, len(singles)), make([]int, len(singles))
	none := model.NewBits(f.sizes.p.Groups)
	load := make([]int64, f.sizes.p.Dims)
	for i := range singles {
		o := singles[i].Option
		room := f.sizes.p.Options[o].Room
		machines[i] = model.Bin{Room: room, Admits: none, Soft: none}
		if r := m.RowOf[o]; r >= 0 {
			machines[i].Admits = m.Rows[r]
		}
		clear(load)
		f.sizes.p.Load(load, singles[i].Items)
		b.Room[i] = slices.Clone(room)
		for d, n := range load {
			b.Room[i][d] -= n
		}
		b.Items[i], options[i], every[i] = singles[i].Items, o, i
	}
	x := binPlacement{f: f, machines: machines, bins: b, some: every, options: options}
	x.place(order, remaining)
	for i := range singles {
		singles[i].Items = b.Items[i]
	}
	return singles
}

// BinOrder sorts classes in the order for existing nodes: classes that fit no option, then by priority, classes
// whose per-node limit decides the number of machines, then by value, with classes of one size and group
// adjacent at the place of their largest value. It sorts in place.
func (f *Filler) BinOrder(order []model.ClassID, values []float64) []model.ClassID {
	type kind struct {
		size, group, priority int32
		sold, limitBound      bool
	}
	most := map[kind]float64{}
	kinds := make([]kind, len(f.sizes.p.Classes))
	for _, c := range order {
		class := &f.sizes.p.Classes[c]
		kinds[c] = kind{f.SizeOf[c], class.Group, class.Priority, values[c] > 0, f.pace.limitBound[c]}
		most[kinds[c]] = max(most[kinds[c]], values[c])
	}
	peak := make([]float64, len(f.sizes.p.Classes))
	for _, c := range order {
		peak[c] = most[kinds[c]]
	}
	slices.SortFunc(order, func(x, y model.ClassID) int {
		a, b := &kinds[x], &kinds[y]
		return cmp.Or(
			first(!a.sold, !b.sold),
			cmp.Compare(b.priority, a.priority),
			first(a.limitBound, b.limitBound),
			cmp.Compare(peak[y], peak[x]),
			cmp.Compare(a.size, b.size),
			cmp.Compare(a.group, b.group),
			cmp.Compare(values[y], values[x]),
			cmp.Compare(x, y),
		)
	})
	return order
}

// first orders items with a property before items without.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
