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

// Fill packs pods of the indexed classes, at most remaining[c] of class c, into an empty machine of the option
// at a place of the market, and returns the items and their value. Each step takes pods of the class that would
// have the most value if the rest of the machine were filled with it alone: classes whose shape matches the
// room come first, and the next step balances the resources. With seeds, the machine begins with a pod of them
// or stays empty. The items are valid until the next fill.
func (f *Filler) Fill(at int, seeds []SizeList, remaining []int64, values []float64) ([]model.Item, float64) {
	option, lists := f.Begin(at), f.ListsAt(at)
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
	f.on.leave(f.items)
	return f.items, value
}

// Begin begins an empty machine of the option at a place of the market.
func (f *Filler) Begin(at int) *model.Option {
	option := &f.on.p.Options[f.index.m.Options[at]]
	copy(f.left, option.Room)
	f.items = f.items[:0]
	return option
}

// AddUpTo adds at most n pods of a class to the machine, as many as fit and may join, and returns their number.
func (f *Filler) AddUpTo(c model.ClassID, n int64) int64 {
	if n > 0 {
		n = min(n, f.on.joining(c), f.fitting(f.on.p.Classes[c].Request))
	}
	if n > 0 {
		f.take(c, n)
	}
	return max(n, 0)
}

// Finish fills the machine up and returns its items, which are valid until the next fill.
func (f *Filler) Finish(at int, remaining []int64, values []float64) []model.Item {
	f.fillUp(&f.on.p.Options[f.index.m.Options[at]], f.ListsAt(at), remaining, values)
	f.on.leave(f.items)
	return f.items
}

// ListsAt returns the classes by size that the option at a place of the market admits.
func (f *Filler) ListsAt(at int) []SizeList { return f.index.lists[f.index.m.Row[at]] }

// fillUp adds pods until no more fit, and returns their value.
func (f *Filler) fillUp(option *model.Option, lists []SizeList, remaining []int64, values []float64) (value float64) {
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
func (f *Filler) reopen(lists []SizeList, values []float64) {
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
func (f *Filler) choose(remaining []int64, values []float64) *cursor {
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
func (f *Filler) share(size int32) float64 {
	return f.shareOf(f.scaled[int(size)*f.stride:][:f.stride])
}

// shareOf is share for a request.
func (f *Filler) shareOf(request []float64) float64 {
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
func (f *Filler) best(cursors []int32, remaining []int64, values []float64) (best *cursor, kept int) {
	f.Work += int64(len(cursors))
	bestScore := -1.0
	for _, i := range cursors {
		x := &f.cursors[i]
		share := f.share(x.size)
		if x.value < 0 || share > 1 && !model.Fits(f.left, f.requests[x.size]) {
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
func (f *Filler) advance(x *cursor, remaining []int64, values []float64) bool {
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
func (f *Filler) takeFrom(x *cursor, option *model.Option, remaining []int64, values []float64) (value float64) {
	n := f.fitting(f.requests[x.size])
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
func (f *Filler) fitting(request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, f.left[d]/q)
		}
	}
	return n
}

// take adds n pods of class c to the items.
func (f *Filler) take(c model.ClassID, n int64) {
	for d, q := range f.on.p.Classes[c].Request {
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
func (f *Filler) withinFloor(option *model.Option, items []model.Item, c model.ClassID, n int64) int64 {
	if option.Floor < 0 {
		return n
	}
	for ; n > 0; n /= 2 {
		clear(f.groups)
		clear(f.load)
		f.groups.Set(int(f.on.p.Classes[c].Group))
		for d, q := range f.on.p.Classes[c].Request {
			f.load[d] = q * n
		}
		for _, it := range items {
			f.groups.Set(int(f.on.p.Classes[it.Class].Group))
		}
		f.on.p.Load(f.load, items)
		ok, looked := f.on.p.MeetsFloor(option, f.groups, f.load, items, c)
		if f.Work += looked; ok {
			return n
		}
	}
	return 0
}

// Placeable lists the classes with remaining pods that may be on some machine. The list is valid until the next
// call.
func (f *Filler) Placeable(remaining []int64) []model.ClassID {
	f.listed = f.listed[:0]
	for c, n := range remaining {
		if n > 0 && f.Possible[c] {
			f.listed = append(f.listed, model.ClassID(c))
		}
	}
	return f.listed
}
