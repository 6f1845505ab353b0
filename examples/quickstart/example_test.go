package quickstart_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Plan the machines for the shop, and have the plan checked by code that shares
// nothing with the solver.
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
		fmt.Println("pool", pool.Name, "buys machines:", pool.Nodes > 0)
	}
	fmt.Println("cheaper than one dollar per hour:", plan.Summary.PricePerHour.USD() < 1)
	// Output:
	// 55 of 55 pods placed
	// pool general buys machines: true
	// pool gpu buys machines: true
	// cheaper than one dollar per hour: true
}

// Read the manifests, without planning.
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
	// 55 pods, 2 daemon sets, 2 node pools, 0 warnings
	// shop/search-0 is part of shop/search
}
