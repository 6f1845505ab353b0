package scheduling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The twin decides tiny problems by trying everything. Against it the solver must
// place as many pods, must not be cheaper (one of the two would be wrong), and its
// bound must not exceed the optimum. How often it meets the optimum is printed, and
// must not fall.
func TestAgainstTheTwin(t *testing.T) {
	t.Parallel()
	problems := randomProblems() / 5
	var optimal, tight int
	var worst float64
	for seed := range problems {
		p := tiny(uint64(seed))
		plan, err := schedulingtest.Audit(t.Context(), scheduling.Solver{}, p)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		best := newTwin(p).best()
		s := plan.Summary
		switch {
		case s.Placed != best.placed:
			t.Errorf("seed %d: %d pods are placed, %d can be", seed, s.Placed, best.placed)
			continue
		case s.PricePerHour < best.price:
			t.Errorf("seed %d: the price %v is below the optimum %v", seed, s.PricePerHour, best.price)
		case s.LowerBoundPerHour > best.price:
			t.Errorf("seed %d: the bound %v is above the optimum %v", seed, s.LowerBoundPerHour, best.price)
		}
		if s.PricePerHour == best.price {
			optimal++
		} else {
			worst = max(worst, s.PricePerHour.USD()/best.price.USD()-1)
			t.Logf("seed %d: the price is %v, the optimum %v", seed, s.PricePerHour, best.price)
		}
		if s.LowerBoundPerHour == best.price {
			tight++
		}
	}
	t.Logf("%d of %d plans are optimal, the worst costs %.1f%% too much; %d bounds are tight", optimal, problems, 100*worst, tight)
	if optimal < problems*99/100 {
		t.Errorf("%d of %d plans are optimal, want 99%%", optimal, problems)
	}
}

// tiny is a problem of at most six pods, two pools, and five offerings. It has
// limits, reservations, selectors, taints, host ports, daemons and minValues, but
// neither weights nor nodes.
func tiny(seed uint64) scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 77))
	oneIn := func(n int) bool { return r.IntN(n) == 0 }
	var p scheduling.Problem
	var types []*instancetypes.InstanceType
	offers := 1 + r.IntN(5)
	for i := 0; offers > 0; i++ {
		cpu := []int64{1, 2, 4, 8}[r.IntN(4)]
		opts := []schedulingtest.TypeOption{
			schedulingtest.Capacity(schedulingtest.Cores(cpu), schedulingtest.GiB(cpu*[]int64{2, 4, 8}[r.IntN(3)])),
		}
		if oneIn(4) {
			opts = append(opts, schedulingtest.Capacity(schedulingtest.Count("nvidia.com/gpu", 1)))
		}
		if oneIn(6) {
			opts = append(opts, schedulingtest.Capacity(schedulingtest.Count("pods", 2)))
		}
		price := cpu*4 + int64(r.IntN(6)) - 2
		for _, o := range []schedulingtest.TypeOption{
			schedulingtest.OnDemand("a", schedulingtest.Cents(price)),
			schedulingtest.Spot("a", schedulingtest.Cents(price)*offerings.Price(30+r.Int64N(60))/100),
			schedulingtest.OnDemand("b", schedulingtest.Cents(price+1)),
			schedulingtest.Reserved("a", schedulingtest.Cents(price)/10, "cr", 1+r.IntN(2)),
		} {
			if offers > 0 && oneIn(2) {
				opts = append(opts, o)
				offers--
			}
		}
		types = append(types, schedulingtest.Type(fmt.Sprintf("t%d", i), opts...))
	}
	p.Catalog = schedulingtest.MustCatalog(types...)
	for i := range 1 + r.IntN(2) {
		p.NodePools = append(p.NodePools, schedulingtest.NodePool(fmt.Sprintf("pool-%d", i), tinyPool(r)...))
	}
	for i := range 1 + r.IntN(6) {
		p.Pods = append(p.Pods, schedulingtest.Pod(fmt.Sprintf("pod-%d", i), tinyPod(r)...))
	}
	if oneIn(3) {
		opts := []schedulingtest.PodOption{schedulingtest.Requests(schedulingtest.MilliCPU(int64(100+r.IntN(4)*100)), schedulingtest.MiB(256))}
		if oneIn(2) {
			opts = append(opts, schedulingtest.Where(schedulingtest.In("karpenter.sh/capacity-type", "spot", "reserved")))
		}
		p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet("daemon", opts...))
	}
	return p
}

