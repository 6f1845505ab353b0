package provisioning_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Plan launches for three pods and a catalog of two types.
func ExamplePlanner_Plan() {
	problem := scheduling.Problem{
		Pods: schedulingtest.Pods(3, "web",
			schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("m7i.large",
				schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
				schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(10)),
				schedulingtest.Spot("us-east-1a", schedulingtest.Cents(4))),
			schedulingtest.Type("m7i.xlarge",
				schedulingtest.Capacity(schedulingtest.Cores(4), schedulingtest.GiB(16)),
				schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(20)),
				schedulingtest.Spot("us-east-1a", schedulingtest.Cents(7))),
		),
	}

	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range plan.Launches {
		best := l.Options[0]
		fmt.Printf("%s: %s %s in %s for %v, holds %v\n", l.Name, best.InstanceType, best.CapacityType, best.Zone, l.Price, l.Pods)
		for _, other := range l.Options[1:] {
			fmt.Printf("  or %s %s for %v\n", other.InstanceType, other.CapacityType, other.Price)
		}
	}
	fmt.Printf("%v USD/h, and no plan costs less than %v\n", plan.Summary.PricePerHour, plan.Summary.LowerBoundPerHour)
	// Output:
	// default-1: m7i.xlarge spot in us-east-1a for 0.07, holds [default/web-1 default/web-2 default/web-3]
	//   or m7i.xlarge on-demand for 0.2
	// 0.07 USD/h, and no plan costs less than 0.07
}

// A pod that fits nowhere is no error: the plan states the reasons, and changes that would place it.
func ExampleUnschedulable() {
	problem := scheduling.Problem{
		Pods: append(
			schedulingtest.Pods(1, "train", schedulingtest.Requests(schedulingtest.Count("nvidia.com/gpu", 1))),
			schedulingtest.Pod("huge", schedulingtest.Requests(schedulingtest.Cores(64)))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("m7i.large",
			schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
			schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(10)))),
	}

	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range plan.Unschedulable {
		fmt.Println(u.Pod)
		for _, r := range u.Reasons {
			fmt.Printf("  %s: %s\n", r.Code, r.Detail)
		}
		for _, fix := range u.Fixes {
			fmt.Println("  fix:", fix)
		}
	}
	// Output:
	// default/huge
	//   resources: too little cpu
	//   fix: request at most 2 cpu instead of 64
	// default/train-1
	//   no-such-resource: no instance type or node has nvidia.com/gpu
	//   fix: drop the request for nvidia.com/gpu (requests 1)
}

// A malformed problem is an error that names every fault with its field.
func ExampleValidate() {
	problem := scheduling.Problem{
		Pods: []*corev1.Pod{
			schedulingtest.Pod("web", schedulingtest.Requests(schedulingtest.MilliCPU(-1))),
			schedulingtest.Pod("web"),
		},
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default", schedulingtest.Weight(500))},
	}
	fmt.Println(provisioning.Validate(&problem))
	// Output:
	// 3 faults:
	// nodepools[default].spec.weight: must lie between 1 and 100, or be absent: "500"
	// pods[default/web]: is there more than once
	// pods[default/web].spec.containers[0].resources.requests.cpu: is negative: "-1m"
}

// Where an option cannot be had, the next one is taken, and marked offerings are left out
// of the plans to come.
func ExampleLaunchOption_Key() {
	problem := scheduling.Problem{
		Pods:      schedulingtest.Pods(1, "web", schedulingtest.Requests(schedulingtest.Cores(1))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("m7i.large",
			schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
			schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(10)),
			schedulingtest.Spot("us-east-1a", schedulingtest.Cents(4)),
			schedulingtest.Spot("us-east-1b", schedulingtest.Cents(5)))),
		Unavailable: &offerings.Unavailable{},
		Now:         time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC),
	}
	soldOut := func(o *scheduling.LaunchOption) bool {
		return o.Zone == "us-east-1a" && o.CapacityType == offerings.Spot
	}
	for range 2 {
		plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range plan.Launches[0].Options {
			option := &plan.Launches[0].Options[i]
			if soldOut(option) {
				fmt.Println("sold out:", option.CapacityType, option.Zone)
				problem.Unavailable.Mark(option.Key(), problem.Now, 0)
				continue
			}
			fmt.Println("bought:", option.CapacityType, option.Zone)
			break
		}
	}
	// Output:
	// sold out: spot us-east-1a
	// bought: spot us-east-1b
	// bought: spot us-east-1b
}
