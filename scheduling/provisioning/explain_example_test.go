package provisioning_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Ask why a launch has its type, and why not a cheaper one.
func ExampleExplainer_Launch() {
	problem := scheduling.Problem{
		Pods:      []*corev1.Pod{schedulingtest.Pod("db", schedulingtest.Requests(schedulingtest.Cores(1), schedulingtest.GiB(6)))},
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("c7i.large", schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(4)), schedulingtest.OnDemand("a", schedulingtest.Cents(8))),
			schedulingtest.Type("m7i.large", schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)), schedulingtest.OnDemand("a", schedulingtest.Cents(10))),
			schedulingtest.Type("r7i.large", schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(16)), schedulingtest.OnDemand("a", schedulingtest.Cents(13))),
		),
	}
	solver := scheduling.Policy{}
	plan, err := provisioning.Planner{Policy: solver}.Plan(context.Background(), problem)
	if err != nil {
		log.Fatal(err)
	}
	explainer, err := provisioning.Planner{Policy: solver}.Explain(problem, plan)
	if err != nil {
		log.Fatal(err)
	}
	launch, err := explainer.Launch("default-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("buys", launch.Option.InstanceType, "at", launch.Option.Price)
	for _, o := range launch.RunnersUp {
		fmt.Println("next:", o.InstanceType, "at", o.Price)
	}
	for _, c := range launch.Cheaper {
		fmt.Println("cheaper:", c.InstanceType, "at", c.Price, "but", c.Reason.Detail)
	}
	// Output:
	// buys m7i.large at 0.1
	// next: r7i.large at 0.13
	// cheaper: c7i.large at 0.08 but memory 4Gi < 6Gi requested
}

// Read the changes that would place a pod, in a form for programs.
func ExampleChange() {
	plan, err := provisioning.Planner{}.Plan(context.Background(), scheduling.Problem{
		Pods: []*corev1.Pod{schedulingtest.Pod("web",
			schedulingtest.Requests(schedulingtest.Cores(1)),
			schedulingtest.Select("topology.kubernetes.io/zone", "us-east-1e"), schedulingtest.Select("kubernetes.io/arch", "arm64"))},
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("c7g.large", schedulingtest.Label("kubernetes.io/arch", "arm64"), schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(4)), schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(7))),
			schedulingtest.Type("c5.large", schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(4)), schedulingtest.OnDemand("us-east-1e", schedulingtest.Cents(8))),
		),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Unschedulable[0].Changes {
		fmt.Println(c.Kind, c.Key, c.Values)
		fmt.Println(" ", c.Text)
	}
	// Output:
	// node-selector topology.kubernetes.io/zone [us-east-1a]
	//   zone "us-east-1e" sells no arm64: select another value of topology.kubernetes.io/zone than us-east-1e, such as us-east-1a
	// node-selector kubernetes.io/arch [amd64]
	//   zone "us-east-1e" sells no arm64: select another value of kubernetes.io/arch than arm64, such as amd64
}