func tinyPool(r *rand.Rand) []schedulingtest.NodePoolOption {
	var opts []schedulingtest.NodePoolOption
	switch r.IntN(8) {
	case 0:
		opts = append(opts, schedulingtest.Limit(schedulingtest.Cores(int64(1+r.IntN(10)))))
	case 1:
		opts = append(opts, schedulingtest.MaxNodes(int64(r.IntN(4))))
	case 2:
		opts = append(opts, schedulingtest.Taint("dedicated", "x", corev1.TaintEffectNoSchedule))
	case 3:
		opts = append(opts, schedulingtest.Label("team", []string{"red", "blue"}[r.IntN(2)]))
	case 4:
		opts = append(opts, schedulingtest.Where(schedulingtest.AtLeast(1+r.IntN(2), schedulingtest.Exists("node.kubernetes.io/instance-type"))))
	}
	return opts
}

func tinyPod(r *rand.Rand) []schedulingtest.PodOption {
	opts := []schedulingtest.PodOption{schedulingtest.Requests(
		schedulingtest.MilliCPU([]int64{0, 200, 500, 900, 1500, 3000}[r.IntN(6)]),
		schedulingtest.MiB([]int64{100, 500, 1000, 3000, 7000, 12000}[r.IntN(6)]))}
	switch r.IntN(14) {
	case 0:
		opts = append(opts, schedulingtest.Select("topology.kubernetes.io/zone", []string{"a", "b"}[r.IntN(2)]))
	case 1:
		opts = append(opts, schedulingtest.Where(schedulingtest.NotIn("karpenter.sh/capacity-type", []string{"spot", "reserved"}[r.IntN(2)])))
	case 2:
		opts = append(opts, schedulingtest.Where(schedulingtest.In("team", "red")), schedulingtest.Where(schedulingtest.In("topology.kubernetes.io/zone", "b")))
	case 3:
		opts = append(opts, schedulingtest.Requests(schedulingtest.Count("nvidia.com/gpu", 1)))
	case 4:
		opts = append(opts, schedulingtest.HostPort(80))
	case 5, 6:
		opts = append(opts, schedulingtest.TolerateAll())
	}
	return opts
}

// twin holds a tiny problem in the form in which everything can be tried.
type twin struct {
	pods    []*corev1.Pod
	options []twinOption
	pools   []*scheduling.NodePool
	left    map[string]int // machines left in a reservation
}

// twinOption is one way to buy a machine for a pool.
type twinOption struct {
	pool        int
	typeName    string
	cpu         int64
	price       offerings.Price
	reservation string
	free        [4]int64 // cpu, memory, pods and GPUs after daemons
	labels      map[string]string
}

// outcome is better the more pods it places, then the less it costs.
type outcome struct {
	placed int
	price  offerings.Price
}

func newTwin(p scheduling.Problem) *twin {
	w := &twin{pods: p.Pods, pools: p.NodePools, left: map[string]int{}}
	for i, pool := range p.NodePools {
		for t := range p.Catalog.All() {
			for _, o := range t.Offerings {
				labels := t.NodeLabels(o)
				labels[scheduling.NodePoolLabel] = pool.Name
				for k, v := range pool.Spec.Template.Metadata.Labels {
					labels[k] = v
				}
				opt := twinOption{
					pool: i, typeName: t.Name, cpu: t.Capacity.Cpu().Value(), price: o.Price, reservation: o.ReservationID, labels: labels,
					free: amounts(t.AllocatableOf(o)),
				}
				for _, d := range p.DaemonSets {
					daemon := &corev1.Pod{Spec: d.Spec.Template.Spec}
					if w.allows(daemon, opt) {
						opt.free = minus(opt.free, demand(daemon))
					}
				}
				// Where offerings disagree about a reservation, the least is believed (P149).
				if left, ok := w.left[o.ReservationID]; !ok || o.ReservationCount < left {
					w.left[o.ReservationID] = o.ReservationCount
				}
				w.options = append(w.options, opt)
			}
		}
	}
	return w
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
	for _, t := range w.pools[o.pool].Spec.Template.Spec.Taints {
		tolerated := slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == "" || x.Key == t.Key })
		if !tolerated {
			return false
		}
	}
	if !requirements.FromLabels(pod.Spec.NodeSelector).Matches(o.labels) {
		return false
	}
	if pod.Spec.Affinity == nil {
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
	var assign func(i int, groups [][]*corev1.Pod, placed int)
	assign = func(i int, groups [][]*corev1.Pod, placed int) {
		if placed+len(w.pods)-i < best.placed {
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
			assign(i+1, grown, placed+1)
		}
		assign(i+1, append(slices.Clone(groups), []*corev1.Pod{w.pods[i]}), placed+1)
		assign(i+1, groups, placed)
	}
	assign(0, nil, 0)
	return best
}

// buy is the least that machines for the groups cost together.
func (w *twin) buy(groups [][]*corev1.Pod) (offerings.Price, bool) {
	fit := make([][]twinOption, len(groups))
	for g, group := range groups {
		types := make([]map[string]bool, len(w.pools))
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
