package knapsack

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Search finds the pattern of most value of a knapsack, layer by layer: each layer decides the number of pods
// of one class. States with the same remaining room are one, and a state whose upper bound of value does not
// exceed the best one is dropped. The upper bound is the value of the room that is left, by the duals of the rows or by
// the tables of single rows, whichever is less.
type Search struct {
	*Knapsack
	// PodValues are the values of pods by index in Classes, Values the duals of the rows, at least 0. The value of
	// the room and of all pods beyond theirs must be less than 2^62.
	PodValues, Values []int64
	// Floor is a value up to which patterns are not told apart.
	Floor int64
	// Width is the largest number of states of a layer.
	Width int

	order []int
	// By layer: the most room that the classes from there on can use, the step in which they use it, and the
	// most value that they have beyond the value of their room.
	rest, steps []int64
	excess      []int64
	tables      rowTables

	states  []state
	dims    int // rows
	rooms   []int64
	table   []entry // of the next layer, by remaining room
	used    int
	best    int64
	bestAt  int32
	dropped int64
	bounds  []int64 // space for the bounds of a layer
	work    int64
}

// state is a pattern of the classes decided so far.
type state struct {
	value, bound int64
	from         int32
	take         int64
}

// entry is a slot of the hash table; it is empty where state is 0.
type entry struct {
	left  uint64 // the remaining room, encoded in one number
	state int32  // number of the state plus 1
}

// ValueBits is the number of bits to which the value of a machine is scaled in whole numbers.
const ValueBits = 58

// Scale sets the values, the duals of the rows and the floor to those of a solved relaxation of the same knapsack in
// whole numbers, rounded up, so that the outcome bounds the value in floating point, too. top is an upper bound of that
// value. It returns the factor from values to whole numbers.
func (s *Search) Scale(r *Relaxed, top, floor float64) (factor float64) {
	factor = math.Ldexp(1, ValueBits) / top
	s.Floor, s.PodValues, s.Values = int64(floor*factor), s.PodValues[:0], s.Values[:0]
	for _, w := range r.PodValues {
		s.PodValues = append(s.PodValues, int64(math.Ceil(w*factor)))
	}
	for d, share := range r.values {
		s.Values = append(s.Values, int64(math.Ceil(share*factor/float64(max(1, s.Room[d])))))
	}
	return factor
}

// Outcome is the result of a search.
type Outcome struct {
	// Best is the largest value found, and Counts are its pods by index in Classes. Bound is an upper bound of
	// the value, at least the floor.
	Best, Bound int64
	Counts      []int64
	// Incomplete says that states were dropped because a layer had too many.
	Incomplete bool
	// Work is the number of states that were looked at.
	Work int64
}

// Run searches. A Search may run again with another knapsack.
//
// Resources without a dual are left out at first, because far fewer states differ without them. Where the best pattern
// fits all the same, it is the best of all.
func (s *Search) Run() Outcome {
	all, values := s.Knapsack, s.Values
	less, priced := all.pricedRows(values)
	if len(less.Rows) == len(all.Rows) {
		return s.run()
	}
	s.Knapsack, s.Values = less, priced
	first := s.run()
	s.Knapsack, s.Values = all, values
	if all.holds(first.Counts) {
		return first
	}
	out := s.run()
	out.Bound, out.Work = min(out.Bound, first.Bound), out.Work+first.Work
	return out
}

// run searches with all rows.
func (s *Search) run() Outcome {
	s.work, s.dims = 0, len(s.Rows)
	s.prepare()
	s.best, s.bestAt, s.dropped = 0, 0, math.MinInt64
	s.states = append(s.states[:0], state{from: -1})
	s.rooms = append(s.rooms[:0], s.Room...)
	from := 0
	for layer := range s.order {
		to := len(s.states)
		s.expand(layer, from, to)
		if to == len(s.states) {
			break
		}
		from = to
		s.narrow(from)
	}
	return Outcome{Best: s.best, Bound: max(s.best, s.dropped, s.Floor), Counts: s.pattern(s.bestAt), Incomplete: s.incomplete(), Work: s.work}
}

