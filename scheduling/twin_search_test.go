package scheduling_test

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// twin holds a tiny problem in the form in which everything can be tried.
type twin struct {
	pods    []*corev1.Pod
	options []twinOption
	pools   []*scheduling.NodePool
	left    map[string]int // machines left in a reservation
}

// twinOption is one way to buy a machine for a pool, or a running node: a machine of
// no pool that costs nothing and can be had once.
type twinOption struct {
	pool        int // noPool for a node
	typeName    string
	cpu         int64
	price       offerings.Price
	reservation string
	free        [4]int64 // cpu, memory, pods and GPUs after daemons
	labels      map[string]string
}

const noPool = -1

// outcome is better the more pods it places, those of higher priority first, then the
// less it costs.
type outcome struct {
	placed int // see worth
	price  offerings.Price
}

// worth is what placing a pod counts: one of priority more than all the rest.
func worth(p *corev1.Pod) int {
	if p.Spec.Priority != nil {
		return 100
	}
	return 1
}

func newTwin(p scheduling.Problem) *twin {
	w := &twin{pods: p.Pods, pools: p.NodePools, left: map[string]int{}}
	for _, n := range p.Nodes {
		w.left[n.Name] = 1
		w.add(p, twinOption{pool: noPool, reservation: n.Name, labels: n.Labels, free: amounts(n.Status.Allocatable)})
	}
	for i, pool := range p.NodePools {
		for t := range p.Catalog.All() {
			for _, o := range t.Offerings {
				labels := t.NodeLabels(o)
				labels[scheduling.NodePoolLabel] = pool.Name
				for k, v := range pool.Spec.Template.Metadata.Labels {
					labels[k] = v
				}
				// Where offerings disagree about a reservation, the least is believed (P149).
				if left, ok := w.left[o.ReservationID]; !ok || o.ReservationCount < left {
					w.left[o.ReservationID] = o.ReservationCount
				}
				w.add(p, twinOption{
					pool: i, typeName: t.Name, cpu: t.Capacity.Cpu().Value(), price: o.Price, reservation: o.ReservationID, labels: labels,
					free: amounts(t.AllocatableOf(o)),
				})
			}
		}
	}
	return w
}

// add takes an option in, less the daemons that run there.
func (w *twin) add(p scheduling.Problem, o twinOption) {
	for _, d := range p.DaemonSets {
		daemon := &corev1.Pod{Spec: d.Spec.Template.Spec}
		if w.allows(daemon, o) {
			o.free = minus(o.free, demand(daemon))
		}
	}
	w.options = append(w.options, o)
}

func amounts(list corev1.ResourceList) [4]int64 {
	gpu := list["nvidia.com/gpu"]
	return [4]int64{list.Cpu().MilliValue(), list.Memory().Value(), list.Pods().Value(), gpu.Value()}
}

func demand(p *corev1.Pod) [4]int64 {
	d := amounts(p.Spec.Containers[0].Resources.Requests)
	d[2] = 1
	return d
}

func minus(a, b [4]int64) [4]int64 {
	for i := range a {
		a[i] -= b[i]
	}
	return a
}

// allows reports whether the pod may be on the option, its size aside.
func (w *twin) allows(pod *corev1.Pod, o twinOption) bool {
	var taints []corev1.Taint
	if o.pool != noPool {
		taints = w.pools[o.pool].Spec.Template.Spec.Taints
	}
	for _, t := range taints {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == "" || x.Key == t.Key })
		if !tolerated {
			return false
		}
	}
	if !requirements.FromLabels(pod.Spec.NodeSelector).Matches(o.labels) {
		return false
	}
	if a := pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		set, err := requirements.FromNodeSelector(term.MatchExpressions)
		return err == nil && set.Matches(o.labels)
	})
}

// holds reports whether the option holds all of the pods.
func (w *twin) holds(o twinOption, group []*corev1.Pod) bool {
	free, ports := o.free, 0
	for _, pod := range group {
		if !w.allows(pod, o) {
			return false
		}
		free = minus(free, demand(pod))
		ports += len(pod.Spec.Containers[0].Ports)
	}
	return slices.Min(free[:]) >= 0 && ports <= 1
}

// best tries every partition of every part of the pods, and every option for
// every group.
func (w *twin) best() outcome {
	best := outcome{placed: -1, price: math.MaxInt64}
	rest := make([]int, len(w.pods)+1) // what the pods from i on are worth
	for i := len(w.pods) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + worth(w.pods[i])
	}
	var assign func(i int, groups [][]*corev1.Pod, placed int)
	assign = func(i int, groups [][]*corev1.Pod, placed int) {
		if placed+rest[i] < best.placed {
			return
		}
		if i == len(w.pods) {
			if price, ok := w.buy(groups); ok && (placed > best.placed || price < best.price) {
				best = outcome{placed, price}
			}
			return
		}
		for g := range groups {
			grown := slices.Clone(groups)
			grown[g] = append(slices.Clone(groups[g]), w.pods[i])
			assign(i+1, grown, placed+worth(w.pods[i]))
		}
		assign(i+1, append(slices.Clone(groups), []*corev1.Pod{w.pods[i]}), placed+worth(w.pods[i]))
		assign(i+1, groups, placed)
	}
	assign(0, nil, 0)
	return best
}

// buy is the least that machines for the groups cost together.
func (w *twin) buy(groups [][]*corev1.Pod) (offerings.Price, bool) {
	fit := make([][]twinOption, len(groups))
	for g, group := range groups {
		types := map[int]map[string]bool{}
		for _, o := range w.options {
			if w.holds(o, group) {
				fit[g] = append(fit[g], o)
				if types[o.pool] == nil {
					types[o.pool] = map[string]bool{}
				}
				types[o.pool][o.typeName] = true
			}
		}
		fit[g] = slices.DeleteFunc(fit[g], func(o twinOption) bool { return len(types[o.pool]) < w.floor(o.pool) })
		if len(fit[g]) == 0 {
			return 0, false
		}
	}
	best, found := offerings.Price(math.MaxInt64), false
	var choose func(g int, chosen []twinOption, price offerings.Price)
	choose = func(g int, chosen []twinOption, price offerings.Price) {
		if price >= best || !w.within(chosen) {
			return
		}
		if g == len(groups) {
			best, found = price, true
			return
		}
		for _, o := range fit[g] {
			choose(g+1, append(slices.Clone(chosen), o), price+o.price)
		}
	}
	choose(0, nil, 0)
	return best, found
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
func (w *twin) within(chosen []twinOption) bool {
	reserved := map[string]int{}
	for _, o := range chosen {
		reserved[o.reservation]++
	}
	for id, n := range reserved {
		if id != "" && n > w.left[id] {
			return false
		}
	}
	for i, pool := range w.pools {
		var nodes, cpu int64
		for _, o := range chosen {
			if o.pool == i {
				nodes++
				cpu += o.cpu
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
