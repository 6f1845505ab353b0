package greedy

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// bigFirst raises the score of a class by its share of the machine: large pods come first, because they fit
	// worse later.
	bigFirst = 0.35
	// alike is the share of a class's value that another class of its size must have to be taken in the same
	// step.
	alike = 0.98
	// From manyOpen sizes on there is a shortlist of shortMost. It is valid while at least the share shortFor
	// of the room is left.
	manyOpen, shortMost, shortFor = 128, 48, 0.97
)

// cursor is a position in the list of a size: classes before it cannot join the machine any more. It holds no
// pointer, so that setting up many is cheap.
type cursor struct {
	value float64 // of a pod of the class at the cursor; −1 at the end
	size  int32
	list  int32
	at    int32
}

// machineFill is the machine that is being filled. It reuses its memory from one machine to the next, so that filling
// does not allocate once it has grown.
type machineFill struct {
	sizes *classSizes
	work  *int64 // the number of classes looked at so far

	on          nodePods   // the pods on the machine; empty between fills
	left        []int64    // remaining room of the machine, by resource
	reserved    []int64    // room that is used last, by resource; empty for none
	queued      []queue    // per-node limits of which a machine takes pods first; empty for none
	inverse     []float64  // by resource: 1 / remaining room; 0 beyond the resources
	lists       []SizeList // of the cursors
	cursors     []cursor
	open        []int32 // cursors whose classes may still fit
	shortlisted []int32 // the best cursors at the time of the shortlist, best first
	scores      []float64
	before      []int64 // remaining room at the time of the shortlist, by resource
	items       []model.Item
	at          []int32 // by class on the machine: its index in items
	groups      model.Bits
	load        []int64
}

func newMachineFill(sizes *classSizes, work *int64) machineFill {
	p := sizes.p
	return machineFill{
		sizes: sizes, work: work, on: newNodePods(p), left: make([]int64, p.Dims), inverse: make([]float64, sizes.stride),
		at: make([]int32, len(p.Classes)), groups: model.NewBits(p.Groups), load: make([]int64, p.Dims),
	}
}

// begin begins an empty machine with a room.
func (f *machineFill) begin(room []int64) {
	copy(f.left, room)
	f.items = f.items[:0]
}

// finish returns the items, and forgets their pods. The items are valid until the next fill.
func (f *machineFill) finish() []model.Item {
	f.on.leave(f.items)
	return f.items
}

// run fills an empty machine of an option with pods of the lists, see [Filler.Fill].
func (f *machineFill) run(option *model.Option, lists, seeds []SizeList, remaining []int64, values []float64) ([]model.Item, float64) {
	f.begin(option.Room)
	value := 0.0
	if len(seeds) > 0 {
		f.reopen(seeds, values)
		for len(f.items) == 0 {
			first := f.choose(remaining, values)
			if first == nil {
				return nil, 0
			}
			value += f.takeFrom(first, option, remaining, values)
		}
	}
	value += f.takeQueued(f.queued, option, remaining, values)
	for d := range f.reserved {
		f.reserved[d] = min(f.reserved[d], f.left[d])
		f.left[d] -= f.reserved[d]
	}
	value += f.fillUp(option, lists, remaining, values)
	if model.AnyLeft(f.reserved) {
		for d, n := range f.reserved {
			f.left[d] += n
		}
		value += f.fillUp(option, lists, remaining, values)
	}
	return f.finish(), value
}

// fillUp adds pods until no more fit, and returns their value.
func (f *machineFill) fillUp(option *model.Option, lists []SizeList, remaining []int64, values []float64) (value float64) {
	f.reopen(lists, values)
	for {
		best := f.choose(remaining, values)
		if best == nil {
			break
		}
		value += f.takeFrom(best, option, remaining, values)
	}
	return value
}

// reopen sets a cursor to the beginning of each list.
func (f *machineFill) reopen(lists []SizeList, values []float64) {
	n := len(lists)
	f.lists, f.shortlisted = lists, f.shortlisted[:0]
	f.cursors, f.open = slices.Grow(f.cursors[:0], n)[:n], slices.Grow(f.open[:0], n)[:n]
	for i := range lists {
		x := &lists[i]
		f.cursors[i] = cursor{value: values[x.classes[0]], size: x.size, list: int32(i)}
		f.open[i] = int32(i)
	}
}

// choose returns the cursor of the class to take next, or nil. It drops cursors that no longer fit from f.open.
// With many sizes it compares all of them only now and then, and the shortlist in between.
func (f *machineFill) choose(remaining []int64, values []float64) *cursor {
	for d, q := range f.left {
		if q > 0 {
			f.inverse[d] = 1 / float64(q)
		} else {
			f.inverse[d] = 2 // any request of a whole unit then exceeds the room
		}
	}
	if f.shortlistValid() {
		if best := f.bestOfShortlist(remaining, values); best != nil {
			return best
		}
	}
	if len(f.open) > manyOpen {
		f.shortlist()
		if best := f.bestOfShortlist(remaining, values); best != nil {
			return best
		}
	}
	best, kept := f.best(f.open, remaining, values)
	f.open = f.open[:kept]
	return best
}

