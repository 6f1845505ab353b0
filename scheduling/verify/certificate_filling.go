package verify

import (
	"cmp"
	"math/big"
	"slices"
)

const (
	// fillingBits is how many bits the worth of a machine has when fillings are tried.
	fillingBits = 58
	// mostTries bounds how many fillings, in part or whole, are looked at for one proof.
	// Whoever makes a certificate has to leave it at what can be checked.
	mostTries = 1 << 26
	// mostSteps and mostLeft bound the room of a machine, in steps and in how many ways
	// it may be left, so that every number is within an int64.
	mostSteps, mostLeft = 1 << 44, 1 << 62
)

// heap is pods of a sort, ready to be put on a machine: how many fit at most, and what
// one of them is worth beyond the room that it takes, by the values at hand.
type heap struct {
	size   []int64
	most   int64
	worth  int64
	beyond int64
}

// filler tries fillings of one load, sort by sort. What it knows of the fillings so far
// is the most that they are worth, by the room that they leave. Those are dropped that
// cannot come to more than a limit even if what is left of the room is used up.
type filler struct {
	room   []int64 // in steps of what the pods ask for
	values []int64 // of a step
	heaps  []heap
	limit  int64
	tries  int
}

// fullest is the most that any filling of the load is worth, at least the limit; or what
// the vector says where fillings are too many.
func (pr *assignmentProof) fullest(l load, v *valuation, limit *big.Int) *big.Int {
	held := pr.holds(l, v)
	if held.Cmp(limit) <= 0 || *pr.tries >= mostTries {
		return held
	}
	shift := uint(max(0, held.BitLen()-fillingBits))
	f := &filler{limit: new(big.Int).Rsh(limit, shift).Int64(), tries: mostTries - *pr.tries}
	if !pr.pour(f, l, v, shift) {
		return held
	}
	most, ok := f.most()
	*pr.tries = mostTries - f.tries
	switch worth := new(big.Int).Lsh(big.NewInt(most), shift); {
	case !ok || worth.Cmp(held) > 0:
		return held
	case worth.Cmp(limit) < 0:
		return limit
	default:
		return worth
	}
}

// pour sets the load up in whole numbers, worth rounded up. It reports whether they are
// small enough.
func (pr *assignmentProof) pour(f *filler, l load, v *valuation, shift uint) bool {
	for _, p := range l.pods {
		s := pr.sorts[p.sort]
		worth := roundedUpBy(s.worth, shift)
		f.heaps = append(f.heaps, heap{most: s.alone(p.count, l.room), worth: worth, beyond: worth})
	}
	ways := int64(1)
	for d, room := range l.room {
		step, asked := int64(0), int64(0)
		for i, p := range l.pods {
			size := pr.sorts[p.sort].size[d]
			step = greatestDivisor(step, size)
			asked += size * f.heaps[i].most // at most what all placed pods request
		}
		if asked <= room {
			continue // it cannot run short
		}
		value := roundedUpBy(new(big.Int).Mul(v.values[d], big.NewInt(step)), shift)
		f.room, f.values = append(f.room, room/step), append(f.values, value)
		for i, p := range l.pods {
			size := pr.sorts[p.sort].size[d] / step
			f.heaps[i].size = append(f.heaps[i].size, size)
			f.heaps[i].beyond -= value * size
		}
		if room/step > mostSteps || ways > mostLeft/(room/step+1) {
			return false
		}
		ways *= room/step + 1
	}
	return true
}

func greatestDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// roundedUpBy is the number divided by a power of two, rounded up.
func roundedUpBy(n *big.Int, shift uint) int64 {
	down := new(big.Int).Neg(n)
	return down.Rsh(down, shift).Neg(down).Int64() // Rsh rounds down
}

// sequence puts the heaps in order: those first that are worth more than their room,
// which leaves few choices, then the large ones. What is worth nothing is left out.
func (f *filler) sequence() {
	share := func(h heap) float64 {
		most := 0.0
		for d, n := range h.size {
			most = max(most, float64(n)/float64(max(1, f.room[d])))
		}
		return most
	}
	f.heaps = slices.DeleteFunc(f.heaps, func(h heap) bool { return h.worth == 0 })
	slices.SortStableFunc(f.heaps, func(a, b heap) int {
		if a.beyond > 0 || b.beyond > 0 {
			return cmp.Compare(b.beyond, a.beyond)
		}
		return cmp.Compare(share(b), share(a))
	})
}

// horizon is what the heaps after one can still use of the room, in what steps, and what
// they are worth beyond it.
type horizon struct {
	use, step []int64
	beyond    int64
}

func (f *filler) horizons() []horizon {
	out := make([]horizon, len(f.heaps)+1)
	dims := len(f.room)
	out[len(f.heaps)] = horizon{use: make([]int64, dims), step: make([]int64, dims)}
	for i := len(f.heaps) - 1; i >= 0; i-- {
		h, next := f.heaps[i], out[i+1]
		x := horizon{use: make([]int64, dims), step: make([]int64, dims), beyond: next.beyond + max(0, h.beyond)*h.most}
		for d, n := range h.size {
			x.use[d] = min(f.room[d], next.use[d]+n*h.most)
			x.step[d] = greatestDivisor(next.step[d], n)
		}
		out[i] = x
	}
	return out
}

// most is the highest worth of a filling, if tries suffice to tell. Fillings up to the
// limit are of no interest.
func (f *filler) most() (best int64, ok bool) {
	f.sequence()
	horizons := f.horizons()
	best = f.limit
	known := map[int64]int64{f.number(f.room): 0}
	left := make([]int64, len(f.room))
	for i, h := range f.heaps {
		next := make(map[int64]int64)
		floor := best
		for number, worth := range known {
			f.decode(number, left)
			most := h.most
			for d, n := range h.size {
				if n > 0 {
					most = min(most, left[d]/n)
				}
			}
			for n := range most + 1 {
				if f.tries--; f.tries <= 0 {
					return 0, false
				}
				worth := worth + n*h.worth
				number, hope := f.after(left, h, n, horizons[i+1])
				if worth+hope <= floor {
					continue
				}
				if old, seen := next[number]; !seen || worth > old {
					next[number] = worth
					best = max(best, worth)
				}
			}
		}
		known = next
	}
	return best, true
}

// number tells rooms apart that are left.
func (f *filler) number(left []int64) int64 {
	sum := int64(0)
	for d, n := range left {
		sum = sum*(f.room[d]+1) + n
	}
	return sum
}

func (f *filler) decode(number int64, left []int64) {
	for d := len(left) - 1; d >= 0; d-- {
		left[d] = number % (f.room[d] + 1)
		number /= f.room[d] + 1
	}
}

// after is the room that is left by some pods more, so far as anybody can use it, and
// the most that it can come to be worth.
func (f *filler) after(left []int64, h heap, pods int64, x horizon) (number, hope int64) {
	hope = x.beyond
	for d, n := range left {
		rest := min(n-pods*h.size[d], x.use[d])
		if x.step[d] > 0 {
			rest -= rest % x.step[d]
		}
		hope += f.values[d] * rest
		number = number*(f.room[d]+1) + rest
	}
	return number, hope
}