// incomplete reports whether states were dropped because a layer had too many.
func (s *Search) incomplete() bool { return s.dropped > math.MinInt64 }

// pattern returns the pods of a state.
func (s *Search) pattern(at int32) []int64 {
	counts := make([]int64, len(s.Classes))
	// Layers follow each other, so that the length of the chain tells the layer.
	var chain []int32
	for ; at >= 0; at = s.states[at].from {
		chain = append(chain, at)
	}
	slices.Reverse(chain)
	for layer, at := range chain[1:] {
		counts[s.order[layer]] = s.states[at].take
	}
	return counts
}

// prepare orders the classes: first those with more value than their room, then by descending size, because
// small pods fill the rest.
func (s *Search) prepare() {
	n := len(s.Classes)
	own := make([]int64, n)
	share := make([]float64, n)
	s.order = s.order[:0]
	total := int64(0)
	for k := range n {
		own[k] = s.PodValues[k]
		for d, size := range s.Size(k) {
			own[k] -= s.Values[d] * size
			share[k] = max(share[k], float64(size)/float64(max(1, s.Room[d])))
		}
		if own[k] > 0 {
			total += own[k] * s.Most[k]
		}
		if s.PodValues[k] > 0 {
			s.order = append(s.order, k)
		}
	}
	for d, room := range s.Room {
		total += s.Values[d] * room
	}
	// A class is dropped if one pod of it costs more value than there is above the floor.
	s.order = slices.DeleteFunc(s.order, func(k int) bool { return total+min(0, own[k]) <= s.Floor })
	slices.SortStableFunc(s.order, func(a, b int) int {
		if (own[a] > 0) != (own[b] > 0) {
			return cmp.Compare(own[b], own[a])
		}
		return -cmp.Compare(share[a], share[b])
	})
	layers := len(s.order)
	s.rest, s.steps, s.excess = make([]int64, (layers+1)*s.dims), make([]int64, (layers+1)*s.dims), make([]int64, layers+1)
	for layer := layers - 1; layer >= 0; layer-- {
		k := s.order[layer]
		s.excess[layer] = s.excess[layer+1] + max(0, own[k])*s.Most[k]
		for d, size := range s.Size(k) {
			at := layer*s.dims + d
			s.rest[at] = min(s.rest[at+s.dims]+fixed.Product(size, s.Most[k]), s.Room[d])
			if s.rest[at] < 0 {
				s.rest[at] = s.Room[d]
			}
			s.steps[at] = divisor(s.steps[at+s.dims], size)
		}
	}
	s.work += s.tables.fill(s)
}

// expand decides the number of pods of a layer's class for every state of the layer before.
func (s *Search) expand(layer, from, to int) {
	k := s.order[layer]
	size, worth := s.Size(k), s.PodValues[k]
	own := worth
	for d, n := range size {
		own -= s.Values[d] * n
	}
	s.clear(to - from)
	next := (layer + 1) * s.dims
	rest, steps, excess := s.rest[next:next+s.dims], s.steps[next:next+s.dims], s.excess[layer+1]
	begins, left := s.tables.begins[next:next+s.dims], make([]int64, s.dims)
	for at := from; at < to; at++ {
		if s.states[at].bound <= max(s.Floor, s.best) && at > 0 {
			continue
		}
		room, value := s.rooms[at*s.dims:(at+1)*s.dims], s.states[at].value
		most := s.Most[k]
		full := value + excess
		for d, n := range size {
			if n > 0 {
				most = min(most, room[d]/n)
			}
			full += s.Values[d] * room[d]
		}
		// The bound is linear in the number of pods, so the search starts at the better end.
		take, by := int64(0), int64(1)
		if own > 0 {
			take, by = most, -1
		}
		for ; take >= 0 && take <= most; take += by {
			s.work++
			floor := max(s.Floor, s.best)
			if full+take*own <= floor {
				break
			}
			worths := value + take*worth
			valued := int64(0)
			room = s.rooms[at*s.dims : (at+1)*s.dims] // enter may reallocate it
			for d := range left {
				left[d] = min(room[d]-take*size[d], rest[d])
				if step := steps[d]; step > 1 {
					left[d] -= left[d] % step
				}
				valued += s.Values[d] * left[d]
			}
			if bound := s.tables.lower(worths+valued+excess, worths, valued, begins, left, s.Values); bound > floor {
				s.enter(state{value: worths, bound: bound, from: int32(at), take: take}, left)
			}
		}
	}
}

