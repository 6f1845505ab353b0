package room

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Node is a node with its free capacity.
type Node struct {
	Name string
	// Free is the free capacity, by number of resource.
	Free []int64
	// Price is the node's price, Cost its disruption cost, Pods its reschedulable pods. None of them matters for a
	// node that stays in any case.
	Price, Cost float64
	Pods        []Pod
}

// Pod is a reschedulable pod with its requests and the value of a place for it, in the unit of prices. Pods with the
// same requests must share the slice, and have the same value.
type Pod struct {
	// Object is the pod of which [NewKeepSet] asks where it may run.
	Object *corev1.Pod
	// Size are the requests, by number of resource.
	Size  []int64
	Worth float64
}

// KeepSet looks for the best set of nodes to keep when all other nodes are removed at once: the capacity of the kept
// nodes is filled with pods of the others, and each pod that does not fit costs its value.
type KeepSet struct {
	names     []string
	fullPrice []float64      // by node
	cost      []float64      // by node, its disruption cost
	price     []float64      // by node, its price minus the price of disrupting it
	worth     []float64      // by node, the value of its pods
	pods      [][]classCount // by node
	room      []keepRoom     // by node
	fixed     []keepRoom     // of nodes that stay in any case

	classes []keepClass
	perUnit []float64 // by resource, 1 divided by the sum of all requests and free capacity

	kept     []bool  // by node
	unplaced []int   // by class, pods without a place; scratch of objective, as is free
	free     []int64 // the rest of one node's capacity
}

// keepClass are pods with the same requests and value that may run on the same nodes.
type keepClass struct {
	group int
	size  []int64
	share []float64 // size as shares, by perUnit
	worth float64
}

// classCount is a number of pods of a class.
type classCount struct{ class, n int }

// keepRoom is the free capacity of a node.
type keepRoom struct {
	name string
	free []int64
	// admits says by group of pods whether they may run on the node.
	admits []bool
	// filling are the pods that it takes in if there are enough of each class, worth is their value.
	filling []classCount
	worth   float64
}

const (
	// leastSetsPerNode is the least number of sets that are tried, for each node.
	leastSetsPerNode = 8
	// triesPerSet is how often each set is tried at most, on average: of few nodes there are few sets, two of one node.
	triesPerSet = 8
	// startTemperature is the first temperature of simulated annealing, as a share of the mean price of a node. It falls
	// to 0.
	startTemperature = 0.03
)

// NewKeepSet reads the nodes that may be removed, and the nodes that stay in any case, with vectors of so many resources.
// admits reports whether a node's labels and taints let a pod in. It must be the same for pods with equal node selectors,
// required node affinities and tolerations, and is asked about one pod of them.
func NewKeepSet(nodes, fixed []Node, resources int, admits func(pod *corev1.Pod, node string) bool) *KeepSet {
	n := len(nodes)
	s := &KeepSet{
		names: make([]string, n), fullPrice: make([]float64, n), cost: make([]float64, n), price: make([]float64, n), worth: make([]float64, n),
		pods: make([][]classCount, n), room: make([]keepRoom, n), kept: make([]bool, n), perUnit: make([]float64, resources),
	}
	for i := range nodes {
		x := &nodes[i]
		s.names[i], s.fullPrice[i], s.cost[i] = x.Name, x.Price, x.Cost
		s.room[i] = keepRoom{name: x.Name, free: x.Free}
	}
	for i := range fixed {
		s.fixed = append(s.fixed, keepRoom{name: fixed[i].Name, free: fixed[i].Free})
	}
	s.count(nodes, admits)
	s.prepare()
	return s
}

// count divides the pods of nodes into classes.
func (s *KeepSet) count(nodes []Node, admits func(pod *corev1.Pod, node string) bool) {
	type kind struct {
		size  *int64
		group int
	}
	known, groups := map[kind]int{}, map[string]int{}
	for i := range nodes {
		for _, pod := range nodes[i].Pods {
			where := feasibilityKey(pod.Object)
			if _, ok := groups[where]; !ok {
				groups[where] = len(groups)
				s.addGroup(func(node string) bool { return admits(pod.Object, node) })
			}
			k := kind{&pod.Size[0], groups[where]}
			c, ok := known[k]
			if !ok {
				c = len(s.classes)
				known[k] = c
				s.classes = append(s.classes, keepClass{size: pod.Size, worth: pod.Worth, group: k.group})
			}
			at := slices.IndexFunc(s.pods[i], func(p classCount) bool { return p.class == c })
			if at < 0 {
				at = len(s.pods[i])
				s.pods[i] = append(s.pods[i], classCount{class: c})
			}
			s.pods[i][at].n++
			s.worth[i] += pod.Worth
		}
	}
}

// feasibilityKey is the same for pods with the same node selectors, affinities and tolerations.
func feasibilityKey(pod *corev1.Pod) string {
	return string(podspec.AppendSignature(nil, &pod.Spec, new([]string)))
}

// addGroup adds a group of pods that may run on the same nodes.
func (s *KeepSet) addGroup(admittedBy func(node string) bool) {
	for _, list := range [][]keepRoom{s.room, s.fixed} {
		for i := range list {
			r := &list[i]
			r.admits = append(r.admits, admittedBy(r.name))
		}
	}
}

