package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// bins is the room left on machines, and what was put onto them.
type bins struct {
	room  [][]int64
	items [][]model.Item
}

func newBins(p *model.Problem) *bins {
	b := &bins{room: make([][]int64, len(p.Bins)), items: make([][]model.Item, len(p.Bins))}
	all := make([]int64, 0, p.Dims*len(p.Bins))
	for i := range p.Bins {
		from := len(all)
		all = append(all, p.Bins[i].Room...)
		b.room[i] = all[from:len(all):len(all)]
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
	heap   []seat
}

// at returns the i-th best seat, where there is one.
func (s *seats) at(i int) (seat, bool) {
	for len(s.sorted) <= i {
		if len(s.heap) == 0 {
			return seat{}, false
		}
		last := len(s.heap) - 1
		s.sorted = append(s.sorted, s.heap[0])
		s.heap[0] = s.heap[last]
		s.heap = s.heap[:last]
		s.sink(0)
	}
	return s.sorted[i], true
}

// sink moves the seat at i of the heap down to where it belongs.
func (s *seats) sink(i int) {
	h := s.heap
	for {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// placing puts pods onto machines that are there.
type placing struct {
	*filler
	machines []model.Bin
	options  []model.OptionID // as what they are bought; nil if they run already
	bins     *bins
	some     []int // the machines that can still hold the smallest
	least    []int64
	seats    seats
	few      *rand.Rand // if set, machines take fewer pods than they could
}

// placeOn puts as many of the remaining pods onto some of the bins as fit, class by
// class in the given order, which has classes of one size and group side by side.
func (f *filler) placeOn(b *bins, some []int, order []model.ClassID, remaining []int64) {
	x := placing{filler: f, machines: f.p.Bins, bins: b, some: append(f.some[:0], some...)}
	f.some = x.some
	x.place(order, remaining)
}

// placeSome puts some of the pods that placeOn would put onto some bins, so that there
// is room for those that come later in the order.
func (f *filler) placeSome(b *bins, some []int, order []model.ClassID, remaining []int64, random *rand.Rand) {
	x := placing{filler: f, machines: f.p.Bins, bins: b, some: append(f.some[:0], some...), few: random}
	f.some = x.some
	x.place(order, remaining)
}

// place is placeOn for any machines.
func (x *placing) place(order []model.ClassID, remaining []int64) {
	f := x.filler
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
		for to < len(order) && f.sameSeats(order[from], order[to]) {
			to++
		}
		x.run(order[from:to], remaining)
		from = to
	}
}

// sameSeats reports whether pods of two classes fit into the same bins, company aside.
func (f *filler) sameSeats(a, b model.ClassID) bool {
	return f.sizeOf[a] == f.sizeOf[b] && f.p.Classes[a].Group == f.p.Classes[b].Group
}

// sameCompany reports whether pods of two classes are let in by the same pods.
func (f *filler) sameCompany(a, b model.ClassID) bool {
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
		if i == 0 || !x.sameCompany(classes[i-1], c) {
			at = 0
		}
		for remaining[c] > 0 {
			s, ok := x.seats.at(at)
			if !ok {
				break
			}
			n := min(remaining[c], x.capacity(s.bin, request))
			if n > 0 {
				n = min(n, x.p.Joining(x.bins.items[s.bin], x.machines[s.bin].Present, c))
			}
			if n > 0 && x.options != nil {
				n = x.withinFloor(&x.p.Options[x.options[s.bin]], x.bins.items[s.bin], c, n)
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
				x.bins.room[s.bin][d] -= q * n
			}
			x.bins.items[s.bin] = model.Add(x.bins.items[s.bin], c, n)
			remaining[c] -= n
		}
	}
}

// uniform reports whether the classes are all let in by the same pods.
func (f *filler) uniform(classes []model.ClassID) bool {
	for _, c := range classes[1:] {
		if !f.sameCompany(classes[0], c) {
			return false
		}
	}
	return true
}

// find collects the seats for pods of the size and group of class c, and, where they
// are all of its company, only those where it is let in.
func (x *placing) find(c model.ClassID, uniform bool) {
	class := &x.p.Classes[c]
	x.work += int64(len(x.some))
	x.seats.sorted, x.seats.heap = x.seats.sorted[:0], x.seats.heap[:0]
	kept := x.some[:0]
	for _, i := range x.some {
		if !model.Fits(x.bins.room[i], x.least) {
			continue
		}
		kept = append(kept, i)
		bin := &x.machines[i]
		if bin.Admits.Has(int(class.Group)) && model.Fits(x.bins.room[i], class.Request) &&
			(!uniform || x.p.Joining(x.bins.items[i], bin.Present, c) > 0) {
			x.seats.heap = append(x.seats.heap, seat{
				bin: i, soft: bin.Soft.Has(int(class.Group)), left: spare(x.bins.room[i], bin.Room, class.Request),
			})
		}
	}
	x.some = kept
	for i := len(x.seats.heap)/2 - 1; i >= 0; i-- {
		x.seats.sink(i)
	}
}

// capacity is how many pods of a size bin i has room for.
func (x *placing) capacity(i int, request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, x.bins.room[i][d]/q)
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
