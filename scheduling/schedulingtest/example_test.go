package schedulingtest_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Builders make the objects of a problem in a line each, and Audit solves it and
// tests every promise about the plan.
func ExampleAudit() {
	problem := scheduling.Problem{
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("m.large",
				schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
				schedulingtest.OnDemand("a", schedulingtest.Cents(10)))),
		NodePools: []*scheduling.NodePool{
			schedulingtest.NodePool("batch", schedulingtest.Taint("dedicated", "batch", corev1.TaintEffectNoSchedule)),
		},
		Pods: schedulingtest.Pods(4, "job",
			schedulingtest.Requests(schedulingtest.MilliCPU(500), schedulingtest.GiB(1)),
			schedulingtest.TolerateKey("dedicated", "")),
	}
	plan, err := schedulingtest.Audit(context.Background(), scheduling.Policy{}, problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(plan.Launches), "machine for", plan.Summary.PricePerHour, "USD/h")
	// Output: 1 machine for 0.1 USD/h
}

// Minimise and YAML turn a large problem that shows something into a small text
// that still does.
func ExampleMinimise() {
	problem := schedulingtest.Random(4, schedulingtest.Size{})
	usesSpot := func(p scheduling.Problem) bool {
		plan, err := provisioning.Planner{}.Plan(context.Background(), p)
		if err != nil {
			return false
		}
		for _, l := range plan.Launches {
			if l.Options[0].CapacityType == "spot" {
				return true
			}
		}
		return false
	}
	small := schedulingtest.Minimise(problem, usesSpot)
	fmt.Println(len(problem.Pods), "pods before,", len(small.Pods), "after")
	fmt.Println(strings.Contains(schedulingtest.YAML(small), "capacityType: spot"))
	// Output:
	// 39 pods before, 1 after
	// true
}

// Ties between pods are options like any other. They are about the pods with the
// labels of their own pod unless Of says otherwise.
func ExampleSpread() {
	problem := scheduling.Problem{
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("m.large",
				schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
				schedulingtest.OnDemand("a", schedulingtest.Cents(10)), schedulingtest.OnDemand("b", schedulingtest.Cents(12)))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Pods: schedulingtest.Pods(3, "web",
			schedulingtest.Requests(schedulingtest.Cores(1)), schedulingtest.Label("app", "web"),
			schedulingtest.Spread(corev1.LabelTopologyZone),
			schedulingtest.Apart(corev1.LabelHostname)),
	}
	plan, err := schedulingtest.Audit(context.Background(), scheduling.Policy{}, problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range plan.Launches {
		fmt.Println(l.Options[0].Zone, l.Pods)
	}
	// Output:
	// a [default/web-1]
	// a [default/web-3]
	// b [default/web-2]
}
