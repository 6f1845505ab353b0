package oracle_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Ask the real kube-scheduler about a plan, and about one that somebody got wrong.
func ExampleCheck() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	problem := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods:      st.Pods(2, "web", st.Requests(st.MilliCPU(1500), st.GiB(2))),
	}
	plan, err := provisioning.Planner{}.Plan(ctx, problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	scheduler, err := oracle.NewScheduler(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}

	found, err := oracle.Check(ctx, scheduler, &problem, plan, oracle.Config{})
	fmt.Println(len(plan.Launches), "nodes,", len(found), "disagreements,", err)

	// One machine for both will not do.
	plan.Launches = plan.Launches[:1]
	plan.Launches[0].Pods = []string{"default/web-1", "default/web-2"}
	found, err = oracle.Check(ctx, scheduler, &problem, plan, oracle.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range found {
		fmt.Println(d)
	}
	// Output:
	// 2 nodes, 0 disagreements, <nil>
	// pod default/web-2 is planned onto node default-1 (small spot in zone-a), but kube-scheduler refuses it: NodeResourcesFit: Insufficient cpu
}

// Drive the filters of kube-scheduler by hand.
func ExampleScheduler() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scheduler, err := oracle.NewScheduler(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	node := st.Node("node-0", st.Allocatable(st.Cores(2), st.GiB(4)), st.Taint("example.com/gpu", "", corev1.TaintEffectNoSchedule))
	if err := scheduler.AddNode(node); err != nil {
		fmt.Println(err)
		return
	}
	for _, pod := range []*corev1.Pod{
		st.Pod("web", st.Requests(st.Cores(1))),
		st.Pod("train", st.Requests(st.Cores(1)), st.TolerateKey("example.com/gpu", "")),
	} {
		refusal, err := scheduler.Admit(ctx, pod, "node-0")
		switch {
		case err != nil:
			fmt.Println(err)
		case refusal != nil:
			fmt.Println(pod.Name, "is refused by", refusal.Plugin)
		default:
			fmt.Println(pod.Name, "may run")
		}
	}
	// Output:
	// web is refused by TaintToleration
	// train may run
}