// share returns the largest share of the remaining room that a pod of a size takes.
func (f *machineFill) share(size int32) float64 {
	return f.shareOf(f.sizes.scaled[int(size)*f.sizes.stride:][:f.sizes.stride])
}

// shareOf is share for a request.
func (f *machineFill) shareOf(request []float64) float64 {
	// Compared as integers, without a branch: non-negative floats have the same order as their bits.
	bits, inverse := uint64(0), f.inverse
	for len(request) >= fewDims && len(inverse) >= fewDims {
		bits = max(bits, math.Float64bits(request[0]*inverse[0]),
			math.Float64bits(request[1]*inverse[1]), math.Float64bits(request[2]*inverse[2]))
		request, inverse = request[fewDims:], inverse[fewDims:]
	}
	return math.Float64frombits(bits)
}

// best returns the cursor with the best score, or nil, and moves the cursors that still fit to the front.
func (f *machineFill) best(cursors []int32, remaining []int64, values []float64) (best *cursor, kept int) {
	*f.work += int64(len(cursors))
	bestScore := -1.0
	for _, i := range cursors {
		x := &f.cursors[i]
		share := f.share(x.size)
		if x.value < 0 || share > 1 && !model.Fits(f.left, f.sizes.requests[x.size]) {
			continue
		}
		// Later classes of the list have at most this value, so only the best cursors need to check whether
		// their class may join.
		if x.beats(bestScore, share) {
			if !f.advance(x, remaining, values) {
				continue
			}
			if x.beats(bestScore, share) {
				best, bestScore = x, x.value*density(share)
			}
		}
		cursors[kept] = i
		kept++
	}
	return best, kept
}

// density returns how many pods of a share of the room fill it, a little more for large ones.
func density(share float64) float64 {
	if share > 0 {
		return 1/share + bigFirst
	}
	return 1e12
}

// beats reports whether the class at the cursor scores more than score. It avoids a division.
func (x *cursor) beats(score, share float64) bool {
	if share > 0 {
		return x.value*(1+bigFirst*share) > score*share
	}
	return x.value*1e12 > score
}

// advance moves a cursor to the next class with remaining pods that may join, and reports whether there is one.
func (f *machineFill) advance(x *cursor, remaining []int64, values []float64) bool {
	classes := f.lists[x.list].classes
	for ; int(x.at) < len(classes); x.at++ {
		c := classes[x.at]
		if f.on.taken[c] < remaining[c] && f.on.joining(c) > 0 {
			x.value = values[c]
			return true
		}
	}
	x.value = -1
	return false
}

// takeFrom adds pods of the class at the cursor, and of the classes after it with about the same value where it
// has too few: a quarter of the pods that would fill the room, so that later steps can balance the resources.
// It returns their value.
func (f *machineFill) takeFrom(x *cursor, option *model.Option, remaining []int64, values []float64) (value float64) {
	n := f.fitting(f.sizes.requests[x.size])
	if n > 3 {
		n = (n + 3) / 4
	} else if n > 1 {
		n = 1
	}
	least, classes := x.value*alike, f.lists[x.list].classes
	for {
		c := classes[x.at]
		some := min(n, remaining[c]-f.on.taken[c], f.on.joining(c))
		some = f.withinFloor(option, f.items, c, some)
		if some > 0 {
			f.take(c, some)
			value += float64(some) * values[c]
		}
		if n -= some; n == 0 && some > 0 {
			return value
		}
		if some == 0 {
			x.at++
		}
		if !f.advance(x, remaining, values) || x.value < least {
			return value
		}
	}
}

// fitting returns the number of pods with a request that the room holds.
func (f *machineFill) fitting(request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, f.left[d]/q)
		}
	}
	return n
}

// take adds n pods of class c to the items.
func (f *machineFill) take(c model.ClassID, n int64) {
	for d, q := range f.sizes.p.Classes[c].Request {
		f.left[d] -= q * n
	}
	if f.on.join(c, n) {
		f.at[c] = int32(len(f.items))
		f.items = append(f.items, model.Item{Class: c})
	}
	f.items[f.at[c]].N = f.on.taken[c]
}

// withinFloor returns n, halved until the items with n more pods of class c keep the minValues floor of the
// option's pool.
func (f *machineFill) withinFloor(option *model.Option, items []model.Item, c model.ClassID, n int64) int64 {
	if option.Floor < 0 {
		return n
	}
	for ; n > 0; n /= 2 {
		clear(f.groups)
		clear(f.load)
		f.groups.Set(int(f.sizes.p.Classes[c].Group))
		for d, q := range f.sizes.p.Classes[c].Request {
			f.load[d] = q * n
		}
		for _, it := range items {
			f.groups.Set(int(f.sizes.p.Classes[it.Class].Group))
		}
		f.sizes.p.Load(f.load, items)
		ok, looked := f.sizes.p.MeetsFloor(option, f.groups, f.load, items, c)
		if *f.work += looked; ok {
			return n
		}
	}
	return 0
}

// takeQueued adds a pod of each queue, if one fits, and returns the value.
func (f *machineFill) takeQueued(queues []queue, option *model.Option, remaining []int64, values []float64) (value float64) {
	for i := range queues {
		f.reopen(queues[i].lists, values)
		if first := f.choose(remaining, values); first != nil {
			value += f.takeFrom(first, option, remaining, values)
		}
	}
	return value
}
