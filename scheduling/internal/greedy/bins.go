package greedy

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Bins is the room left on machines, and what was put onto them.
type Bins struct {
	Room  [][]int64
	Items [][]model.Item
}

// NewBins is the bins of a problem as they are.
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

// seat is a bin that could hold one more pod of some size.
type seat struct {
	bin  int
	soft bool
	left float64 // see spare
}

// before says that the bin the pods fill best comes first, so that the emptiest stay
// usable for what is large; bins that they would rather avoid come last.
func (x seat) before(y seat) bool {
	if x.soft != y.soft {
		return y.soft
	}
	return cmp.Or(cmp.Compare(x.left, y.left), cmp.Compare(x.bin, y.bin)) < 0
}

// seats are the bins for pods of one size and group, the best first. They are sorted
// only as far as someone has looked.
type seats struct {
	sorted []seat
	heap   heap[seat]
}

// at returns the i-th best seat, where there is one.
func (s *seats) at(i int) (seat, bool) {
	for len(s.sorted) <= i {
		if len(s.heap) == 0 {
			return seat{}, false
		}
		s.sorted = append(s.sorted, s.heap.pop())
	}
	return s.sorted[i], true
}

// placing puts pods onto machines that are there.
type placing struct {
	*Filler
	machines []model.Bin
	options  []model.OptionID // as what they are bought; nil if they run already
	bins     *Bins
	some     []int // the machines that can still hold the smallest
	least    []int64
	seats    seats
	few      *rand.Rand // if set, machines take fewer pods than they could
}

// PlaceOn puts as many of the remaining pods onto some of the bins as fit, class by
// class in the given order, which has classes of one size and group side by side. With
// a source of random numbers they take fewer, so that there is room for those that come
// later in the order.
func (f *Filler) PlaceOn(b *Bins, some []int, order []model.ClassID, remaining []int64, few *rand.Rand) {
	x := placing{Filler: f, machines: f.p.Bins, bins: b, some: append(f.some[:0], some...), few: few}
	f.some = x.some
	x.place(order, remaining)
}

// place is placeOn for any machines.
func (x *placing) place(order []model.ClassID, remaining []int64) {
	f := x.Filler
	x.seats, f.seats = f.seats, seats{}
	defer func() { f.seats = x.seats }()
	for _, c := range order {
		if x.least == nil {
			x.least = slices.Clone(f.p.Classes[c].Request)
		}
		for d, q := range f.p.Classes[c].Request {
			x.least[d] = min(x.least[d], q)
		}
	}
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && f.SameSeats(order[from], order[to]) {
			to++
		}
		x.run(order[from:to], remaining)
		from = to
	}
}

// SameSeats reports whether pods of two classes fit into the same bins, occupants aside.
func (f *Filler) SameSeats(a, b model.ClassID) bool {
	return f.SizeOf[a] == f.SizeOf[b] && f.p.Classes[a].Group == f.p.Classes[b].Group
}

// sameConflicts reports whether pods of two classes are let in by the same pods.
func (f *Filler) sameConflicts(a, b model.ClassID) bool {
	x, y := &f.p.Classes[a], &f.p.Classes[b]
	return x.PerNode == 0 && y.PerNode == 0 && len(x.Conflicts) == 0 && len(y.Conflicts) == 0 && slices.Equal(x.PerNodeLimits, y.PerNodeLimits)
}

