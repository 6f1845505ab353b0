package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
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
		case placedWorth(p, plan) != best.placed:
			t.Errorf("seed %d: pods worth %d are placed, %d can be\n%s", seed, placedWorth(p, plan), best.placed, disagreement(t, p))
			continue
		case s.PricePerHour < best.price:
			t.Errorf("seed %d: the price %v is below the optimum %v", seed, s.PricePerHour, best.price)
		case s.LowerBoundPerHour > best.price:
			t.Errorf("seed %d: the bound %v is above the optimum %v", seed, s.LowerBoundPerHour, best.price)
		}
		if s.PricePerHour == best.price {
			optimal++
		} else {
			worst = max(worst, (s.PricePerHour - best.price).USD())
			t.Logf("seed %d: the price is %v, the optimum %v\n%s", seed, s.PricePerHour, best.price, disagreement(t, p))
		}
		if s.LowerBoundPerHour == best.price {
			tight++
		}
	}
	t.Logf("%d of %d plans are optimal, the worst costs %v USD/h too much; %d bounds are tight", optimal, problems, worst, tight)
	if optimal < problems*99/100 {
		t.Errorf("%d of %d plans are optimal, want 99%%", optimal, problems)
	}
}

// disagreement is the smallest problem, as a scenario, that solver and twin decide
// differently.
func disagreement(t *testing.T, p scheduling.Problem) string {
	t.Helper()
	return schedulingtest.Scenario(schedulingtest.Minimise(p, func(q scheduling.Problem) bool {
		if q.Catalog == nil || len(q.NodePools) == 0 {
			return false
		}
		plan, err := scheduling.Solver{}.Solve(t.Context(), q)
		if err != nil {
			return false
		}
		best := newTwin(q).best()
		return placedWorth(q, plan) != best.placed || plan.Summary.PricePerHour != best.price
	}))
}

// placedWorth is what the pods that the plan places are worth.
func placedWorth(p scheduling.Problem, plan *scheduling.Plan) int {
	refused := map[string]bool{}
	for _, u := range plan.Unschedulable {
		refused[u.Pod] = true
	}
	sum := 0
	for _, pod := range p.Pods {
		if !refused[pod.Namespace+"/"+pod.Name] {
			sum += worth(pod)
		}
	}
	return sum
}

// tiny is a problem of at most six pods, two pools, five offerings and two nodes. It
// has limits, reservations, selectors, taints, host ports, daemons, minValues and
// priorities, but no weights.
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
	for i := range max(0, r.IntN(5)-2) {
		p.Nodes = append(p.Nodes, schedulingtest.Node(fmt.Sprintf("node-%d", i),
			schedulingtest.Allocatable(schedulingtest.MilliCPU(int64(500+r.IntN(4)*500)), schedulingtest.GiB(int64(1+r.IntN(10)))),
			schedulingtest.Label("topology.kubernetes.io/zone", []string{"a", "b"}[r.IntN(2)])))
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
	case 7:
		opts = append(opts, schedulingtest.Priority(100))
	}
	return opts
}