// clear empties the table.
func (s *Search) clear(states int) {
	size := 64
	for size < 4*states {
		size *= 2
	}
	if size > cap(s.table) {
		s.table = make([]entry, size)
	} else {
		s.table = s.table[:size]
		clear(s.table)
	}
	s.used = 0
}

// mostLayerWidths is the number of states of a layer, in multiples of its width, from which on further ones are
// dropped.
const mostLayerWidths = 2

// enter adds a state, or replaces the state with the same remaining room if that has less value.
func (s *Search) enter(x state, left []int64) {
	number := uint64(0)
	for d, n := range left {
		number = number*uint64(s.Room[d]+1) + uint64(n)
	}
	at := s.find(number)
	if n := s.table[at].state - 1; n >= 0 {
		if s.states[n].value < x.value {
			s.states[n] = x
			s.note(n)
		}
		return
	}
	if s.used >= mostLayerWidths*s.Width {
		s.dropped = max(s.dropped, x.bound)
		return
	}
	s.states = append(s.states, x)
	s.rooms = append(s.rooms, left...)
	s.table[at] = entry{number, int32(len(s.states))}
	s.note(int32(len(s.states) - 1))
	if s.used++; 2*s.used > len(s.table) {
		old := s.table
		s.table = make([]entry, 2*len(old))
		for _, e := range old {
			if e.state > 0 {
				s.table[s.find(e.left)] = e
			}
		}
	}
}

// golden is 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// find returns the slot of a remaining room, or the empty slot for it.
func (s *Search) find(left uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	at := left * golden >> 32 & mask // the upper half is spread evenly
	for s.table[at].state != 0 && s.table[at].left != left {
		at = (at + 1) & mask
	}
	return at
}

func (s *Search) note(at int32) {
	if v := s.states[at].value; v > s.best {
		s.best, s.bestAt = v, at
	}
}

// narrow drops the states with the lowest bounds where the last layer has too many; of equal bounds the later ones. The
// best state always stays.
func (s *Search) narrow(from int) {
	last := s.states[from:]
	if len(last) <= s.Width {
		return
	}
	s.bounds = s.bounds[:0]
	for i := range last {
		s.bounds = append(s.bounds, last[i].bound)
	}
	least := nthLargest(s.bounds, s.Width-1)
	above := 0
	for i := range last {
		if last[i].bound > least {
			above++
		}
	}
	equal, to := s.Width-above, from // how many of the bound least stay
	for at := from; at < from+len(last); at++ {
		x := s.states[at]
		stays := x.bound > least || int32(at) == s.bestAt
		if !stays && x.bound == least && equal > 0 {
			stays = true
			equal--
		}
		if !stays {
			s.dropped = max(s.dropped, x.bound)
			continue
		}
		if int32(at) == s.bestAt {
			s.bestAt = int32(to)
		}
		s.states[to] = x
		copy(s.rooms[to*s.dims:(to+1)*s.dims], s.rooms[at*s.dims:(at+1)*s.dims])
		to++
	}
	s.states, s.rooms = s.states[:to], s.rooms[:to*s.dims]
}

// nthLargest returns the number at place n of the numbers in descending order. It reorders them.
func nthLargest(numbers []int64, n int) int64 {
	for low, high := 0, len(numbers)-1; ; {
		if low >= high {
			return numbers[n]
		}
		pivot, i, j := numbers[low+(high-low)/2], low, high
		for i <= j {
			for numbers[i] > pivot {
				i++
			}
			for numbers[j] < pivot {
				j--
			}
			if i <= j {
				numbers[i], numbers[j] = numbers[j], numbers[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return numbers[n]
		}
	}
}
