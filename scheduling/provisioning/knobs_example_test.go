package provisioning_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// market sells two sizes, on demand and as spot nodes that are interrupted more or
// less often.
func market() *instancetypes.Catalog {
	spot := func(zone, price string, rate float64) st.TypeOption {
		return st.Offer(offerings.Offering{Zone: zone, CapacityType: offerings.Spot, Price: offerings.MustPrice(price), InterruptionRate: rate})
	}
	onDemand := func(price string) st.TypeOption {
		return st.Offer(offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice(price)})
	}
	return st.MustCatalog(
		st.Type("m7i.large", st.Capacity(st.Cores(2), st.GiB(8)), spot("a", "0.030", 0.20), spot("b", "0.040", 0.05), onDemand("0.10")),
		st.Type("m7i.4xlarge", st.Capacity(st.Cores(16), st.GiB(64)), spot("a", "0.350", 0.10), onDemand("0.80")),
	)
}

// Choose among several complete plans.
func ExamplePlanner_Alternatives() {
	list, err := provisioning.Planner{}.Alternatives(context.Background(), scheduling.Problem{
		Pods:      st.Pods(8, "web", st.Requests(st.Cores(2), st.GiB(4))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   market(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range list {
		s := a.Plan.Summary
		fmt.Printf("%v: %v USD per hour, nodes: %d, interruptions a month: %v\n", a.Goals, s.PricePerHour, s.Nodes, a.InterruptionsPerMonth)
	}
	// Output:
	// [cheapest]: 0.24 USD per hour, nodes: 8, interruptions a month: 1.6
	// [low-interruption]: 0.32 USD per hour, nodes: 8, interruptions a month: 0.4
	// [fewest-nodes]: 0.35 USD per hour, nodes: 1, interruptions a month: 0.1
	// [on-demand fewest-interruptions diversified]: 0.8 USD per hour, nodes: 1, interruptions a month: 0
}

// The cost of an interruption decides between a cheap spot machine and one that is interrupted less.
func ExampleInterruption() {
	problem := scheduling.Problem{
		Pods:      st.Pods(1, "web", st.Requests(st.Cores(2), st.GiB(4))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   market(),
	}
	for _, cost := range []string{"0", "60", "1000"} {
		solver := scheduling.Policy{InterruptionCost: scheduling.InterruptionCost{PerNode: offerings.MustAmount(cost)}}
		plan, err := provisioning.Planner{Policy: solver}.Plan(context.Background(), problem)
		if err != nil {
			fmt.Println(err)
			return
		}
		o, s := plan.Launches[0].Options[0], plan.Summary
		fmt.Printf("at %s USD: %s in %s for %v, expected to cost %v\n", cost, o.CapacityType, o.Zone, s.PricePerHour, max(s.ExpectedPerHour, s.PricePerHour))
	}
	// Output:
	// at 0 USD: spot in a for 0.03, expected to cost 0.03
	// at 60 USD: spot in b for 0.04, expected to cost 0.044109589
	// at 1000 USD: on-demand in a for 0.1, expected to cost 0.1
}

// No machine above a size, and pods that only a larger one could hold are told so.
func ExampleNodeSize() {
	solver := scheduling.Policy{
		Size:   scheduling.NodeSize{Largest: st.Resources(st.Cores(8))},
		NoSpot: true,
	}
	plan, err := provisioning.Planner{Policy: solver}.Plan(context.Background(), scheduling.Problem{
		Pods:      append(st.Pods(2, "web", st.Requests(st.Cores(1))), st.Pod("big", st.Requests(st.Cores(12)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   market(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Launches[0].Options[0].InstanceType, plan.Launches[0].Pods)
	fmt.Println(plan.Unschedulable[0].Pod+":", plan.Unschedulable[0].Fixes[0])
	// Output:
	// m7i.large [default/web-1 default/web-2]
	// default/big: allow nodes up to cpu 16, such as m7i.4xlarge
}
