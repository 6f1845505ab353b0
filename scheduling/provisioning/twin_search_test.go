package provisioning_test

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// twin holds a tiny problem in the form in which everything can be tried.
type twin struct {
	pods    []*corev1.Pod
	options []twinOption
	pools   []*scheduling.NodePool
	left    map[string]int64 // the amount left of a reservation, and nodes
	ties    twinTies
	fits    [][]int // by set of pods, the options that hold them, the cheapest first; nil if not known
}

// podSet is a set of the pods, one bit each.
type podSet uint

// twinOption is one way to buy a machine for a pool, or a running node: a machine of
// no pool that costs nothing and can be had once.
type twinOption struct {
	pool        int // noPool for a node
	typeName    string
	cpu         int64
	price       offerings.Price
	reservation string
	use         int64    // the amount of the reservation that a machine takes
	free        [4]int64 // cpu, memory, pods and GPUs after daemons
	labels      map[string]string
	zone        int
	running     []*corev1.Pod
}

const noPool = -1

// outcome is better the more pods it places, those of higher priority first, then the lower its price.
type outcome struct {
	placed int // see worth
	price  offerings.Price
}

// worth is the weight of a placed pod: a pod of priority counts more than all pods without.
func worth(p *corev1.Pod) int {
	if p.Spec.Priority != nil {
		return 100
	}
	return 1
}

// optimum returns the best outcome that the planner aims at, and the best of all. The planner spreads pods over every
// zone in which they could be, unless some pods would then find no place.
func (w *twin) optimum() (aimed, loose outcome) {
	loose = w.best(false)
	if aimed = w.best(true); aimed.placed < loose.placed {
		aimed = loose
	}
	return aimed, loose
}

// best tries every partition of every subset of the pods, and every option for every group. With open, spread counts
// every zone in which its pods could be, otherwise only zones with machines.
func (w *twin) best(open bool) outcome {
	best := outcome{placed: -1, price: math.MaxInt64}
	rest := make([]int, len(w.pods)+1) // the weight of the pods from i on, if all are placed
	for i := len(w.pods) - 1; i >= 0; i-- {
		rest[i] = rest[i+1]
		if len(w.fit(1<<i)) > 0 {
			rest[i] += worth(w.pods[i])
		}
	}
	seats := make([]int, len(w.pods)) // the group of each pod
	var assign func(i int, groups []podSet, placed int)
	assign = func(i int, groups []podSet, placed int) {
		most := placed + rest[i]
		if most < best.placed || most == best.placed && w.least(groups) >= best.price {
			return
		}
		if i == len(w.pods) {
			limit := offerings.Price(math.MaxInt64)
			if placed == best.placed {
				limit = best.price
			}
			if price, ok := w.buy(groups, limit, open); ok {
				best = outcome{placed, price}
			}
			return
		}
		from := 0
		if i > 0 && w.alike(i-1, i) {
			from = seats[i-1] // of pods that are alike the order does not matter
		}
		for g := from; g <= len(groups) && g < len(w.pods); g++ {
			grown := append(slices.Clone(groups), 0)[:max(len(groups), g+1)]
			grown[g] |= 1 << i
			if len(w.fit(grown[g])) == 0 {
				continue
			}
			seats[i] = g
			assign(i+1, grown, placed+worth(w.pods[i]))
		}
		seats[i] = len(w.pods)
		assign(i+1, groups, placed)
	}
	assign(0, nil, 0)
	return best
}

// alike reports whether two pods differ in nothing but their names.
func (w *twin) alike(i, j int) bool {
	a, b := w.pods[i], w.pods[j]
	return reflect.DeepEqual(a.Labels, b.Labels) && reflect.DeepEqual(a.Spec, b.Spec)
}

// least returns the price of machines for the groups if each gets its cheapest option.
func (w *twin) least(groups []podSet) (sum offerings.Price) {
	for _, group := range groups {
		sum += w.options[w.fit(group)[0]].price
	}
	return sum
}

