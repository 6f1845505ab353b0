package quickstart_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The plan of the shop's nodes, checked by code that is separate from the planner.
func Example() {
	shop, err := manifest.Loader{}.Load(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := shop.SetCatalog(ec2.MustCatalog("us-east-1")); err != nil {
		fmt.Println(err)
		return
	}
	problem := shop.Problem

	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := verify.Plan(problem, plan); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d pods placed\n", plan.Summary.Placed, plan.Summary.Pods)
	for _, pool := range plan.Summary.Pools {
		fmt.Println("NodePool", pool.Name, "launches nodes:", pool.Nodes > 0)
	}
	fmt.Println("cheaper than one dollar per hour:", plan.Summary.PricePerHour.USD() < 1)
	// Output:
	// 70 of 70 pods placed
	// NodePool on-demand launches nodes: true
	// NodePool spot launches nodes: true
	// cheaper than one dollar per hour: true
}

// The manifests, read without a plan.
func Example_manifests() {
	shop, err := manifest.Loader{}.Load(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := shop.Problem
	fmt.Println(len(p.Pods), "pods,", len(p.DaemonSets), "daemon sets,", len(p.NodePools), "node pools,", len(shop.Warnings), "warnings")
	fmt.Println("shop/search-0 is part of", shop.Workload("shop/search-0"))
	// Output:
	// 70 pods, 5 daemon sets, 2 node pools, 0 warnings
	// shop/search-0 is part of shop/search
}
