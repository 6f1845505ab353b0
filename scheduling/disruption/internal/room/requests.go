package room

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Requests has the requests of pods and the capacity of nodes as vectors of numbers, without scheduling rules. With
// them moves are dismissed without a simulation.
type Requests struct {
	names []corev1.ResourceName // in the order of the vectors
	// sizes are the requests of pods by name, as recreated pods have them. held are the requests of running pods that
	// differ from these, see [podspec.Resized].
	sizes map[string][]int64
	held  map[*corev1.Pod][]int64
}

// NewRequests reads the pods of nodes. Resources that no node has are left out of the vectors.
func NewRequests(nodes []*corev1.Node, pods []*corev1.Pod) *Requests {
	r := &Requests{sizes: map[string][]int64{}, held: map[*corev1.Pod][]int64{}}
	number := map[corev1.ResourceName]int{}
	for _, node := range nodes {
		for _, resource := range slices.Sorted(maps.Keys(node.Status.Allocatable)) {
			if _, ok := number[resource]; !ok {
				number[resource] = len(r.names)
				r.names = append(r.names, resource)
			}
		}
	}
	same := map[string][]int64{}
	for i, list := range provisioning.PodRequests(pods) {
		size, pod := r.vector(list), pods[i]
		if podspec.Resized(pod) {
			r.held[pod] = size
			size = r.vector(provisioning.PodRequests([]*corev1.Pod{scheduling.Successor(pod, "")})[0])
		}
		key := string(podspec.AppendRequests(nil, size))
		if same[key] == nil {
			same[key] = size
		}
		r.sizes[podspec.PodName(pod)] = same[key]
	}
	return r
}

// vector is a list of resources as a vector.
func (r *Requests) vector(list corev1.ResourceList) []int64 {
	out := make([]int64, len(r.names))
	for d, name := range r.names {
		if q, ok := list[name]; ok {
			out[d] = podspec.Amount(name, q)
		}
	}
	return out
}

// Resources is the number of resources in a vector.
func (r *Requests) Resources() int { return len(r.names) }

// Of are the requests of a pod by its name, as its controller would recreate it; nil for a pod that is not known. Pods
// with the same requests share the slice.
func (r *Requests) Of(pod string) []int64 { return r.sizes[pod] }

// Allocatable is the allocatable capacity of a node.
func (r *Requests) Allocatable(node *corev1.Node) []int64 { return r.vector(node.Status.Allocatable) }

// Launched is the allocatable capacity of the node that a launch becomes, without its DaemonSets' requests.
func (r *Requests) Launched(node *corev1.Node, l *scheduling.Launch) []int64 {
	left := r.vector(node.Status.Allocatable)
	for d, n := range r.vector(l.Requests) {
		left[d] -= n
	}
	for _, pod := range l.Pods {
		for d, n := range r.sizes[pod] {
			left[d] += n
		}
	}
	return left
}

// Free is the part of a node's capacity that none of its pods has requested.
func (r *Requests) Free(capacity []int64, pods ...*corev1.Pod) []int64 {
	free := slices.Clone(capacity)
	for _, pod := range pods {
		size, ok := r.held[pod]
		if !ok {
			size = r.sizes[podspec.PodName(pod)]
		}
		for d, n := range size {
			free[d] -= n
		}
	}
	return free
}
