package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/room"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// capacity knows what is free on nodes in round figures: daemons that are still to come aside,
// and whoever may go where. It serves to tell in advance what is not worth asking.
type capacity struct {
	names []corev1.ResourceName
	// sizes are what pods ask for when they are made again, by name; pods that ask for the same share
	// them. held are what those take where they run that take something else there, see [podspec.Resized].
	sizes map[string][]int64
	held  map[*corev1.Pod][]int64
}

// newCapacity measures nodes and what is there.
func newCapacity(f *state) *capacity {
	g := &capacity{sizes: map[string][]int64{}, held: map[*corev1.Pod][]int64{}}
	number := map[corev1.ResourceName]int{}
	for _, s := range f.nodes {
		for _, resource := range slices.Sorted(maps.Keys(s.node.Status.Allocatable)) {
			if _, ok := number[resource]; !ok {
				number[resource] = len(g.names)
				g.names = append(g.names, resource)
			}
		}
	}
	same := map[string][]int64{}
	for _, at := range f.nodes {
		at.allocatable = g.vector(at.node.Status.Allocatable)
		for _, pods := range [][]*corev1.Pod{at.pods, at.expected} {
			for i, list := range provisioning.PodRequests(pods) {
				size, pod := g.vector(list), pods[i]
				if podspec.Resized(pod) {
					g.held[pod] = size
					size = g.vector(provisioning.PodRequests([]*corev1.Pod{unbound(pod)})[0])
				}
				key := string(podspec.AppendRequests(nil, size))
				if same[key] == nil {
					same[key] = size
				}
				g.sizes[podspec.PodName(pod)] = same[key]
			}
		}
	}
	return g
}

func (g *capacity) vector(list corev1.ResourceList) []int64 {
	out := make([]int64, len(g.names))
	for d, name := range g.names {
		if q, ok := list[name]; ok {
			out[d] = podspec.Amount(name, q)
		}
	}
	return out
}

// launched is the room on the node of a launch, daemons aside.
func (g *capacity) launched(node *corev1.Node, l *scheduling.Launch) []int64 {
	left := g.vector(node.Status.Allocatable)
	for d, n := range g.vector(l.Requests) {
		left[d] -= n
	}
	for _, pod := range l.Pods {
		for d, n := range g.sizes[pod] {
			left[d] += n
		}
	}
	return left
}

// free is what nobody has asked for of a node's room.
func (g *capacity) free(s *candidate) []int64 {
	free := slices.Clone(s.allocatable)
	for _, pods := range [][]*corev1.Pod{s.pods, s.expected} {
		for _, pod := range pods {
			size, ok := g.held[pod]
			if !ok {
				size = g.sizes[podspec.PodName(pod)]
			}
			for d, n := range size {
				free[d] -= n
			}
		}
	}
	return free
}

// open are the rooms of the nodes that take pods in, but for some.
func (f *state) open(but map[string]bool) *room.Rooms {
	var names []string
	var free [][]int64
	for _, name := range f.names() {
		at := f.byName[name]
		if at.closures > 0 || but[name] || at.node.Spec.Unschedulable {
			continue
		}
		names, free = append(names, name), append(free, f.capacity.free(at))
	}
	return room.New(names, free, len(f.capacity.names))
}
