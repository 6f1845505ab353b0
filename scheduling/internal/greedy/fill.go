package greedy

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// bigFirst is how much more a class counts whose pods take a whole machine than
	// one whose pods take next to nothing: what is large fits worse later.
	bigFirst = 0.35
	// alike is how much a class may be worth less than another of its size to be taken
	// in one go with it.
	alike = 0.98
	// manyOpen is from how many sizes on a shortlist is made, shortMost how many are on
	// it, and shortFor how much of the room must still be left for it to be good.
	manyOpen, shortMost, shortFor = 128, 48, 0.97
)

// cursor walks along a shelf: those before at cannot join any more. It points to nothing,
// so that setting up many is cheap.
type cursor struct {
	worth float64 // of a pod of the class at the cursor; negative at the end
	size  int32
	shelf int32
	at    int32
}

// Fill packs pods from the shelves, at most remaining[c] of class c, into an empty
// machine of the option at a place of the market, and returns what it holds and what that is worth. At every step
// it takes some of the class that would be worth most if the room left were filled
// with it alone; classes whose shape matches the room left come out first, and what
// unbalances it is balanced by the next. Where there are seeds, the machine begins with
// one of them or stays empty. The items are valid until the next fill.
func (f *Filler) Fill(at int, seeds []Shelf, remaining []int64, values []float64) ([]model.Item, float64) {
	option, shelves := f.Begin(at), f.ShelvesAt(at)
	worth := 0.0
	if len(seeds) > 0 {
		f.reopen(seeds, values)
		for len(f.items) == 0 {
			first := f.choose(remaining, values)
			if first == nil {
				return nil, 0
			}
			worth += f.takeFrom(first, option, remaining, values)
		}
	}
	worth += f.seat(f.ahead, option, remaining, values)
	for d := range f.hold {
		f.hold[d] = min(f.hold[d], f.left[d])
		f.left[d] -= f.hold[d]
	}
	worth += f.fillUp(option, shelves, remaining, values)
	if model.AnyLeft(f.hold) {
		for d, n := range f.hold {
			f.left[d] += n
		}
		worth += f.fillUp(option, shelves, remaining, values)
	}
	f.leave(f.items)
	return f.items, worth
}

// Begin begins an empty machine of the option at a place of the market.
func (f *Filler) Begin(at int) *model.Option {
	option := &f.p.Options[f.stage.Options[at]]
	copy(f.left, option.Room)
	f.items = f.items[:0]
	return option
}

// SeatUpTo adds at most n pods of a class to a machine that is begun, as many as fit and may join,
// and returns how many these are.
func (f *Filler) SeatUpTo(c model.ClassID, n int64) int64 {
	if n > 0 {
		n = min(n, f.joining(c), f.fitting(f.p.Classes[c].Request))
	}
	if n > 0 {
		f.take(c, n)
	}
	return max(n, 0)
}

// Finish fills up a machine that is begun at a place of the market, and returns what it holds,
// which is valid until the next fill.
func (f *Filler) Finish(at int, remaining []int64, values []float64) []model.Item {
	f.fillUp(&f.p.Options[f.stage.Options[at]], f.ShelvesAt(at), remaining, values)
	f.leave(f.items)
	return f.items
}

// ShelvesAt are the shelves of what may be at a place of the market.
func (f *Filler) ShelvesAt(at int) []Shelf { return f.stage.shelves[f.stage.Row[at]] }

// fillUp adds pods from the shelves until no more fit.
func (f *Filler) fillUp(option *model.Option, shelves []Shelf, remaining []int64, values []float64) (worth float64) {
	f.reopen(shelves, values)
	for {
		best := f.choose(remaining, values)
		if best == nil {
			break
		}
		worth += f.takeFrom(best, option, remaining, values)
	}
	return worth
}

// reopen sets cursors to the beginning of shelves.
func (f *Filler) reopen(shelves []Shelf, values []float64) {
	n := len(shelves)
	f.shelves, f.short = shelves, f.short[:0]
	f.cursors, f.open = slices.Grow(f.cursors[:0], n)[:n], slices.Grow(f.open[:0], n)[:n]
	for i := range shelves {
		x := &shelves[i]
		f.cursors[i] = cursor{worth: values[x.classes[0]], size: x.size, shelf: int32(i)}
		f.open[i] = int32(i)
	}
}