// run places classes of one size and group.
func (x *placing) run(classes []model.ClassID, remaining []int64) {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return remaining[c] > 0 }) {
		return
	}
	x.find(classes[0], x.uniform(classes))
	request := x.p.Classes[classes[0]].Request
	at := 0
	for i, c := range classes {
		if i == 0 || !x.sameConflicts(classes[i-1], c) {
			at = 0
		}
		for remaining[c] > 0 {
			s, ok := x.seats.at(at)
			if !ok {
				break
			}
			n := min(remaining[c], x.capacity(s.bin, request))
			if n > 0 {
				n = min(n, x.p.Joining(x.bins.Items[s.bin], x.machines[s.bin].Present, c))
			}
			if n > 0 && x.options != nil {
				n = x.withinFloor(&x.p.Options[x.options[s.bin]], x.bins.Items[s.bin], c, n)
			}
			if n <= 0 {
				at++
				continue
			}
			if x.few != nil {
				n = 1 + x.few.Int64N(n)
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

// uniform reports whether the classes are all let in by the same pods.
func (f *Filler) uniform(classes []model.ClassID) bool {
	for _, c := range classes[1:] {
		if !f.sameConflicts(classes[0], c) {
			return false
		}
	}
	return true
}

// find collects the seats for pods of the size and group of class c, with uniform only those where
// class c is let in.
func (x *placing) find(c model.ClassID, uniform bool) {
	class := &x.p.Classes[c]
	x.Work += int64(len(x.some))
	x.seats.sorted, x.seats.heap = x.seats.sorted[:0], x.seats.heap[:0]
	kept := x.some[:0]
	for _, i := range x.some {
		if !model.Fits(x.bins.Room[i], x.least) {
			continue
		}
		kept = append(kept, i)
		bin := &x.machines[i]
		if bin.Admits.Has(int(class.Group)) && model.Fits(x.bins.Room[i], class.Request) &&
			(!uniform || x.p.Joining(x.bins.Items[i], bin.Present, c) > 0) {
			x.seats.heap = append(x.seats.heap, seat{
				bin: i, soft: bin.Soft.Has(int(class.Group)), left: spare(x.bins.Room[i], bin.Room, class.Request),
			})
		}
	}
	x.some = kept
	x.seats.heap.order()
}

// capacity is how many pods of a size bin i has room for.
func (x *placing) capacity(i int, request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, x.bins.Room[i][d]/q)
		}
	}
	return n
}

// spare is the largest share of a bin's room that stays free after one pod more.
func spare(left, room, request []int64) float64 {
	worst := 0.0
	for d, q := range request {
		if q > 0 && room[d] > 0 {
			worst = max(worst, float64(left[d]-q)/float64(room[d]))
		}
	}
	return worst
}

// TopUp adds remaining pods that a market admits to machines that are already bought, those
// first that they fill best, and returns the machines one by one.
func (f *Filler) TopUp(nodes []model.Node, m *Market, order []model.ClassID, remaining []int64) []model.Node {
	singles := model.Unbundle(nodes)
	machines := make([]model.Bin, len(singles))
	b := &Bins{Room: make([][]int64, len(singles)), Items: make([][]model.Item, len(singles))}
	options, every := make([]model.OptionID, len(singles)), make([]int, len(singles))
	none := model.NewBits(f.p.Groups)
	load := make([]int64, f.p.Dims)
	for i := range singles {
		o := singles[i].Option
		room := f.p.Options[o].Room
		machines[i] = model.Bin{Room: room, Admits: none, Soft: none}
		if r := m.RowOf[o]; r >= 0 {
			machines[i].Admits = m.Rows[r]
		}
		clear(load)
		f.p.Load(load, singles[i].Items)
		b.Room[i] = slices.Clone(room)
		for d, n := range load {
			b.Room[i][d] -= n
		}
		b.Items[i], options[i], every[i] = singles[i].Items, o, i
	}
	x := placing{Filler: f, machines: machines, bins: b, some: every, options: options}
	x.place(order, remaining)
	for i := range singles {
		singles[i].Items = b.Items[i]
	}
	return singles
}

// BinOrder is the order in which classes are offered to the bins: those that nothing
// on sale could hold, then by priority, the crowded first, then by worth, with classes of one size and
// group side by side where the most worth of them stands. It sorts them in place.
func (f *Filler) BinOrder(order []model.ClassID, values []float64) []model.ClassID {
	type kind struct {
		size, group, priority int32
		sold, crowded         bool
	}
	most := map[kind]float64{}
	kinds := make([]kind, len(f.p.Classes))
	for _, c := range order {
		class := &f.p.Classes[c]
		kinds[c] = kind{f.SizeOf[c], class.Group, class.Priority, values[c] > 0, f.crowded[c]}
		most[kinds[c]] = max(most[kinds[c]], values[c])
	}
	peak := make([]float64, len(f.p.Classes))
	for _, c := range order {
		peak[c] = most[kinds[c]]
	}
	slices.SortFunc(order, func(x, y model.ClassID) int {
		a, b := &kinds[x], &kinds[y]
		return cmp.Or(
			first(!a.sold, !b.sold),
			cmp.Compare(b.priority, a.priority),
			first(a.crowded, b.crowded),
			cmp.Compare(peak[y], peak[x]),
			cmp.Compare(a.size, b.size),
			cmp.Compare(a.group, b.group),
			cmp.Compare(values[y], values[x]),
			cmp.Compare(x, y),
		)
	})
	return order
}

// first orders those for whom something is so before the others.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
