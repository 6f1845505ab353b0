package simulation

import (
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Asked is a question about one pod, and the changes that are made to bind it to its place.
type Asked struct {
	Pod       int32 // in the queue; -1 for none
	Nominated bool  // once its node is there
	Gated     bool  // it waits until its node is there and admits it
	All       bool  // every pod is nominated
	Brief     bool  // equal pods that stand together in the queue stay together
	Only      bool  // the other pods do not matter
}

// Played is the result of one simulation.
type Played struct {
	To        []int32  // by pod of the queue, its place; -1 for none
	Admitted  []bool   // by place, whether that admitted the pod that is asked about when it came
	Displaced []string // pods that have no place and would have that of the pod that is asked about
}

// Play plays all courses of events.
func (s *Plan) Play(q Asked) []Played {
	courses := fleet.Courses(s.c, s.classes, q.Brief)
	out := make([]Played, len(courses))
	var all sync.WaitGroup
	for i := range courses {
		all.Go(func() { out[i] = s.play(&courses[i], &q) })
	}
	all.Wait()
	return out
}

// play lets machines join, and binds pods after each batch. Existing nodes take pods first.
func (s *Plan) play(e *fleet.Course, q *Asked) Played {
	r, there := s.scheduler.Begin(e.Seed), s.scheduler.Model.Existing()
	x := Played{To: slices.Repeat([]int32{-1}, len(s.Queue)), Admitted: make([]bool, there+len(s.kinds))}
	node, place := slices.Repeat([]int32{-1}, there+len(s.kinds)), []int32(nil) // by place the run's node, and by node its place
	for i := range there {
		node[i], place = int32(i), append(place, int32(i))
	}
	try := func(i int32, anywhere bool) bool {
		class, home, to := s.Queue[i].Class, node[s.Planned[i]], [1]int32{-1}
		switch {
		case (q.All || q.Nominated && i == q.Pod) && home >= 0 && r.Admits(class, home):
			r.Place(class, home)
			to[0] = home
		case !anywhere || q.Gated && i == q.Pod:
			return false
		default:
			for n := range place {
				if i != q.Pod {
					break
				}
				x.Admitted[place[n]] = x.Admitted[place[n]] || r.Admits(class, int32(n))
			}
			if r.Bind([]int32{class}, to[:], nil) > 0 {
				return false
			}
		}
		x.To[i] = place[to[0]]
		return true
	}
	bind := func() {
		for _, anywhere := range []bool{false, true} { // first those who are nominated: the room is theirs
			hopeless := make([]bool, len(s.c.Planned))
			for again := true; again; {
				again = false
				for _, i := range e.Order {
					if q.Only && x.To[q.Pod] >= 0 {
						return
					}
					if c := s.Queue[i].Class; x.To[i] < 0 && !hopeless[c] {
						if try(i, anywhere) {
							again = true
						} else {
							hopeless[c] = anywhere && i != q.Pod && !s.scheduler.Model.Classes[c].HasRequired()
						}
					}
				}
			}
		}
	}
	if there > 0 {
		bind()
	}
	for batch := range e.Joins(len(s.kinds)) {
		for _, i := range batch {
			node[there+i], place = int32(r.Join(s.kinds[i])), append(place, int32(there+i))
		}
		bind()
	}
	if q.Pod < 0 {
		return x
	}
	if to := x.To[q.Pod]; to >= 0 && to != s.Planned[q.Pod] {
		r.Remove(s.Queue[q.Pod].Class, node[to])
		for i, p := range s.Queue {
			if x.To[i] < 0 && r.Admits(p.Class, node[to]) {
				x.Displaced = append(x.Displaced, podspec.PodName(p.Pod))
			}
		}
	}
	return x
}

// Holds reports whether a pod is bound to its place, or as many of its class as planned are.
func (s *Plan) Holds(x *Played, pod int) bool {
	missing, place := 0, s.Planned[pod]
	for i, q := range s.Queue {
		if q.Class == s.Queue[pod].Class {
			if s.Planned[i] == place {
				missing++
			}
			if x.To[i] == place {
				missing--
			}
		}
	}
	return missing <= 0 || x.To[pod] == place
}
