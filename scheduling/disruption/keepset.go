package disruption

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/drain"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// keepSet looks for the nodes that had best stay when all others go at once: the room on them is
// filled with pods of the others, and what is left is bought anew at what it is worth.
type keepSet struct {
	names []string
	full  []float64      // by node, its price
	cost  []float64      // by node, what it costs to remove it
	price []float64      // by node, its price less what it is worth not to disrupt it
	worth []float64      // by node, of its pods
	pods  [][]classCount // by node
	room  []keepRoom     // by node
	fixed []keepRoom     // of nodes that stay in any case

	classes []keepClass
	unit    []float64 // by resource, one over all that there is of it

	stays   []bool  // by node
	waiting []int   // by class, pods without a place; scratch of objective, as is free
	free    []int64 // what is left of a room
}

// keepClass is pods of one size and worth that may go to the same nodes.
type keepClass struct {
	group int
	size  []int64
	share []float64 // size in units
	worth float64
}

// classCount is a number of pods of a class.
type classCount struct{ class, n int }

// keepRoom is what is free on a node that stays.
type keepRoom struct {
	node *corev1.Node
	free []int64
	// admits says which groups of pods may go there.
	admits []bool
	// full are the pods that it would take in if there were pods enough, and what they are
	// worth.
	full  []classCount
	worth float64
}

const (
	// partNodes is how many nodes are looked at together in clusters of more than someNodes.
	partNodes = 100
	// setTimes is how many sets of nodes are looked at, times the number of nodes, and
	// setLeast how many at least for each node.
	setTimes = 200_000
	setLeast = 8
	// setHeat is by how much, as a share of what nodes cost, a set may be worse than the one
	// before it at first. In the end none may.
	setHeat = 0.03
)

// keepShares are what it is worth not to remove nodes, as shares of what they cost by what it
// costs to remove them.
func keepShares() []float64 { return []float64{0.1, 0.05, 0.03, 0.02, 0.014} }

// keepSets are the sets of nodes that may go once others are filled with their pods, one for each
// share of what nodes cost that it is worth not to disrupt them.
func (x *search) keepSets() [][]string {
	order, mine := x.byWaste(), map[string]bool{}
	for i := range order {
		mine[order[i].name] = true
	}
	fixed := x.state.open(mine)
	shares, parts, times := keepShares(), 1, setTimes
	if len(order) > someNodes {
		shares, parts, times = shares[2:3], (len(order)+partNodes-1)/partNodes, 0
	}
	leave := make([][]string, len(shares))
	for k := range parts {
		s := x.newKeepSet(every(order, parts, k), &rooms{names: every(fixed.names, parts, k), free: every(fixed.free, parts, k)})
		for at, share := range shares {
			s.search(share, at == 0, times)
			leave[at] = append(leave[at], s.leave()...)
		}
	}
	for i := range leave {
		slices.Sort(leave[i])
	}
	return slices.CompactFunc(leave, slices.Equal)
}

// every are the elements of a list that one in so many gets when it is dealt out.
func every[T any](list []T, many, one int) []T {
	var out []T
	for i := one; i < len(list); i += many {
		out = append(out, list[i])
	}
	return out
}

// newKeepSet reads the cluster as it stands for the search.
func (x *search) newKeepSet(order []rank, fixed *rooms) *keepSet {
	n := len(order)
	s := &keepSet{
		names: make([]string, n), full: make([]float64, n), cost: make([]float64, n), price: make([]float64, n), worth: make([]float64, n),
		pods: make([][]classCount, n), room: make([]keepRoom, n), stays: make([]bool, n), unit: make([]float64, len(x.state.capacity.names)),
	}
	for i := range order {
		s.names[i], s.full[i], s.cost[i] = order[i].name, float64(order[i].price), order[i].cost
		s.room[i] = keepRoom{node: order[i].node, free: x.state.capacity.free(order[i].candidate)}
	}
	for i, name := range fixed.names {
		s.fixed = append(s.fixed, keepRoom{node: x.state.at[name].node, free: fixed.free[i]})
	}
	x.count(s)
	s.measure()
	return s
}

