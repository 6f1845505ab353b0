package knapsack

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Search looks for the pattern of a knapsack that is worth most, layer by layer: each
// layer decides how many pods of one class there are. What is left of the room, and
// what it is worth at most, tells states apart and which of them lead nowhere.
type Search struct {
	*Knapsack
	// Worths are what a pod is worth, by class of the list, and Values what a unit of each row
	// is, at least 0. What the room and all that pods are worth beyond theirs come to has to be
	// less than 2^62.
	Worths, Values []int64
	// Floor is the worth that is of no interest.
	Floor int64
	// Width is how many states a layer may have.
	Width int

	order []int
	// By layer: what is left for the classes from there on, at most and in what steps,
	// and what they are worth beyond the room that they take.
	rest, steps []int64
	excess      []int64

	states  []state
	dims    int // rows
	rooms   []int64
	table   []entry // of the next layer, by what is left
	used    int
	best    int64
	bestAt  int32
	dropped int64
	work    int64
}

// state is a pattern of the classes decided so far.
type state struct {
	value, bound int64
	from         int32
	take         int64
}

// entry is a state of the next layer; it is empty where the number is 0.
type entry struct {
	left  uint64 // the room that is left, as one number
	state int32  // number of the state and 1
}

// Outcome is what a search came to.
type Outcome struct {
	// Best is the most worth that was found, Counts are the pods that have it, by class of the
	// list. Bound is how much there is at most. Worth up to the floor is not looked for.
	Best, Bound int64
	Counts      []int64
	// Incomplete says that states were left out for want of width.
	Incomplete bool
	// Work is how many states were looked at.
	Work int64
}

// Run searches. The same search may run for one knapsack after the other.
func (s *Search) Run() Outcome {
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
	return Outcome{Best: s.best, Bound: max(s.best, s.dropped, s.Floor), Counts: s.filling(s.bestAt), Incomplete: s.incomplete(), Work: s.work}
}

// incomplete reports whether states were left out for want of room.
func (s *Search) incomplete() bool { return s.dropped > math.MinInt64 }

// filling is the one that a state stands for.
func (s *Search) filling(at int32) []int64 {
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

// prepare puts the classes in order: those first that are worth more than their room,
// then the large ones, so that small ones fill up what is left.
func (s *Search) prepare() {
	n := len(s.Classes)
	own := make([]int64, n)
	share := make([]float64, n)
	s.order = s.order[:0]
	total := int64(0)
	for k := range n {
		own[k] = s.Worths[k]
		for d, size := range s.Size(k) {
			own[k] -= s.Values[d] * size
			share[k] = max(share[k], float64(size)/float64(max(1, s.Room[d])))
		}
		if own[k] > 0 {
			total += own[k] * s.Most[k]
		}
		if s.Worths[k] > 0 {
			s.order = append(s.order, k)
		}
	}
	for d, room := range s.Room {
		total += s.Values[d] * room
	}
	// One pod of these is too much of a loss already.
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
}

// expand decides on the class of a layer in every state of the layer before.
func (s *Search) expand(layer, from, to int) {
	k := s.order[layer]
	size, worth := s.Size(k), s.Worths[k]
	own := worth
	for d, n := range size {
		own -= s.Values[d] * n
	}
	s.clear(to - from)
	next := (layer + 1) * s.dims
	rest, steps, excess := s.rest[next:next+s.dims], s.steps[next:next+s.dims], s.excess[layer+1]
	left := make([]int64, s.dims)
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
		// The bound is linear in the number of pods: it is tried from the better end.
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
			bound := worths + excess
			room = s.rooms[at*s.dims : (at+1)*s.dims] // entering states may move it
			for d := range left {
				left[d] = min(room[d]-take*size[d], rest[d])
				if step := steps[d]; step > 1 {
					left[d] -= left[d] % step
				}
				bound += s.Values[d] * left[d]
			}
			if bound > floor {
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

// crowding is how many times its width a layer may have before it is narrowed.
const crowding = 2

// enter adds a state, or puts it in the place of one that has as much room left.
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
	if s.used >= crowding*s.Width {
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

// find is the place in the table of the state with so much left, or for one.
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

// narrow drops the least promising states of the last layer where there are too many.
func (s *Search) narrow(from int) {
	last := s.states[from:]
	if len(last) <= s.Width {
		return
	}
	order := make([]int, len(last))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(last[b].bound, last[a].bound), cmp.Compare(a, b))
	})
	s.dropped = max(s.dropped, last[order[s.Width]].bound)
	kept := order[:s.Width]
	if best := int(s.bestAt) - from; best >= 0 {
		at := slices.Index(kept, best)
		if at < 0 {
			at = s.Width - 1
			s.dropped = max(s.dropped, last[kept[at]].bound)
			kept[at] = best
		}
		s.bestAt = int32(from + at)
	}
	states, rooms := make([]state, s.Width), make([]int64, 0, s.Width*s.dims)
	for to, i := range kept {
		states[to] = last[i]
		rooms = append(rooms, s.rooms[(from+i)*s.dims:(from+i+1)*s.dims]...)
	}
	s.states = append(s.states[:from], states...)
	s.rooms = append(s.rooms[:from*s.dims], rooms...)
}
