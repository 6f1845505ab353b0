package oracle_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Plan launches, and have kube-scheduler bind the pods to the planned nodes.
func Example_plugin() {
	problem := scheduling.Problem{
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2))),
			st.Type("large", st.Capacity(st.Cores(8), st.GiB(32)), st.Spot("zone-a", st.Cents(8)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods: append(st.Pods(2, "web", st.Requests(st.Cores(1), st.GiB(1))),
			st.Pod("batch", st.Requests(st.Cores(8), st.GiB(1)))),
	}
	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}

	// In a cluster, a provider launches the nodes. Here they are simulated, and join
	// a fake API server after the pods, each with the label of its launch.
	cluster, err := oracle.CarryOut(&problem, plan, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range cluster.Nodes {
		cluster.Nodes[i].Late = true
		cluster.Nodes[i].Labels[kubescheduler.LaunchLabel] = cluster.Nodes[i].Launch.Name
	}

	source := &kubescheduler.Plan{}
	source.Set(plan, time.Now())
	registry := frameworkruntime.Registry{kubescheduler.Name: kubescheduler.Factory(kubescheduler.Options{
		Args: kubescheduler.Args{Mode: kubescheduler.Pinned}, Source: source,
	})}
	outcome, err := oracle.Run(context.Background(), cluster, registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, pod := range slices.Sorted(maps.Keys(outcome.Bound)) {
		fmt.Println(pod, "runs on", outcome.Bound[pod])
	}
	// Output:
	// default/batch runs on default-2
	// default/web-1 runs on default-1
	// default/web-2 runs on default-1
}