// count sorts the pods of nodes into classes. A pod is worth what pods of its size are worth on
// average.
func (x *search) count(s *keepSet) {
	type kind struct {
		size  *int64 // pods that ask for the same share it
		group int
	}
	sum, n := map[*int64]float64{}, map[*int64]float64{}
	for _, name := range x.state.names() {
		for _, pod := range x.state.at[name].pods {
			size := x.state.capacity.sizes[podspec.PodName(pod)]
			if worth, ok := x.target.worth[podspec.PodName(pod)]; ok && len(size) > 0 {
				sum[&size[0]], n[&size[0]] = sum[&size[0]]+float64(worth), n[&size[0]]+1
			}
		}
	}
	known, groups := map[kind]int{}, map[string]int{}
	for i, name := range s.names {
		for _, pod := range x.state.at[name].pods {
			size := x.state.capacity.sizes[podspec.PodName(pod)]
			if !eviction.Reschedulable(pod) || len(size) == 0 {
				continue
			}
			where := nodesOf(pod)
			if _, ok := groups[where]; !ok {
				groups[where] = len(groups)
				s.open(pod)
			}
			k := kind{&size[0], groups[where]}
			c, ok := known[k]
			if !ok {
				c = len(s.classes)
				known[k] = c
				s.classes = append(s.classes, keepClass{size: size, worth: sum[k.size] / max(n[k.size], 1), group: k.group})
			}
			at := slices.IndexFunc(s.pods[i], func(p classCount) bool { return p.class == c })
			if at < 0 {
				at = len(s.pods[i])
				s.pods[i] = append(s.pods[i], classCount{class: c})
			}
			s.pods[i][at].n++
			s.worth[i] += s.classes[c].worth
		}
	}
}

// nodesOf is the same for pods that may go to the same nodes, other pods aside.
func nodesOf(pod *corev1.Pod) string {
	return string(podspec.AppendSignature(nil, &pod.Spec, new([]string)))
}

// open says which rooms admit a new group, of which one pod is given.
func (s *keepSet) open(pod *corev1.Pod) {
	asks := podspec.NewConstraint(&pod.Spec)
	for _, list := range [][]keepRoom{s.room, s.fixed} {
		for i := range list {
			r := &list[i]
			r.admits = append(r.admits, r.node != nil && asks.OwnMatchesNode(r.node.Name, r.node.Labels) && drain.Tolerates(asks.Tolerations, r.node.Spec.Taints))
		}
	}
}

// measure works out units, and what nodes would take in if there were pods enough.
func (s *keepSet) measure() {
	lists := [][]keepRoom{s.room, s.fixed}
	for i := range s.pods {
		for _, p := range s.pods[i] {
			for d, q := range s.classes[p.class].size {
				s.unit[d] += float64(p.n) * float64(q)
			}
		}
	}
	for _, list := range lists {
		for i := range list {
			for d, q := range list[i].free {
				s.unit[d] += float64(max(q, 0))
			}
		}
	}
	for d, sum := range s.unit {
		s.unit[d] = 1 / max(sum, 1)
	}
	for c := range s.classes {
		for d, q := range s.classes[c].size {
			s.classes[c].share = append(s.classes[c].share, float64(q)*s.unit[d])
		}
	}
	s.waiting = make([]int, len(s.classes))
	const plenty = 1 << 30
	for _, list := range lists {
		for i := range list {
			r := &list[i]
			for c := range s.waiting {
				s.waiting[c] = plenty
			}
			r.worth = s.pick(r)
			for c, n := range s.waiting {
				if n < plenty {
					r.full = append(r.full, classCount{class: c, n: plenty - n})
				}
			}
		}
	}
}

// leave are the names of the nodes that go.
func (s *keepSet) leave() []string {
	var out []string
	for i, stays := range s.stays {
		if !stays {
			out = append(out, s.names[i])
		}
	}
	return out
}

