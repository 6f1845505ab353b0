package bound

import (
	"cmp"
	"math"
	"slices"
)

// knapsack is a machine with the pods that may be on it, in the coarsest units in which
// their sizes are whole.
type knapsack struct {
	dims    int
	classes []int
	sizes   []int64 // by class of the list, dims each
	most    []int64 // pods of a class that fit alone
	room    []int64
	units   []int64 // amounts of a unit of each resource
	rows    []int   // numbers of the resources
}

// knapsack leaves out resources that cannot run short.
func (m *Market) knapsack(x *machine) *knapsack {
	n, dims := x.users.Count(), len(x.cap)
	whole := make([]int64, 0, n+2*dims+n*dims)
	v := &knapsack{classes: make([]int, 0, n), rows: make([]int, 0, dims)}
	v.most, v.units, v.room, v.sizes = whole[:0:n], whole[n:n:n+dims], whole[n+dims:n+dims:n+2*dims], whole[n+2*dims:n+2*dims]
	x.users.Each(func(c int) {
		v.classes = append(v.classes, c)
		v.most = append(v.most, m.alone(x, c))
	})
	for d, room := range x.cap {
		unit, asked := int64(0), int64(0)
		for k, c := range v.classes {
			n := m.Classes[c].Size[d]
			unit = divisor(unit, n)
			if asked += product(n, v.most[k]); asked < 0 {
				asked = math.MaxInt64
			}
		}
		if asked <= room {
			continue
		}
		v.rows, v.units, v.room = append(v.rows, d), append(v.units, unit), append(v.room, room/unit)
	}
	v.dims = len(v.rows)
	for _, c := range v.classes {
		for k, d := range v.rows {
			v.sizes = append(v.sizes, m.Classes[c].Size[d]/v.units[k])
		}
	}
	return v
}

// mostUnits and mostRooms bound what a resource of a knapsack may have and in how many
// ways all of them may be left, so that sums and numbers of rooms stay within an int64.
const mostUnits, mostRooms = 1 << 44, 1 << 62

// countable reports whether a search can handle the knapsack.
func (v *knapsack) countable() bool {
	rooms := int64(1)
	for _, n := range v.room {
		if rooms = product(rooms, n+1); n > mostUnits || rooms > mostRooms {
			return false
		}
	}
	return true
}

// divisor is the greatest common one; 0 divides nothing.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (v *knapsack) size(k int) []int64 { return v.sizes[k*v.dims : (k+1)*v.dims] }