// choose returns the cursor whose class to take next, or nil. Those that no longer fit
// are dropped from f.open. Where there are many, it looks at all of them only now and
// then, and at those that came out best in between.
func (f *Filler) choose(remaining []int64, values []float64) *cursor {
	for d, q := range f.left {
		if q > 0 {
			f.inverse[d] = 1 / float64(q)
		} else {
			f.inverse[d] = 2 // any request of a whole unit then exceeds the room
		}
	}
	if f.fresh() {
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

// share is the largest part of the room left that a pod of a size takes.
func (f *Filler) share(size int32) float64 {
	return f.shareOf(f.scaled[int(size)*f.stride:][:f.stride])
}

// shareOf is the same for a request.
func (f *Filler) shareOf(request []float64) float64 {
	// Compared as whole numbers: floats that are not negative stand in the same order,
	// and compare without a jump.
	bits, inverse := uint64(0), f.inverse
	for len(request) >= fewDims && len(inverse) >= fewDims {
		bits = max(bits, math.Float64bits(request[0]*inverse[0]),
			math.Float64bits(request[1]*inverse[1]), math.Float64bits(request[2]*inverse[2]))
		request, inverse = request[fewDims:], inverse[fewDims:]
	}
	return math.Float64frombits(bits)
}

// best returns the one of some cursors whose class to take next, or nil, and moves those
// that still fit to the front.
func (f *Filler) best(cursors []int32, remaining []int64, values []float64) (best *cursor, kept int) {
	f.Work += int64(len(cursors))
	bestScore := -1.0
	for _, i := range cursors {
		x := &f.cursors[i]
		share := f.share(x.size)
		if x.worth < 0 || share > 1 && !model.Fits(f.left, f.requests[x.size]) {
			continue
		}
		// Whoever comes next on the shelf is worth no more: only the best are asked
		// whether they may join.
		if x.beats(bestScore, share) {
			if !f.advance(x, remaining, values) {
				continue
			}
			if x.beats(bestScore, share) {
				best, bestScore = x, x.worth*density(share)
			}
		}
		cursors[kept] = i
		kept++
	}
	return best, kept
}

// density is how many pods that take such a share of the room left it could hold, and
// a little more for large ones.
func density(share float64) float64 {
	if share > 0 {
		return 1/share + bigFirst
	}
	return 1e12
}

// beats reports whether the class at the cursor scores more. It does not divide.
func (x *cursor) beats(score, share float64) bool {
	if share > 0 {
		return x.worth*(1+bigFirst*share) > score*share
	}
	return x.worth*1e12 > score
}

// advance moves a cursor to the next class that has pods left and may join, and
// reports whether there is one.
func (f *Filler) advance(x *cursor, remaining []int64, values []float64) bool {
	classes := f.shelves[x.shelf].classes
	for ; int(x.at) < len(classes); x.at++ {
		c := classes[x.at]
		if f.taken[c] < remaining[c] && f.joining(c) > 0 {
			x.worth = values[c]
			return true
		}
	}
	x.worth = -1
	return false
}

// takeFrom adds pods of the class at the cursor, which may join, to the pattern, and
// where it has too few, of those behind it that are worth about as much: a quarter of
// what the room left could hold, so that what it unbalances can be balanced. It
// returns what they are worth.
func (f *Filler) takeFrom(x *cursor, option *model.Option, remaining []int64, values []float64) (worth float64) {
	n := f.fitting(f.requests[x.size])
	if n > 3 {
		n = (n + 3) / 4
	} else if n > 1 {
		n = 1
	}
	least, classes := x.worth*alike, f.shelves[x.shelf].classes
	for {
		c := classes[x.at]
		some := min(n, remaining[c]-f.taken[c], f.joining(c))
		some = f.withinFloor(option, f.items, c, some)
		if some > 0 {
			f.take(c, some)
			worth += float64(some) * values[c]
		}
		if n -= some; n == 0 && some > 0 {
			return worth
		}
		if some == 0 {
			x.at++
		}
		if !f.advance(x, remaining, values) || x.worth < least {
			return worth
		}
	}
}

// fitting is how many pods the room left holds, at least 1 where the caller has seen
// that one fits.
func (f *Filler) fitting(request []int64) int64 {
	n := model.Unbounded
	for d, q := range request {
		if q > 0 {
			n = min(n, f.left[d]/q)
		}
	}
	return n
}

// take adds n pods of class c to the pattern.
func (f *Filler) take(c model.ClassID, n int64) {
	for d, q := range f.p.Classes[c].Request {
		f.left[d] -= q * n
	}
	if f.join(c, n) {
		f.at[c] = int32(len(f.items))
		f.items = append(f.items, model.Item{Class: c})
	}
	f.items[f.at[c]].N = f.taken[c]
}

// withinFloor lowers n until items with n more pods of class c still leave the
// option's pool as flexible as it must be.
func (f *Filler) withinFloor(option *model.Option, items []model.Item, c model.ClassID, n int64) int64 {
	if option.Floor < 0 {
		return n
	}
	for ; n > 0; n /= 2 {
		clear(f.groups)
		clear(f.load)
		f.groups.Set(int(f.p.Classes[c].Group))
		for d, q := range f.p.Classes[c].Request {
			f.load[d] = q * n
		}
		for _, it := range items {
			f.groups.Set(int(f.p.Classes[it.Class].Group))
		}
		f.p.Load(f.load, items)
		ok, looked := f.p.MeetsFloor(option, f.groups, f.load, items, c)
		if f.Work += looked; ok {
			return n
		}
	}
	return 0
}

// Those lists the classes that have pods left and may be on a machine.
func (f *Filler) Those(remaining []int64) []model.ClassID {
	f.listed = f.listed[:0]
	for c, n := range remaining {
		if n > 0 && f.Possible[c] {
			f.listed = append(f.listed, model.ClassID(c))
		}
	}
	return f.listed
}