// prepare computes units, and fills each node as if there were enough pods of each class.
func (s *KeepSet) prepare() {
	lists := [][]keepRoom{s.room, s.fixed}
	for i := range s.pods {
		for _, p := range s.pods[i] {
			for d, q := range s.classes[p.class].size {
				s.perUnit[d] += float64(p.n) * float64(q)
			}
		}
	}
	for _, list := range lists {
		for i := range list {
			for d, q := range list[i].free {
				s.perUnit[d] += float64(max(q, 0))
			}
		}
	}
	for d, sum := range s.perUnit {
		s.perUnit[d] = 1 / max(sum, 1)
	}
	for c := range s.classes {
		for d, q := range s.classes[c].size {
			s.classes[c].share = append(s.classes[c].share, float64(q)*s.perUnit[d])
		}
	}
	s.unplaced = make([]int, len(s.classes))
	const plenty = 1 << 30
	for _, list := range lists {
		for i := range list {
			r := &list[i]
			for c := range s.unplaced {
				s.unplaced[c] = plenty
			}
			r.worth = s.fillGreedily(r)
			for c, n := range s.unplaced {
				if n < plenty {
					r.filling = append(r.filling, classCount{class: c, n: plenty - n})
				}
			}
		}
	}
}

// Leave are the names of the nodes to remove.
func (s *KeepSet) Leave() []string {
	var out []string
	for i, stays := range s.kept {
		if !stays {
			out = append(out, s.names[i])
		}
	}
	return out
}

// Search looks for the best set by simulated annealing, at a price of disruption: the share of the price of all
// nodes, if all of them were disrupted. It tries most divided by the number of nodes sets, or leastSetsPerNode for
// each node if these are more, but at most triesPerSet for each set that there is. Each differs from the one before by
// one node, or by one kept and one removed node. It starts with the last set or, if first is set, with a greedy one.
func (s *KeepSet) Search(share float64, first bool, most int) {
	n := len(s.names)
	if n == 0 {
		return
	}
	price, cost, total := 0.0, 0.0, 0.0
	for i := range s.fullPrice {
		price, cost = price+s.fullPrice[i], cost+s.cost[i]
	}
	for i := range s.fullPrice {
		s.price[i] = s.fullPrice[i] - share*price*s.cost[i]/max(cost, 1e-9)
		total += math.Abs(s.price[i])
	}
	least := s.objective()
	if first {
		least = s.greedy()
	}
	best, now := slices.Clone(s.kept), least
	d := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // reproducible on purpose
	times := max(most/n, leastSetsPerNode*n)
	if n < 31 {
		times = min(times, triesPerSet<<n)
	}
	for k := range times {
		heat := startTemperature * total / float64(n) * (1 - float64(k)/float64(times))
		i, j := d.IntN(n), d.IntN(n)
		if s.kept[i] == s.kept[j] {
			j = i
		}
		s.flip(i, j)
		v := s.objective()
		if v > now+heat*d.ExpFloat64() {
			s.flip(i, j)
			continue
		}
		if now = v; v < least {
			least = v
			copy(best, s.kept)
		}
	}
	s.kept = best
}

// greedy keeps the nodes that lower the objective, the cheapest first for the value of the pods that they may hold,
// and returns the objective.
func (s *KeepSet) greedy() float64 {
	order := make([]int, len(s.names))
	rate := make([]float64, len(s.names))
	for i := range order {
		order[i], rate[i] = i, s.price[i]/max(s.worth[i]+s.room[i].worth, 1)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rate[i], rate[j]) })
	least := s.objective()
	for _, i := range order {
		s.flip(i, i)
		if v := s.objective(); v <= least {
			least = v
		} else {
			s.flip(i, i)
		}
	}
	return least
}

// flip keeps a removed node or removes a kept one, and does the same with j unless j is i.
func (s *KeepSet) flip(i, j int) {
	s.kept[i] = !s.kept[i]
	if j != i {
		s.kept[j] = !s.kept[j]
	}
}

// objective is the price of the kept nodes, plus the value of the pods that find no place on them.
func (s *KeepSet) objective() float64 {
	clear(s.unplaced)
	sum := 0.0
	for i, stays := range s.kept {
		if stays {
			sum += s.price[i]
			continue
		}
		sum += s.worth[i]
		for _, p := range s.pods[i] {
			s.unplaced[p.class] += p.n
		}
	}
	for i := range s.fixed {
		sum -= s.fill(&s.fixed[i])
	}
	for i := range s.room {
		if s.kept[i] {
			sum -= s.fill(&s.room[i])
		}
	}
	return sum
}

// fill moves unplaced pods to a node and returns their value.
func (s *KeepSet) fill(r *keepRoom) float64 {
	for _, p := range r.filling {
		if s.unplaced[p.class] < p.n {
			return s.fillGreedily(r)
		}
	}
	for _, p := range r.filling {
		s.unplaced[p.class] -= p.n
	}
	return r.worth
}

// fillGreedily moves unplaced pods to a node one by one and returns their value. The next is always the one whose
// requests are most like the rest of the capacity (largest dot product).
func (s *KeepSet) fillGreedily(r *keepRoom) (worth float64) {
	s.free = append(s.free[:0], r.free...)
	for {
		best, most := -1, 0.0
	classes:
		for c, n := range s.unplaced {
			x, like := &s.classes[c], 0.0
			if n == 0 || !r.admits[x.group] {
				continue
			}
			for d, q := range x.size {
				if q > s.free[d] {
					continue classes
				}
				like += x.share[d] * float64(s.free[d]) * s.perUnit[d]
			}
			if like > most {
				best, most = c, like
			}
		}
		if best < 0 {
			return worth
		}
		s.unplaced[best]--
		worth += s.classes[best].worth
		for d, q := range s.classes[best].size {
			s.free[d] -= q
		}
	}
}
