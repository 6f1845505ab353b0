package provisioning_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// mixedMarket is a pool, two instance types and a node on which one pod runs.
func mixedMarket() scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("m7i.large",
				schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
				schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(10))),
			schedulingtest.Type("m7i.xlarge",
				schedulingtest.Capacity(schedulingtest.Cores(4), schedulingtest.GiB(16)),
				schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(19))),
		),
		Nodes: []*corev1.Node{schedulingtest.Node("node-1", schedulingtest.Allocatable(schedulingtest.Cores(2), schedulingtest.GiB(8)))},
		Running: []*corev1.Pod{schedulingtest.Pod("db", schedulingtest.OnNode("node-1"),
			schedulingtest.Requests(schedulingtest.MilliCPU(1_500), schedulingtest.GiB(4)))},
	}
}

// A session gets the changes of a cluster as they happen, and each plan considers the changes so far.
func ExampleSession() {
	ctx := context.Background()
	session, err := provisioning.NewSession(scheduling.Policy{}, mixedMarket())
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(what string) {
		plan, err := session.Plan(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v USD/h\n", what, plan.Summary.PricePerHour)
		for _, a := range plan.Existing {
			fmt.Printf("  %v onto %s\n", a.Pods, a.Node)
		}
		for _, l := range plan.Launches {
			fmt.Printf("  %v onto a new %s\n", l.Pods, l.Options[0].InstanceType)
		}
	}
	web := schedulingtest.Pods(2, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2)))
	if err := session.Apply(scheduling.Delta{Pods: web}); err != nil {
		fmt.Println(err)
	}
	show("two pods come")
	if err := session.Apply(scheduling.Delta{Removed: scheduling.Removed{Pods: []types.NamespacedName{{Namespace: "default", Name: "db"}}}}); err != nil {
		fmt.Println(err)
	}
	show("the database goes")
	failed := &offerings.Unavailable{}
	if err := session.Apply(scheduling.Delta{Unavailable: failed, Removed: scheduling.Removed{Nodes: []string{"node-1"}}}); err != nil {
		fmt.Println(err)
	}
	failed.Mark(offerings.Key{InstanceType: "m7i.large"}, session.Problem().Now, 0)
	show("the node goes, and large instance types are sold out")
	fmt.Println(session.Apply(scheduling.Delta{Removed: scheduling.Removed{Nodes: []string{"node-1"}}}))
	// Output:
	// two pods come: 0.1 USD/h
	//   [default/web-1 default/web-2] onto a new m7i.large
	// the database goes: 0 USD/h
	//   [default/web-1 default/web-2] onto node-1
	// the node goes, and large instance types are sold out: 0.19 USD/h
	//   [default/web-1 default/web-2] onto a new m7i.xlarge
	// removed.nodes[node-1]: is not there
}

// A fork plans for a changed cluster without changing the session.
func ExampleSession_Fork() {
	ctx := context.Background()
	p := mixedMarket()
	p.Pods = schedulingtest.Pods(2, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2)))
	session, err := provisioning.NewSession(scheduling.Policy{}, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	without := session.Fork()
	if err := without.Apply(scheduling.Delta{Removed: scheduling.Removed{Nodes: []string{"node-1"}}}); err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []*provisioning.Session{session, without} {
		plan, err := s.Plan(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d nodes there, %v USD/h more\n", len(s.Problem().Nodes), plan.Summary.PricePerHour)
	}
	// Output:
	// 1 nodes there, 0.1 USD/h more
	// 0 nodes there, 0.1 USD/h more
}