// search looks for the best set at a share of what nodes cost that it is worth not to disrupt
// them. It goes from set to set, by one node or by one that stays for one that goes, from the
// set before it or, first of all, from the nodes with the cheapest room.
func (s *keepSet) search(share float64, first bool, most int) {
	n := len(s.names)
	if n == 0 {
		return
	}
	price, cost, total := 0.0, 0.0, 0.0
	for i := range s.full {
		price, cost = price+s.full[i], cost+s.cost[i]
	}
	for i := range s.full {
		s.price[i] = s.full[i] - share*price*s.cost[i]/max(cost, 1e-9)
		total += math.Abs(s.price[i])
	}
	least := s.objective()
	if first {
		least = s.cheapest()
	}
	best, now := slices.Clone(s.stays), least
	d := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // reproducible on purpose
	times := max(most/n, setLeast*n)
	for k := range times {
		heat := setHeat * total / float64(n) * (1 - float64(k)/float64(times))
		i, j := d.IntN(n), d.IntN(n)
		if s.stays[i] == s.stays[j] {
			j = i
		}
		s.turn(i, j)
		v := s.objective()
		if v > now+heat*d.ExpFloat64() {
			s.turn(i, j)
			continue
		}
		if now = v; v < least {
			least = v
			copy(best, s.stays)
		}
	}
	s.stays = best
}

// cheapest lets the nodes stay, those first whose room costs least for what it may hold, that make
// the set better, and returns its objective.
func (s *keepSet) cheapest() float64 {
	order := make([]int, len(s.names))
	rate := make([]float64, len(s.names))
	for i := range order {
		order[i], rate[i] = i, s.price[i]/max(s.worth[i]+s.room[i].worth, 1)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rate[i], rate[j]) })
	least := s.objective()
	for _, i := range order {
		s.turn(i, i)
		if v := s.objective(); v <= least {
			least = v
		} else {
			s.turn(i, i)
		}
	}
	return least
}

// turn changes whether a node stays, and another one unless it is the same.
func (s *keepSet) turn(i, j int) {
	s.stays[i] = !s.stays[i]
	if j != i {
		s.stays[j] = !s.stays[j]
	}
}

// objective is what the nodes that stay cost, and what pods are worth that find no room on them.
func (s *keepSet) objective() float64 {
	clear(s.waiting)
	sum := 0.0
	for i, stays := range s.stays {
		if stays {
			sum += s.price[i]
			continue
		}
		sum += s.worth[i]
		for _, p := range s.pods[i] {
			s.waiting[p.class] += p.n
		}
	}
	for i := range s.fixed {
		sum -= s.fill(&s.fixed[i])
	}
	for i := range s.room {
		if s.stays[i] {
			sum -= s.fill(&s.room[i])
		}
	}
	return sum
}

// fill puts pods that wait into a room and returns what they are worth.
func (s *keepSet) fill(r *keepRoom) float64 {
	for _, p := range r.full {
		if s.waiting[p.class] < p.n {
			return s.pick(r)
		}
	}
	for _, p := range r.full {
		s.waiting[p.class] -= p.n
	}
	return r.worth
}

// pick puts pods that wait into a room one by one, next always the one that most resembles
// what is left of it, and returns what they are worth.
func (s *keepSet) pick(r *keepRoom) (worth float64) {
	s.free = append(s.free[:0], r.free...)
	for {
		best, most := -1, 0.0
	classes:
		for c, n := range s.waiting {
			x, like := &s.classes[c], 0.0
			if n == 0 || !r.admits[x.group] {
				continue
			}
			for d, q := range x.size {
				if q > s.free[d] {
					continue classes
				}
				like += x.share[d] * float64(s.free[d]) * s.unit[d]
			}
			if like > most {
				best, most = c, like
			}
		}
		if best < 0 {
			return worth
		}
		s.waiting[best]--
		worth += s.classes[best].worth
		for d, q := range s.classes[best].size {
			s.free[d] -= q
		}
	}
}
