package provisioning

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// courses are those of fleet.Realise.
func (s *stage) courses(brief bool) []fleet.Course {
	classes := make([]int32, len(s.queue))
	for i := range classes {
		classes[i] = s.queue[i].Class
	}
	return fleet.Courses(s.c, classes, brief)
}

// asked is a pod that is asked about, and what is done to bind it to its place.
type asked struct {
	pod       int32 // in the queue; -1 for none
	nominated bool  // once its node is there
	gated     bool  // it waits until its node is there and admits it
	all       bool  // every pod is nominated
	brief     bool  // equal pods that stand together in the queue stay together
	only      bool  // what comes of others does not matter
}

// played is what came of a course of events.
type played struct {
	to        []int32  // by pod of the queue, its place; -1 for none
	admitted  []bool   // by place, whether that admitted the pod that is asked about when it came
	displaced []string // pods that have no place and would have that of the pod that is asked about
}

// playAll plays all courses of events.
func (s *stage) playAll(q asked) []played {
	courses := s.courses(q.brief)
	out := make([]played, len(courses))
	var all sync.WaitGroup
	for i := range courses {
		all.Go(func() { out[i] = s.play(&courses[i], q) })
	}
	all.Wait()
	return out
}

// play lets machines join, and binds pods after each batch. What is there already takes pods first.
func (s *stage) play(e *fleet.Course, q asked) played {
	r, there := s.scheduler.Begin(e.Seed), s.scheduler.Existing()
	x := played{to: slices.Repeat([]int32{-1}, len(s.queue)), admitted: make([]bool, there+len(s.kinds))}
	node, place := slices.Repeat([]int32{-1}, there+len(s.kinds)), []int32(nil) // by place the run's node, and by node its place
	for i := range there {
		node[i], place = int32(i), append(place, int32(i))
	}
	try := func(i int32, anywhere bool) bool {
		class, home, to := s.queue[i].Class, node[s.home[i]], [1]int32{-1}
		switch {
		case (q.all || q.nominated && i == q.pod) && home >= 0 && r.Admits(class, home):
			r.Place(class, home)
			to[0] = home
		case !anywhere || q.gated && i == q.pod:
			return false
		default:
			for n := range place {
				x.admitted[place[n]] = x.admitted[place[n]] || i == q.pod && r.Admits(class, int32(n))
			}
			if r.Bind([]int32{class}, to[:], nil) > 0 {
				return false
			}
		}
		x.to[i] = place[to[0]]
		return true
	}
	bind := func() {
		for _, anywhere := range []bool{false, true} { // first those who are nominated: the room is theirs
			hopeless := make([]bool, len(s.c.Planned))
			for again := true; again; {
				again = false
				for _, i := range e.Order {
					if q.only && x.to[q.pod] >= 0 {
						return
					}
					if c := s.queue[i].Class; x.to[i] < 0 && !hopeless[c] {
						if try(i, anywhere) {
							again = true
						} else {
							hopeless[c] = anywhere && i != q.pod && !s.scheduler.Tied(c)
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
	if q.pod < 0 {
		return x
	}
	if to := x.to[q.pod]; to >= 0 && to != s.home[q.pod] {
		r.Remove(s.queue[q.pod].Class, node[to])
		for i, p := range s.queue {
			if x.to[i] < 0 && r.Admits(p.Class, node[to]) {
				x.displaced = append(x.displaced, podspec.PodName(p.Pod))
			}
		}
	}
	return x
}

// find is a pod's place in the queue, -1 where it has none.
func (s *stage) find(pod *corev1.Pod) int32 {
	return int32(slices.IndexFunc(s.queue, func(q binding.Pod) bool { return podspec.PodKey(q.Pod) == podspec.PodKey(pod) }))
}

// holds reports whether a pod is bound to its place, or as many of its class as planned are.
func (s *stage) holds(x *played, pod int) bool {
	missing, place := 0, s.home[pod]
	for i, q := range s.queue {
		if q.Class == s.queue[pod].Class {
			if s.home[i] == place {
				missing++
			}
			if x.to[i] == place {
				missing--
			}
		}
	}
	return missing <= 0 || x.to[pod] == place
}
