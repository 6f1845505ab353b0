package disruption

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// sift looks for the nodes that had best stay when all others go at once: the room on them is
// filled with pods of the others, and what is left is bought anew at what it is worth.
type sift struct {
	names []string
	full  []float64 // by node, its price, and what it costs to remove it
	cost  []float64
	price []float64     // by node, less what it is worth not to disrupt it
	worth []float64     // by node, of its pods
	pods  [][]siftCount // by node
	room  []siftRoom    // by node
	order []int         // nodes, those with least room first
	fixed []siftRoom    // of nodes that stay in any case

	classes []siftClass
	unit    []float64 // by resource, one over all that there is of it

	stays   []bool  // by node
	waiting []int   // by class, pods without a place; scratch of value, as is free
	free    []int64 // what is left of a room
}

// siftClass is pods of one size and worth that may go to the same nodes.
type siftClass struct {
	group int
	size  []int64
	share []float64 // size in units
	worth float64
}

// siftCount is a number of pods of a class.
type siftCount struct{ class, n int }

const (
	// mostSifted is how many nodes are looked at together.
	mostSifted = 300
	// partSifted is how many are in clusters of more.
	partSifted = 100
	// siftTimes is how many sets of nodes are looked at, times the number of nodes, and
	// siftLeast how many at least for each node.
	siftTimes = 200_000
	siftLeast = 8
	// siftHeat is by how much, as a share of what nodes cost, a set may be worse than the one
	// before it at first. In the end none may.
	siftHeat = 0.03
)

// siftShares are what it is worth not to remove nodes, as shares of what they cost by what it
// costs to remove them.
func siftShares() []float64 { return []float64{0.1, 0.05, 0.03, 0.02, 0.014} }

// sifted are the sets of nodes that may go once others are filled with their pods, one for each
// share of what nodes cost that it is worth not to disrupt them.
func (x *search) sifted() [][]string {
	order, mine := x.order(), map[string]bool{}
	for i := range order {
		mine[order[i].name] = true
	}
	fixed := x.state.open(mine)
	shares, parts, times := siftShares(), 1, siftTimes
	if len(order) > mostSifted {
		shares, parts, times = shares[2:3], (len(order)+partSifted-1)/partSifted, 0
	}
	surplus := make([][]string, len(shares))
	for at, share := range shares {
		surplus[at] = x.surplus(share)
	}
	leave := make([][]string, len(shares))
	for k := range parts {
		s := x.newSift(every(order, parts, k), &rooms{names: every(fixed.names, parts, k), free: every(fixed.free, parts, k)})
		for at, names := range s.sets(shares, surplus, times) {
			leave[at] = append(leave[at], names...)
		}
	}
	var out [][]string
	for _, names := range leave {
		slices.Sort(names)
		if !slices.ContainsFunc(out, func(other []string) bool { return slices.Equal(names, other) }) {
			out = append(out, names)
		}
	}
	return out
}

// every are the elements of a list that one in so many gets when it is dealt out.
func every[T any](list []T, many, one int) []T {
	var out []T
	for i := one; i < len(list); i += many {
		out = append(out, list[i])
	}
	return out
}

// sets are the sets of nodes that may go, one for each of siftShares. Each is looked for from
// the surplus of that share, and from the one before.
func (s *sift) sets(shares []float64, surplus [][]string, most int) [][]string {
	price, cost := 0.0, 0.0
	for i := range s.full {
		price, cost = price+s.full[i], cost+s.cost[i]
	}
	out := make([][]string, len(surplus))
	for at, share := range shares {
		for i := range s.full {
			s.price[i] = s.full[i] - share*price*s.cost[i]/max(cost, 1e-9)
		}
		before := slices.Clone(s.stays)
		s.begin(surplus[at])
		least := s.value()
		if at > 0 {
			other := s.stays
			s.stays = before
			if v := s.value(); v <= least {
				least = v
			} else {
				s.stays = other
			}
		}
		s.climb(least, most)
		out[at] = s.leave()
	}
	return out
}

// newSift reads the cluster as it stands for the search.
func (x *search) newSift(order []rank, fixed *rooms) *sift {
	n := len(order)
	s := &sift{
		names: make([]string, n), price: make([]float64, n), worth: make([]float64, n), pods: make([][]siftCount, n), room: make([]siftRoom, n),
		full: make([]float64, n), cost: make([]float64, n), stays: make([]bool, n), unit: make([]float64, len(x.state.gauge.names)),
	}
	for i := range order {
		s.names[i], s.full[i], s.cost[i] = order[i].name, float64(order[i].price), order[i].cost
		s.room[i] = siftRoom{node: order[i].node, free: x.state.gauge.free[order[i].name]}
	}
	for i, name := range fixed.names {
		s.fixed = append(s.fixed, siftRoom{node: x.state.nodes[name].node, free: fixed.free[i]})
	}
	x.count(s)
	s.measure()
	return s
}

