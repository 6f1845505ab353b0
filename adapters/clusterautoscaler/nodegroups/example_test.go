package nodegroups_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/nodegroups"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// ec2Node is the node that a group of an EC2 type adds.
func ec2Node(instanceType, zone, cores, memory string) *corev1.Node {
	node := &corev1.Node{}
	node.Labels = map[string]string{
		corev1.LabelInstanceTypeStable: instanceType, corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: "us-east-1",
		corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cores), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("58"),
	}
	return node
}

func ExamplePlanner_ScaleUp() {
	prices, err := expander.NewPrices(nil, nil) // the embedded catalogs
	if err != nil {
		log.Fatal(err)
	}
	cluster := nodegroups.Cluster{Groups: []nodegroups.Group{
		{ID: "large-a", Max: 10, Template: ec2Node("m5.4xlarge", "us-east-1a", "15890m", "58Gi")},
		{ID: "small-a", Max: 10, Template: ec2Node("m5.xlarge", "us-east-1a", "3920m", "14Gi")},
		{ID: "small-b", Max: 10, Template: ec2Node("m5.xlarge", "us-east-1b", "3920m", "14Gi")},
	}}
	cluster.Problem.Now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	cluster.Problem.Pods = st.Pods(10, "web", st.Requests(st.MilliCPU(3500), st.GiB(12)))

	planner := nodegroups.Planner{Prices: prices, Balance: true}
	plan, err := planner.ScaleUp(context.Background(), cluster)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range plan.Resizes {
		fmt.Printf("%s: %d → %d (%s)\n", r.Group, r.From, r.To, r.Reason)
	}
	fmt.Printf("$%v per hour, %d pods without a place\n", plan.PricePerHour, len(plan.Unschedulable))
	// Output:
	// large-a: 0 → 2 (adds 2 nodes for 8 pods)
	// small-a: 0 → 1 (adds 1 node for 1 pod; balanced with similar groups)
	// small-b: 0 → 1 (adds 1 node for 1 pod; balanced with similar groups)
	// $1.92 per hour, 0 pods without a place
}

func ExamplePlanner_ScaleDown() {
	prices, err := expander.NewPrices(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	cluster := nodegroups.Cluster{
		Groups:  []nodegroups.Group{{ID: "small-a", Min: 1, Max: 10, Target: 3, Template: ec2Node("m5.xlarge", "us-east-1a", "3920m", "14Gi")}},
		GroupOf: map[string]string{},
	}
	cluster.Problem.Now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for i, cores := range []int64{500, 1000, 2500} {
		node := ec2Node("m5.xlarge", "us-east-1a", "3920m", "14Gi")
		node.Name = fmt.Sprintf("node-%d", i)
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		cluster.GroupOf[node.Name] = "small-a"
		cluster.Problem.Nodes = append(cluster.Problem.Nodes, node)
		cluster.Problem.Running = append(cluster.Problem.Running, st.Pod(fmt.Sprintf("web-%d", i), st.OwnedBy("ReplicaSet", "web"), st.Requests(st.MilliCPU(cores)), st.OnNode(node.Name)))
	}
	plan, err := nodegroups.Planner{Prices: prices}.ScaleDown(context.Background(), cluster)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range plan.Removals {
		fmt.Printf("remove %s of %s: utilization %.2f\n", r.Node, r.Group, r.Utilization)
	}
	for _, u := range plan.Unremovable {
		fmt.Printf("keep %s: %s, %s\n", u.Node, u.Reason, u.Detail)
	}
	fmt.Printf("saves $%v per hour\n", plan.SavingPerHour)
	// Output:
	// remove node-0 of small-a: utilization 0.13
	// keep node-1: NotUnneededOtherReason, pods of drained nodes are rescheduled to it
	// keep node-2: NotUnderutilized, utilization 0.64 is not below 0.50
	// saves $0.192 per hour
}
