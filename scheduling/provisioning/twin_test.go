package provisioning_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The twin decides tiny problems by trying everything. Against it the solver must place
// as many pods, must not be cheaper (one of the two would be wrong), and its bound must
// not exceed the optimum. How often it meets the optimum is printed for each effort,
// and must not fall.
func TestAgainstTheTwin(t *testing.T) {
	tallies := []*twinTally{
		{effort: scheduling.EffortThorough, want: 990},
		{effort: scheduling.EffortDefault, want: 985},
		{effort: scheduling.EffortFast, want: 960},
	}
	t.Cleanup(func() {
		for _, y := range tallies {
			y.judge(t)
		}
	})
	const shards = 10
	for shard := range shards {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			for n := shard; n < twins()+len(keptOff); n += shards {
				seed := n
				if n >= twins() {
					seed = keptOff[n-twins()]
				}
				p := tiny(uint64(seed))
				w := newTwin(p, tinyOverhead(seed))
				aimed, loose := w.optimum()
				for _, y := range tallies {
					y.compare(t, seed, p, aimed, loose)
				}
			}
		})
	}
}

// tinyOverhead returns the cost of a node beside its price in a tiny problem.
func tinyOverhead(seed int) offerings.Price { return offerings.Price(seed%3) * schedulingtest.Cents(3) }

// keptOff are tiny problems in which the anti-affinity of a running pod keeps all pods off its node, and launches are
// chosen for their domains alone.
var keptOff = []int{587}

// twins is how many tiny problems there are.
func twins() int {
	_, n := soak.Window(100)
	return n
}

// twinTally counts how the solver does against the twin at one effort.
type twinTally struct {
	effort                          scheduling.Effort
	want                            int64 // optimal, of a thousand
	problems, optimal, tight, short atomic.Int64
}

// compare solves one tiny problem of which the optimum is known.
func (y *twinTally) compare(t *testing.T, seed int, p scheduling.Problem, aimed, loose outcome) {
	t.Helper()
	solver := scheduling.Policy{Effort: y.effort, NodeOverhead: tinyOverhead(seed)}
	y.problems.Add(1)
	plan, err := schedulingtest.Audit(t.Context(), solver, p)
	if err != nil && !leavesOut(err) {
		t.Errorf("effort %d, seed %d: %v", y.effort, seed, err)
		return
	}
	s, placed := plan.Summary, placedWorth(p, plan)
	price := max(s.PricePerHour, s.ExpectedPerHour)
	show := func(report func(string, ...any), format string, args ...any) {
		report("effort %d, seed %d: %s\n%s", y.effort, seed, fmt.Sprintf(format, args...), disagreement(t, solver, p))
	}
	switch {
	case placed > loose.placed:
		show(t.Errorf, "pods worth %d are placed, %d can be", placed, loose.placed)
	case placed < loose.placed:
		y.short.Add(1)
		show(t.Logf, "pods worth %d are placed, %d can be", placed, loose.placed)
		return
	case price < loose.price:
		show(t.Errorf, "the price %v is below the optimum %v", price, loose.price)
	case s.LowerBoundPerHour > loose.price:
		// It is over plans that spread pods over the zones in which they could be.
		if least, _ := newTwin(onlyPlaced(p, plan), solver.NodeOverhead).optimum(); s.LowerBoundPerHour > least.price {
			t.Errorf("effort %d, seed %d: the bound %v is above the optimum %v", y.effort, seed, s.LowerBoundPerHour, least.price)
		}
	}
	if s.LowerBoundPerHour == aimed.price {
		y.tight.Add(1)
	}
	if price <= aimed.price {
		y.optimal.Add(1)
		return
	}
	show(t.Logf, "the price is %v, the optimum %v", price, aimed.price)
}

// judge reports the counts, and fails the test if too few plans are optimal.
func (y *twinTally) judge(t *testing.T) {
	t.Helper()
	problems, optimal := y.problems.Load(), y.optimal.Load()
	t.Logf("effort %d: %d of %d plans are optimal; %d place too few pods; %d bounds are tight", y.effort, optimal, problems, y.short.Load(), y.tight.Load())
	if (optimal+1)*1000 < problems*y.want { // one more or less is chance
		t.Errorf("effort %d: %d of %d plans are optimal, want %d in a thousand", y.effort, optimal, problems, y.want)
	}
}

// disagreement is the smallest problem, as YAML, that solver and twin decide
// differently.
func disagreement(t *testing.T, solver scheduling.Policy, p scheduling.Problem) string {
	t.Helper()
	how := ""
	small := schedulingtest.Minimise(p, func(q scheduling.Problem) bool {
		if q.Catalog == nil || len(q.NodePools) == 0 || len(q.Pods) == 0 {
			return false
		}
		plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), q)
		if err != nil {
			return false
		}
		w := newTwin(q, solver.NodeOverhead)
		if !w.ties.sound() {
			return false
		}
		aimed, loose := w.optimum()
		placed, price := placedWorth(q, plan), max(plan.Summary.PricePerHour, plan.Summary.ExpectedPerHour)
		if placed == loose.placed && price >= loose.price && price <= aimed.price {
			return false
		}
		how = fmt.Sprintf("pods worth %d for %v; %d for %v can be", placed, price, loose.placed, aimed.price)
		return true
	})
	return how + "\n" + schedulingtest.YAML(small)
}

// onlyPlaced is the problem without the pods that the plan leaves out, of which its
// bound does not speak.
func onlyPlaced(p scheduling.Problem, plan *scheduling.Plan) scheduling.Problem {
	p.Pods = slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(plan.Unschedulable, func(u scheduling.Unschedulable) bool { return u.Pod == pod.Namespace+"/"+pod.Name })
	})
	return p
}

// placedWorth returns the weight of the pods that the plan places.
func placedWorth(p scheduling.Problem, plan *scheduling.Plan) int {
	sum := 0
	for _, pod := range onlyPlaced(p, plan).Pods {
		sum += worth(pod)
	}
	return sum
}
