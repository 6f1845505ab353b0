package disruption

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// capacity knows what is free on nodes in round figures: daemons that are still to come aside,
// and whoever may go where. It serves to tell in advance what is not worth asking.
type capacity struct {
	names []corev1.ResourceName
	// sizes are what pods ask for, by name; pods that ask for the same share them.
	sizes map[string][]int64
}

// newCapacity measures nodes and what is there.
func newCapacity(f *state) *capacity {
	g := &capacity{sizes: map[string][]int64{}}
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
		at.room = g.vector(at.node.Status.Allocatable)
		for _, pods := range [][]*corev1.Pod{at.pods, at.expected} {
			for i, list := range provisioning.PodRequests(pods) {
				size := g.vector(list)
				key := string(podspec.AppendRequests(nil, size))
				if same[key] == nil {
					same[key] = size
				}
				g.sizes[podspec.PodName(pods[i])] = same[key]
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
	room := g.vector(node.Status.Allocatable)
	for d, n := range g.vector(l.Requests) {
		room[d] -= n
	}
	for _, pod := range l.Pods {
		for d, n := range g.sizes[pod] {
			room[d] += n
		}
	}
	return room
}

// free is what nobody has asked for of a node's room.
func (g *capacity) free(s *candidate) []int64 {
	free := slices.Clone(s.room)
	for _, pods := range [][]*corev1.Pod{s.pods, s.expected} {
		for _, pod := range pods {
			for d, n := range g.sizes[podspec.PodName(pod)] {
				free[d] -= n
			}
		}
	}
	return free
}

// rooms is what is free on nodes that take pods in, side by side.
type rooms struct {
	names []string
	free  [][]int64
	left  []float64 // the sum of the shares that are free
	unit  []float64 // by resource, one over what is free of it
}

// open are the rooms of the nodes that take pods in, but for some.
func (f *state) open(but map[string]bool) *rooms {
	r := &rooms{unit: make([]float64, len(f.capacity.names))}
	for _, name := range f.names() {
		at := f.at[name]
		if at.shut > 0 || but[name] || at.node.Spec.Unschedulable {
			continue
		}
		free := f.capacity.free(at)
		r.names, r.free = append(r.names, name), append(r.free, free)
		for d, n := range free {
			r.unit[d] += float64(max(n, 0))
		}
	}
	for d, sum := range r.unit {
		r.unit[d] = 1 / max(sum, 1)
	}
	for _, free := range r.free {
		r.left = append(r.left, r.share(free))
	}
	return r
}

func (r *rooms) share(v []int64) (sum float64) {
	for d, n := range v {
		sum += float64(n) * r.unit[d]
	}
	return sum
}

// put finds room for sizes, the largest first, each where least is free, and returns where.
// Where all find some, it is taken if keep says so. skip is a node to leave out.
func (r *rooms) put(sizes [][]int64, skip string, keep bool) (into []string, ok bool) {
	order := slices.Clone(sizes)
	slices.SortStableFunc(order, func(a, b []int64) int { return cmp.Compare(r.share(b), r.share(a)) })
	var taken []int
	for _, size := range order {
		best := r.tightest(size, skip)
		if best < 0 {
			break
		}
		taken, into = append(taken, best), append(into, r.names[best])
		r.take(best, size, 1)
	}
	ok = len(taken) == len(order)
	if !ok || !keep {
		for j, i := range taken {
			r.take(i, order[j], -1)
		}
	}
	return into, ok
}

// close lets a node take in nobody.
func (r *rooms) close(name string) {
	if i := slices.Index(r.names, name); i >= 0 {
		r.names, r.free, r.left = slices.Delete(r.names, i, i+1), slices.Delete(r.free, i, i+1), slices.Delete(r.left, i, i+1)
	}
}

// tightest is the fullest of the rooms that hold a size, -1 if none does.
func (r *rooms) tightest(size []int64, skip string) int {
	best := -1
rooms:
	for i, free := range r.free {
		if best >= 0 && r.left[i] >= r.left[best] {
			continue
		}
		for d, n := range size {
			if n > free[d] {
				continue rooms
			}
		}
		if r.names[i] != skip {
			best = i
		}
	}
	return best
}

func (r *rooms) take(i int, size []int64, sign int64) {
	for d, n := range size {
		r.free[i][d] -= sign * n
	}
	r.left[i] -= float64(sign) * r.share(size)
}
