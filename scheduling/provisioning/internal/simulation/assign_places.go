package simulation

import (
	"cmp"
	"slices"
)

// Waves is in how many waves the plan binds; ok is false where not all of it does.
func (s *Plan) Waves() (waves int, ok bool) {
	turns := s.BindOrder()
	for _, t := range turns {
		waves = max(waves, t.Wave)
	}
	return waves, len(turns) == len(s.Queue)
}

// slots are the places of a kind that pods of one class have in a plan.
type slots struct {
	places []int32
	left   []int // by place, for how many pods
	total  int
	next   int // the place that is tried next
}

// AssignPlaces assigns the places that the plan has for a class to the pods of that class again, in the order of the
// queue. Each pod takes a place that admits it at its turn, on the kind of node with the most places left. A pod
// without such a place tries again after the other pods. The result is the place of each pod of the queue. The set of
// places of a class does not change.
func (s *Plan) AssignPlaces() []int32 {
	of := make([][]*slots, len(s.c.Planned)) // by class
	s.offer(of)
	state := s.scheduler.Model.Begin()
	for _, kind := range s.kinds {
		state.Join(kind)
	}
	home := slices.Repeat([]int32{-1}, len(s.Queue))
	for again := true; again; {
		again = false
		for i, class := range s.classes {
			if home[i] >= 0 || s.Planned[i] < 0 {
				continue
			}
			to := slices.IndexFunc(of[class], func(x *slots) bool { return x.total > 0 && state.Admits(class, x.places[x.next]) })
			if to < 0 {
				continue
			}
			home[i] = of[class][to].take()
			state.Place(class, home[i], false)
			slices.SortStableFunc(of[class], func(a, b *slots) int { return cmp.Compare(b.total, a.total) })
			again = true
		}
	}
	for i, class := range s.classes {
		if home[i] >= 0 || s.Planned[i] < 0 {
			continue
		}
		home[i] = of[class][slices.IndexFunc(of[class], func(x *slots) bool { return x.total > 0 })].take()
	}
	return home
}

// offer collects the places of each class.
func (s *Plan) offer(of [][]*slots) {
	type kind struct {
		class int32
		kind  int // of a launch's node; nodes that are there are their own
	}
	known, at := map[kind]*slots{}, map[[2]int32]int{}
	there := int32(s.scheduler.Model.Existing())
	for i, class := range s.classes {
		place := s.Planned[i]
		if place < 0 {
			continue
		}
		k := kind{class, -1 - int(place)}
		if place >= there {
			k.kind = s.kinds[place-there]
		}
		x := known[k]
		if x == nil {
			x = &slots{}
			known[k], of[class] = x, append(of[class], x)
		}
		n, ok := at[[2]int32{class, place}]
		if !ok {
			n = len(x.places)
			at[[2]int32{class, place}] = n
			x.places, x.left = append(x.places, place), append(x.left, 0)
		}
		x.left[n]++
		x.total++
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *slots) int { return cmp.Compare(b.total, a.total) })
	}
}

// take takes a slot of the place that is next.
func (x *slots) take() int32 {
	place := x.places[x.next]
	x.left[x.next]--
	x.total--
	for x.total > 0 {
		if x.next = (x.next + 1) % len(x.places); x.left[x.next] > 0 {
			break
		}
	}
	return place
}