// fit lists the options that hold a group, the cheapest first.
func (w *twin) fit(group podSet) []int {
	if w.fits[group] != nil {
		return w.fits[group]
	}
	fit := []int{}
	types := map[int]map[string]bool{}
	for i, o := range w.options {
		if w.holds(o, group) {
			fit = append(fit, i)
			if types[o.pool] == nil {
				types[o.pool] = map[string]bool{}
			}
			types[o.pool][o.typeName] = true
		}
	}
	fit = slices.DeleteFunc(fit, func(i int) bool { return len(types[w.options[i].pool]) < w.floor(w.options[i].pool) })
	slices.SortStableFunc(fit, func(a, b int) int { return cmp.Compare(w.options[a].price, w.options[b].price) })
	w.fits[group] = fit
	return fit
}

// holds reports whether the option holds all pods of the group.
func (w *twin) holds(o twinOption, group podSet) bool {
	free, ports := o.free, 0
	for _, pod := range w.ties.each(group) {
		if !w.allows(pod, o) {
			return false
		}
		free = minus(free, demand(pod))
		ports += len(pod.Spec.Containers[0].Ports)
	}
	return slices.Min(free[:]) >= 0 && ports <= 1 && w.ties.allowHost(o, group)
}

// buy is the least that machines for the groups cost together, if that is below the
// limit.
func (w *twin) buy(groups []podSet, limit offerings.Price, open bool) (offerings.Price, bool) {
	best, found := limit, false
	rest := make([]offerings.Price, len(groups)+1) // the least for the groups from g on
	for g := len(groups) - 1; g >= 0; g-- {
		rest[g] = rest[g+1] + w.options[w.fit(groups[g])[0]].price
	}
	chosen := make([]int, len(groups))
	var choose func(g int, price offerings.Price)
	choose = func(g int, price offerings.Price) {
		if price+rest[g] >= best || !w.within(chosen[:g]) {
			return
		}
		if g == len(groups) {
			if w.flexible(groups, chosen) && w.ties.allowZones(w, groups, chosen, open) {
				best, found = price, true
			}
			return
		}
		for _, i := range w.fit(groups[g]) {
			chosen[g] = i
			choose(g+1, price+w.options[i].price)
		}
	}
	choose(0, 0)
	return best, found
}

// flexible reports whether every machine of a pool with minValues could be of as many
// types: each in its place alone, within limits and reservations, and for pods that are
// spread over zones in the same zone.
func (w *twin) flexible(groups []podSet, chosen []int) bool {
	for g, group := range groups {
		first := w.options[chosen[g]]
		floor := w.floor(first.pool)
		if floor == 0 {
			continue
		}
		zonal := w.ties.zonal(group, union(groups))
		types := map[string]bool{}
		for _, i := range w.fit(group) {
			o := w.options[i]
			if o.pool != first.pool || zonal && o.zone != first.zone {
				continue
			}
			instead := slices.Clone(chosen)
			if instead[g] = i; w.within(instead) {
				types[o.typeName] = true
			}
		}
		if len(types) < floor {
			return false
		}
	}
	return true
}

// floor is how many instance types every launch of the pool must leave open.
func (w *twin) floor(pool int) int {
	n := 0
	if pool == noPool {
		return n
	}
	for _, r := range w.pools[pool].Spec.Template.Spec.Requirements {
		if r.MinValues != nil {
			n = max(n, *r.MinValues)
		}
	}
	return n
}

// within reports whether limits and reservations suffice for the machines.
func (w *twin) within(chosen []int) bool {
	for i, o := range chosen {
		id, n := w.options[o].reservation, w.options[o].use
		for _, other := range chosen[:i] {
			if w.options[other].reservation == id {
				n += w.options[other].use
			}
		}
		if id != "" && n > w.left[id] {
			return false
		}
	}
	for i, pool := range w.pools {
		if len(pool.Spec.Limits) == 0 {
			continue
		}
		var nodes, cpu int64
		for _, o := range chosen {
			if w.options[o].pool == i {
				nodes++
				cpu += w.options[o].cpu
			}
		}
		if q, ok := pool.Spec.Limits[scheduling.NodesResource]; ok && nodes > q.Value() {
			return false
		}
		if q, ok := pool.Spec.Limits[corev1.ResourceCPU]; ok && cpu > q.Value() {
			return false
		}
	}
	return true
}
