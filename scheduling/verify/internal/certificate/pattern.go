package certificate

import (
	"cmp"
	"math/big"
	"slices"
)

const (
	// patternBits is how many bits the worth of a machine has when patterns are tried.
	patternBits = 58
	// mostTries bounds the patterns, partial ones among them, that one proof may try, so that certificates stay cheap
	// to check.
	mostTries = 1 << 26
	// mostSteps and mostWays bound the room of a machine, in steps and in how many ways
	// it may be left, so that every number is within an int64.
	mostSteps, mostWays = 1 << 44, 1 << 62
	// mostCells bounds the room, in steps, of a resource whose alone is worked out; cellsPerTry of its entries take as long
	// as a try.
	mostCells, cellsPerTry = 1 << 13, 16
)

// item is pods of a class for a knapsack: how many fit at most, and the worth of one beyond the value of its room.
type item struct {
	size   []int64
	most   int64
	worth  int64
	beyond int64
}

// knapsack finds the pattern of a load with the most worth, class by class. For each room that is left it keeps the
// most worth so far, and drops those that cannot exceed a limit even if all of the room left is used.
type knapsack struct {
	room   []int64 // in steps of the requests of pods
	values []int64 // of a step
	items  []item
	limit  int64
	tries  int
	usable []int64 // space of after
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

// sequence orders the items: first those that are worth more than their room, which leaves few choices, then large
// ones. Items without worth are dropped.
func (k *knapsack) sequence() {
	share := func(x item) float64 {
		most := 0.0
		for d, n := range x.size {
			most = max(most, float64(n)/float64(max(1, k.room[d])))
		}
		return most
	}
	k.items = slices.DeleteFunc(k.items, func(x item) bool { return x.worth == 0 })
	slices.SortStableFunc(k.items, func(a, b item) int {
		if a.beyond > 0 || b.beyond > 0 {
			return cmp.Compare(b.beyond, a.beyond)
		}
		return cmp.Compare(share(b), share(a))
	})
}

// rest is the room that the items after one can use, in steps, and their worth beyond its value.
type rest struct {
	use, step []int64
	beyond    int64
	// alone is, by resource and steps of it that are left, the most worth that the items add if this resource alone limits
	// them and they pay the values of the others, because whole pods often cannot use all of a resource. It is nil for
	// resources with too many steps.
	alone [][]int64
}

func (k *knapsack) rests() []rest {
	dims := len(k.room)
	out := make([]rest, len(k.items)+1)
	out[len(k.items)] = rest{use: make([]int64, dims), step: make([]int64, dims), alone: make([][]int64, dims)}
	for d, room := range k.room {
		if room < mostCells {
			out[len(k.items)].alone[d] = make([]int64, room+1)
		}
	}
	for i := len(k.items) - 1; i >= 0; i-- {
		x, next := k.items[i], out[i+1]
		out[i] = rest{use: make([]int64, dims), step: make([]int64, dims), beyond: next.beyond + max(0, x.beyond)*x.most, alone: make([][]int64, dims)}
		for d, n := range x.size {
			out[i].use[d] = min(k.room[d], next.use[d]+n*x.most)
			out[i].step[d] = greatestDivisor(next.step[d], n)
			out[i].alone[d] = k.withAlone(next.alone[d], x, d)
		}
	}
	return out
}

// withAlone is alone of a resource with pods of one more item.
func (k *knapsack) withAlone(alone []int64, x item, resource int) []int64 {
	out := slices.Clone(alone)
	worth := x.beyond + k.values[resource]*x.size[resource]
	if worth <= 0 {
		return out
	}
	if x.size[resource] == 0 {
		for room := range out {
			out[room] += worth * x.most
		}
		return out
	}
	// Every number of pods is a sum of these numbers: 1, 2, 4 and so on, and what is left.
	for left, n := x.most, int64(1); left > 0; left, n = left-n, 2*n {
		n = min(n, left)
		k.tries -= len(out) / cellsPerTry
		for room, need := len(out)-1, int(n*x.size[resource]); room >= need; room-- {
			out[room] = max(out[room], out[room-need]+n*worth)
		}
	}
	return out
}

// most is the highest worth of a pattern, or an upper bound of it, if tries suffice to tell. Patterns up to the limit are
// of no interest. Resources without a value are left out at first, because far fewer patterns leave different rooms then.
func (k *knapsack) most() (best int64, ok bool) {
	priced := k.priced()
	best, ok = priced.search()
	if k.tries = priced.tries; !ok || best <= k.limit || len(priced.room) == len(k.room) {
		return best, ok
	}
	if exact, ok := k.search(); ok {
		return exact, true
	}
	return best, true
}

// priced is the knapsack with only the resources that have a value, so that it holds every pattern that k holds.
func (k *knapsack) priced() *knapsack {
	out := &knapsack{limit: k.limit, tries: k.tries, items: slices.Clone(k.items)}
	for i := range out.items {
		out.items[i].size = nil
	}
	for d, value := range k.values {
		if value == 0 {
			continue
		}
		out.room, out.values = append(out.room, k.room[d]), append(out.values, value)
		for i := range out.items {
			out.items[i].size = append(out.items[i].size, k.items[i].size[d])
		}
	}
	return out
}

// search is most by all resources.
func (k *knapsack) search() (best int64, ok bool) {
	k.sequence()
	rests := k.rests()
	best = k.limit
	all := int64(0)
	for _, n := range k.room {
		all = all*(n+1) + n
	}
	known := map[int64]int64{all: 0} // worth by the number of the room that is left
	left := make([]int64, len(k.room))
	k.usable = make([]int64, len(k.room))
	for i, x := range k.items {
		next := make(map[int64]int64)
		floor := best
		for number, worth := range known {
			for d := len(left) - 1; d >= 0; d-- {
				left[d] = number % (k.room[d] + 1)
				number /= k.room[d] + 1
			}
			most := x.most
			for d, n := range x.size {
				if n > 0 {
					most = min(most, left[d]/n)
				}
			}
			for n := range most + 1 {
				if k.tries--; k.tries <= 0 {
					return 0, false
				}
				worth := worth + n*x.worth
				number, hope := k.after(left, x, n, rests[i+1])
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

// after returns the number of the room left by more pods of an item, as far as later items can use it, and an upper
// bound on the worth that these can add.
func (k *knapsack) after(left []int64, x item, pods int64, r rest) (number, hope int64) {
	valued := int64(0)
	for d, n := range left {
		usable := min(n-pods*x.size[d], r.use[d])
		if r.step[d] > 0 {
			usable -= usable % r.step[d]
		}
		k.usable[d] = usable
		valued += k.values[d] * usable
		number = number*(k.room[d]+1) + usable
	}
	hope = valued + r.beyond
	for d, alone := range r.alone {
		if alone != nil {
			hope = min(hope, valued-k.values[d]*k.usable[d]+alone[k.usable[d]])
		}
	}
	return number, hope
}

// bestPattern returns the worth of the best pattern of the load, at least the limit; the bound of the vector where
// there are too many patterns.
func (w *worthBound) bestPattern(l load, v *valuation, limit *big.Int) *big.Int {
	held := w.mostWorth(l, v)
	if held.Cmp(limit) <= 0 || *w.tries >= mostTries {
		return held
	}
	shift := uint(max(0, held.BitLen()-patternBits))
	k := &knapsack{limit: new(big.Int).Rsh(limit, shift).Int64(), tries: mostTries - *w.tries}
	if !w.setUp(k, l, v, shift) {
		return held
	}
	most, ok := k.most()
	*w.tries = mostTries - k.tries
	switch worth := new(big.Int).Lsh(big.NewInt(most), shift); {
	case !ok || worth.Cmp(held) > 0:
		return held
	case worth.Cmp(limit) < 0:
		return limit
	default:
		return worth
	}
}

// setUp states the load in whole numbers, worth rounded up. It reports whether they are
// small enough.
func (w *worthBound) setUp(k *knapsack, l load, v *valuation, shift uint) bool {
	for _, p := range l.pods {
		s := w.classes[p.class]
		worth := roundedUpBy(s.worth, shift)
		k.items = append(k.items, item{most: s.mostAlone(p.count, l.room), worth: worth, beyond: worth})
	}
	ways := int64(1)
	for d, room := range l.room {
		step, asked := int64(0), int64(0)
		for i, p := range l.pods {
			size := w.classes[p.class].size[d]
			step = greatestDivisor(step, size)
			asked += size * k.items[i].most // at most the requests of all placed pods
		}
		if asked <= room {
			continue // it cannot run short
		}
		value := roundedUpBy(new(big.Int).Mul(v.values[d], big.NewInt(step)), shift)
		k.room, k.values = append(k.room, room/step), append(k.values, value)
		for i, p := range l.pods {
			size := w.classes[p.class].size[d] / step
			k.items[i].size = append(k.items[i].size, size)
			k.items[i].beyond -= value * size
		}
		if room/step > mostSteps || ways > mostWays/(room/step+1) {
			return false
		}
		ways *= room/step + 1
	}
	return true
}