// count sorts the pods of nodes into classes.
func (x *search) count(s *sift) {
	type kind struct {
		size  *int64 // pods that ask for the same share it
		worth float64
		group int
	}
	known, groups := map[kind]int{}, map[string]int{}
	mean := x.means()
	for i, name := range s.names {
		for _, pod := range x.state.nodes[name].pods {
			size := x.state.gauge.sizes[podName(pod)]
			if !reschedulable(pod) || len(size) == 0 {
				continue
			}
			worth := float64(x.target.worth[podName(pod)])
			if x.walks {
				worth = mean[&size[0]]
			}
			where := whereabouts(pod)
			if _, ok := groups[where]; !ok {
				groups[where] = len(groups)
				s.open(pod)
			}
			group := groups[where]
			c, ok := known[kind{&size[0], worth, group}]
			if !ok {
				c = len(s.classes)
				known[kind{&size[0], worth, group}] = c
				s.classes = append(s.classes, siftClass{size: size, worth: worth, group: group})
			}
			k := slices.IndexFunc(s.pods[i], func(p siftCount) bool { return p.class == c })
			if k < 0 {
				k = len(s.pods[i])
				s.pods[i] = append(s.pods[i], siftCount{class: c})
			}
			s.pods[i][k].n++
			s.worth[i] += worth
		}
	}
}

// measure works out units, and what nodes would take in if there were pods enough.
func (s *sift) measure() {
	for i := range s.room {
		for _, p := range s.pods[i] {
			for d, q := range s.classes[p.class].size {
				s.unit[d] += float64(p.n) * float64(q)
			}
		}
	}
	for _, list := range [][]siftRoom{s.room, s.fixed} {
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
	left := make([]float64, len(s.room))
	for i := range s.room {
		s.know(&s.room[i])
		s.order = append(s.order, i)
		for d, q := range s.room[i].free {
			left[i] += float64(q) * s.unit[d]
		}
	}
	for i := range s.fixed {
		s.know(&s.fixed[i])
	}
	slices.SortStableFunc(s.order, func(i, j int) int { return cmp.Compare(left[i], left[j]) })
}

// begin says that all nodes stay but some, whose names are sorted.
func (s *sift) begin(leave []string) {
	s.stays = make([]bool, len(s.names))
	for i, name := range s.names {
		_, goes := slices.BinarySearch(leave, name)
		s.stays[i] = !goes
	}
}

// leave are the names of the nodes that go, sorted.
func (s *sift) leave() []string {
	var out []string
	for i, stays := range s.stays {
		if !stays {
			out = append(out, s.names[i])
		}
	}
	slices.Sort(out)
	return out
}

// climb goes from set to set, by one node or by one that stays for one that goes, and ends with
// the best that it has seen. At first it goes where it is a little worse as well.
func (s *sift) climb(least float64, most int) {
	n := len(s.names)
	if n == 0 {
		return
	}
	total := 0.0
	for _, price := range s.price {
		total += math.Abs(price)
	}
	best, now := slices.Clone(s.stays), least
	d := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // reproducible on purpose
	times := max(most/n, siftLeast*n)
	for k := range times {
		heat := siftHeat * total / float64(n) * (1 - float64(k)/float64(times))
		i, j := d.IntN(n), d.IntN(n)
		if s.stays[i] == s.stays[j] {
			j = i
		}
		s.turn(i, j)
		v := s.value()
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

// turn changes whether a node stays, and another one unless it is the same.
func (s *sift) turn(i, j int) {
	s.stays[i] = !s.stays[i]
	if j != i {
		s.stays[j] = !s.stays[j]
	}
}

// value is what the nodes that stay cost, and what pods are worth that find no room on them.
func (s *sift) value() float64 {
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
	for _, i := range s.order {
		if s.stays[i] {
			sum -= s.fill(&s.room[i])
		}
	}
	return sum
}

// means are what pods that ask for the same are worth on average.
func (x *search) means() map[*int64]float64 {
	sum, n := map[*int64]float64{}, map[*int64]float64{}
	for _, name := range x.state.names() {
		for _, pod := range x.state.nodes[name].pods {
			size := x.state.gauge.sizes[podName(pod)]
			if worth, ok := x.target.worth[podName(pod)]; ok && len(size) > 0 {
				sum[&size[0]], n[&size[0]] = sum[&size[0]]+float64(worth), n[&size[0]]+1
			}
		}
	}
	for size := range sum {
		sum[size] /= n[size]
	}
	return sum
}
