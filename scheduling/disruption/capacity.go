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

// capacity has the requests of pods and the capacity of nodes as vectors of numbers, without scheduling rules. With
// them moves are dismissed without a simulation.
type capacity struct {
	// names are the resources, in the order of the vectors.
	names []corev1.ResourceName
	// sizes are the requests of pods by name, as recreated pods have them; pods with the same requests share the
	// slice. held are the requests of running pods that differ from these, see [podspec.Resized].
	sizes map[string][]int64
	held  map[*corev1.Pod][]int64
}

// newCapacity reads the nodes and pods of a state, and sets the allocatable capacity of its nodes.
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

// vector is a list of resources as a vector; resources that no node has are left out.
func (g *capacity) vector(list corev1.ResourceList) []int64 {
	out := make([]int64, len(g.names))
	for d, name := range g.names {
		if q, ok := list[name]; ok {
			out[d] = podspec.Amount(name, q)
		}
	}
	return out
}

// launched is the allocatable capacity of a launch, without its DaemonSets' requests.
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

// free is the allocatable capacity of a node that no pod has requested.
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

// open is the free capacity of the nodes that take in pods, without the given nodes.
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
