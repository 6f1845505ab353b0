package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// bigFirst is how much more a class counts whose pods take a whole machine than
// one whose pods take next to nothing: what is large fits worse later.
const bigFirst = 0.35

// filler fills one option at a time. Its scratch memory is reused, so that filling
// allocates only the pattern it returns.
type filler struct {
	company            // who is on the machine; nobody between fills
	requests []float64 // classes × dims
	costs    []float64 // per option, what worth is divided by; never 0
	left     []int64   // room left, per dim
	inverse  []float64
	open     []model.ClassID
	items    []model.Item
	groups   model.Bits
	load     []int64
	work     int64
}

func newFiller(p *model.Problem) *filler {
	f := &filler{
		company:  newCompany(p),
		requests: make([]float64, len(p.Classes)*p.Dims),
		costs:    make([]float64, len(p.Options)),
		left:     make([]int64, p.Dims),
		inverse:  make([]float64, p.Dims),
		groups:   model.NewBits(p.Groups),
		load:     make([]int64, p.Dims),
	}
	for c := range p.Classes {
		for d, q := range p.Classes[c].Request {
			f.requests[c*p.Dims+d] = float64(q)
		}
	}
	for o := range p.Options {
		f.costs[o] = float64(max(p.Options[o].Cost, 1))
	}
	return f
}

// fill packs pods of the candidate classes, at most remaining[c] of class c, into
// an empty machine of option o, and returns what it holds and what that is worth.
// At every step it takes some of the class that would be worth most if the room
// left were filled with it alone; classes whose shape matches the room left come
// out first, and what unbalances it is balanced by the next. The items are valid
// until the next fill.
func (f *filler) fill(o model.OptionID, candidates []model.ClassID, remaining []int64, values []float64) ([]model.Item, float64) {
	option := &f.p.Options[o]
	copy(f.left, option.Room)
	f.open = f.open[:0]
	for _, c := range candidates {
		if remaining[c] > 0 {
			f.open = append(f.open, c)
		}
	}
	f.items = f.items[:0]
	worth := 0.0
	for len(f.open) > 0 {
		at, n := f.choose(remaining, values)
		if at < 0 {
			break
		}
		c := f.open[at]
		if option.Floor >= 0 {
			if n = f.withinFloor(option, c, n); n == 0 {
				f.open = slices.Delete(f.open, at, at+1)
				continue
			}
		}
		f.take(c, n)
		worth += float64(n) * values[c]
	}
	f.leave(f.items)
	return f.items, worth
}

// choose returns the place in f.open of the class to take next and how many of it.
// Classes that no longer fit are dropped from f.open.
func (f *filler) choose(remaining []int64, values []float64) (at int, n int64) {
	dims := f.p.Dims
	for d, q := range f.left {
		if q > 0 {
			f.inverse[d] = 1 / float64(q)
		} else {
			f.inverse[d] = 2 // any request of a whole unit then exceeds the room
		}
	}
	f.work += int64(len(f.open))
	best, bestScore := -1, -1.0
	kept := f.open[:0]
	for _, c := range f.open {
		row := f.requests[int(c)*dims : int(c)*dims+dims]
		share := 0.0
		for d, q := range row {
			if s := q * f.inverse[d]; s > share {
				share = s
			}
		}
		if share > 1 && !model.Fits(f.left, f.p.Classes[c].Request) {
			continue
		}
		if f.taken[c] >= remaining[c] || f.joining(c) == 0 {
			continue
		}
		kept = append(kept, c)
		score := 0.0
		if share > 0 {
			score = values[c] * (1/share + bigFirst)
		} else {
			score = values[c] * 1e12
		}
		if score > bestScore {
			best, bestScore = len(kept)-1, score
		}
	}
	f.open = kept
	if best < 0 {
		return -1, 0
	}
	c := kept[best]
	n = f.fitting(c)
	if n > 3 {
		n = (n + 3) / 4
	} else if n > 1 {
		n = 1
	}
	return best, min(n, remaining[c]-f.taken[c], f.joining(c))
}

// fitting is how many pods of class c the room left holds, at least 1 where the
// caller has seen that one fits.
func (f *filler) fitting(c model.ClassID) int64 {
	n := int64(1) << 40
	for d, q := range f.p.Classes[c].Request {
		if q > 0 {
			n = min(n, f.left[d]/q)
		}
	}
	return n
}

// take adds n pods of class c to the pattern.
func (f *filler) take(c model.ClassID, n int64) {
	class := &f.p.Classes[c]
	for d, q := range class.Request {
		f.left[d] -= q * n
	}
	if f.join(c, n) {
		f.items = append(f.items, model.Item{Class: c})
	}
	for i := range f.items {
		if f.items[i].Class == c {
			f.items[i].N = f.taken[c]
			break
		}
	}
}

// withinFloor lowers n until the pattern with n more pods of class c still leaves
// the option's pool as flexible as it must be.
func (f *filler) withinFloor(option *model.Option, c model.ClassID, n int64) int64 {
	for ; n > 0; n /= 2 {
		clear(f.groups)
		clear(f.load)
		f.groups.Set(int(f.p.Classes[c].Group))
		for d, q := range f.p.Classes[c].Request {
			f.load[d] = q * n
		}
		for _, it := range f.items {
			f.groups.Set(int(f.p.Classes[it.Class].Group))
		}
		f.p.Load(f.load, f.items)
		f.work += int64(len(f.p.Floors[option.Floor].Members))
		if f.p.MeetsFloor(option, f.groups, f.load, f.items, c) {
			return n
		}
	}
	return 0
}
