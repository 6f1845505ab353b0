package provisioning_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// While the node of a launch is on its way, the next plan gets the nominations of its pods: they stay there, and new
// pods get the room that is left.
func ExampleNominations() {
	ctx := context.Background()
	session, err := provisioning.NewSession(scheduling.Policy{}, mixedMarket())
	if err != nil {
		fmt.Println(err)
		return
	}
	next := scheduling.Delta{Pods: schedulingtest.Pods(2, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2)))}
	for range 2 {
		if err := session.Apply(next); err != nil {
			fmt.Println(err)
			return
		}
		problem := session.Problem()
		plan, err := session.Plan(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		nominations, err := provisioning.Nominations(problem, plan)
		if err != nil {
			fmt.Println(err)
			return
		}
		next = scheduling.Delta{
			Pods:      schedulingtest.Pods(1, "api", schedulingtest.Requests(schedulingtest.MilliCPU(100))),
			Nominated: map[types.NamespacedName]string{},
		}
		nodes := map[*scheduling.Launch]string{}
		for i := range plan.Launches { // launch.Node is the node that a real cloud would give
			launch := &plan.Launches[i]
			node, err := launch.Node("i-0123", &launch.Options[0], problem.CatalogOf(launch.NodePool))
			if err != nil {
				fmt.Println(err)
				return
			}
			delete(node.Labels, scheduling.InitializedLabel) // it is on its way
			next.Nodes, nodes[launch] = append(next.Nodes, node), node.Name
		}
		for _, n := range nominations {
			node := n.Node
			if n.Launch != nil {
				node = nodes[n.Launch]
			}
			next.Nominated[n.Pod] = node
			fmt.Printf("wave %d: %s to %s\n", n.Wave, n.Pod.Name, node)
		}
		fmt.Println(plan.Summary.Nodes, "bought")
	}
	// Output:
	// wave 1: web-1 to i-0123
	// wave 1: web-2 to i-0123
	// 1 bought
	// wave 1: web-1 to i-0123
	// wave 1: web-2 to i-0123
	// wave 1: api-1 to i-0123
	// 0 bought
}
