package disruption_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// exampleCatalog sells machines with 2 and 4 CPUs.
func exampleCatalog() *instancetypes.Catalog {
	sold := func(name, cpu, price string) *instancetypes.InstanceType {
		return &instancetypes.InstanceType{
			Name: name,
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
			},
			Offerings: []offerings.Offering{{Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice(price)}},
		}
	}
	catalog, err := instancetypes.NewCatalog(sold("m.large", "2", "0.10"), sold("m.xlarge", "4", "0.20"))
	if err != nil {
		panic(err)
	}
	return catalog
}

// exampleNode is a node of the pool default that has run for two days.
func exampleNode(catalog *instancetypes.Catalog, name, instanceType string, now time.Time) *corev1.Node {
	launch := scheduling.Launch{Name: name, NodePool: "default"}
	node, err := launch.Node(name, &scheduling.LaunchOption{InstanceType: instanceType, Zone: "a", CapacityType: offerings.OnDemand}, catalog)
	if err != nil {
		panic(err)
	}
	node.CreationTimestamp = metav1.NewTime(now.Add(-48 * time.Hour))
	return node
}

// examplePod runs on a node.
func examplePod(name, node, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func exampleCluster(now time.Time) disruption.Cluster {
	catalog := exampleCatalog()
	pool := &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "50%"}}
	careful := examplePod("db-0", "node-3", "1800m")
	careful.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	return disruption.Cluster{Problem: scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool},
		Catalog:   catalog,
		Nodes: []*corev1.Node{
			exampleNode(catalog, "node-1", "m.xlarge", now), exampleNode(catalog, "node-2", "m.large", now), exampleNode(catalog, "node-3", "m.large", now),
		},
		Running: []*corev1.Pod{examplePod("web-0", "node-1", "1500m"), careful},
		Now:     now,
	}}
}

// Nodes that are empty go, nodes that are too large are replaced, and nodes that stay say
// why.
func ExamplePlanner_Plan() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cluster := exampleCluster(now)
	cluster.Running = append(cluster.Running, examplePod("web-1", "node-1", "400m"))
	cluster.Nodes = append(cluster.Nodes, exampleNode(cluster.Catalog, "node-4", "m.xlarge", now))
	plan, err := disruption.Planner{Reasons: []disruption.Reason{disruption.Empty}}.Plan(context.Background(), cluster)
	if err != nil {
		panic(err)
	}
	for _, step := range plan.Steps {
		fmt.Println(step.Reason, step.Drain, "saves", step.SavingPerHour)
	}
	for _, v := range plan.Nodes {
		if v.Decision == disruption.Keep {
			fmt.Println(v.Node, "stays:", v.Reasons[0].Detail)
		}
	}
	fmt.Println(plan.Summary.PricePerHourBefore, "->", plan.Summary.PricePerHourAfter)
	// Output:
	// empty [node-2 node-4] saves 0.3
	// node-1 stays: nodes are not disrupted for the reason "underutilized"
	// node-3 stays: nodes are not disrupted for the reason "underutilized"
	// 0.6 -> 0.3
}

// Steps come as they are found. Each says where the pods go that it moves.
func ExamplePlanner_Steps() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	planner := disruption.Planner{Now: now}
	for step, err := range planner.Steps(context.Background(), exampleCluster(now)) {
		if err != nil {
			panic(err)
		}
		fmt.Println(step.Reason, step.Drain, "saves", step.SavingPerHour)
		for _, launch := range step.Launches {
			fmt.Println("  launch", launch.Options[0].InstanceType)
		}
		for _, e := range step.Evictions {
			fmt.Printf("  wave %d: %s from %s\n", e.Wave, e.Pod, e.From)
		}
	}
	// Output:
	// empty [node-2] saves 0.1
	// underutilized [node-1] saves 0.1
	//   launch m.large
	//   wave 1: shop/web-0 from node-1
}

// Pods may be of different worth.
func ExamplePodDisruptionCost() {
	plain, dear := &corev1.Pod{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.PodDeletionCost: "268435456"}}}
	fmt.Println(disruption.PodDisruptionCost(plain), disruption.PodDisruptionCost(dear))
	// Output: 1 3
}