// search looks for the pattern of a knapsack that is worth most, layer by layer: each
// layer decides how many pods of one class there are. What is left of the room, and
// what it is worth at most, tells states apart and which of them lead nowhere.
type search struct {
	*knapsack
	worths []int64 // of one pod, by class of the list
	values []int64 // of one unit of each resource, at least 0
	// floor is the worth that is of no interest, width how many states a layer may have,
	// strict that the search ends when there are more.
	floor  int64
	width  int
	strict bool

	order []int
	// By layer: what is left for the classes from there on, at most and in what steps,
	// and what they are worth beyond the room that they take.
	rest, steps []int64
	excess      []int64

	states  []state
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

// outcome is the most worth that was found, how, and how much there can be at most.
// Worth up to the floor is not looked for.
type outcome struct {
	best, bound int64
	counts      []int64 // by class of the list
}

// run needs values such that room and excess are worth less than 2^62 together.
func (s *search) run() outcome {
	s.prepare()
	s.best, s.bestAt, s.dropped = 0, 0, math.MinInt64
	s.states = append(s.states[:0], state{from: -1})
	s.rooms = append(s.rooms[:0], s.room...)
	from := 0
	for layer := range s.order {
		to := len(s.states)
		s.expand(layer, from, to)
		if to == len(s.states) {
			break
		}
		from = to
		s.narrow(from)
		if s.strict && s.incomplete() {
			break
		}
	}
	return s.outcome()
}

// incomplete reports whether states were left out for want of room.
func (s *search) incomplete() bool { return s.dropped > math.MinInt64 }

func (s *search) outcome() outcome {
	return outcome{best: s.best, bound: max(s.best, s.dropped, s.floor), counts: s.filling(s.bestAt)}
}

// filling is the one that a state stands for.
func (s *search) filling(at int32) []int64 {
	counts := make([]int64, len(s.classes))
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
func (s *search) prepare() {
	n := len(s.classes)
	own := make([]int64, n)
	share := make([]float64, n)
	s.order = s.order[:0]
	total := int64(0)
	for k := range n {
		own[k] = s.worths[k]
		for d, size := range s.size(k) {
			own[k] -= s.values[d] * size
			share[k] = max(share[k], float64(size)/float64(max(1, s.room[d])))
		}
		if own[k] > 0 {
			total += own[k] * s.most[k]
		}
		if s.worths[k] > 0 {
			s.order = append(s.order, k)
		}
	}
	for d, room := range s.room {
		total += s.values[d] * room
	}
	// One pod of these is too much of a loss already.
	s.order = slices.DeleteFunc(s.order, func(k int) bool { return total+min(0, own[k]) <= s.floor })
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
		s.excess[layer] = s.excess[layer+1] + max(0, own[k])*s.most[k]
		for d, size := range s.size(k) {
			at := layer*s.dims + d
			s.rest[at] = min(s.rest[at+s.dims]+product(size, s.most[k]), s.room[d])
			if s.rest[at] < 0 {
				s.rest[at] = s.room[d]
			}
			s.steps[at] = divisor(s.steps[at+s.dims], size)
		}
	}
}

// expand decides on the class of a layer in every state of the layer before.
func (s *search) expand(layer, from, to int) {
	k := s.order[layer]
	size, worth := s.size(k), s.worths[k]
	own := worth
	for d, n := range size {
		own -= s.values[d] * n
	}
	s.clear(to - from)
	next := (layer + 1) * s.dims
	rest, steps, excess := s.rest[next:next+s.dims], s.steps[next:next+s.dims], s.excess[layer+1]
	left := make([]int64, s.dims)
	for at := from; at < to; at++ {
		if s.states[at].bound <= max(s.floor, s.best) && at > 0 {
			continue
		}
		if s.strict && s.incomplete() {
			return
		}
		room, value := s.rooms[at*s.dims:(at+1)*s.dims], s.states[at].value
		most := s.most[k]
		full := value + excess
		for d, n := range size {
			if n > 0 {
				most = min(most, room[d]/n)
			}
			full += s.values[d] * room[d]
		}
		// The bound is linear in the number of pods: it is tried from the better end.
		take, by := int64(0), int64(1)
		if own > 0 {
			take, by = most, -1
		}
		for ; take >= 0 && take <= most; take += by {
			s.work++
			floor := max(s.floor, s.best)
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
				bound += s.values[d] * left[d]
			}
			if bound > floor {
				s.enter(state{value: worths, bound: bound, from: int32(at), take: take}, left)
			}
		}
	}
}

// clear empties the table.
func (s *search) clear(states int) {
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
func (s *search) enter(x state, left []int64) {
	number := uint64(0)
	for d, n := range left {
		number = number*uint64(s.room[d]+1) + uint64(n)
	}
	at := s.find(number)
	if n := s.table[at].state - 1; n >= 0 {
		if s.states[n].value < x.value {
			s.states[n] = x
			s.note(n)
		}
		return
	}
	if s.used >= crowding*s.width {
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

// find is the place in the table of the state with so much left, or for one.
func (s *search) find(left uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	at := scrambled(left) & mask
	for s.table[at].state != 0 && s.table[at].left != left {
		at = (at + 1) & mask
	}
	return at
}

func (s *search) note(at int32) {
	if v := s.states[at].value; v > s.best {
		s.best, s.bestAt = v, at
	}
}

// narrow drops the least promising states of the last layer where there are too many.
func (s *search) narrow(from int) {
	last := s.states[from:]
	if len(last) <= s.width {
		return
	}
	order := make([]int, len(last))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(last[b].bound, last[a].bound), cmp.Compare(a, b))
	})
	s.dropped = max(s.dropped, last[order[s.width]].bound)
	kept := order[:s.width]
	if best := int(s.bestAt) - from; best >= 0 {
		at := slices.Index(kept, best)
		if at < 0 {
			at = s.width - 1
			s.dropped = max(s.dropped, last[kept[at]].bound)
			kept[at] = best
		}
		s.bestAt = int32(from + at)
	}
	states, rooms := make([]state, s.width), make([]int64, 0, s.width*s.dims)
	for to, i := range kept {
		states[to] = last[i]
		rooms = append(rooms, s.rooms[(from+i)*s.dims:(from+i+1)*s.dims]...)
	}
	s.states = append(s.states[:from], states...)
	s.rooms = append(s.rooms[:from*s.dims], rooms...)
}
