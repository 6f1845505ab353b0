package scheduling_test

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Where each pod goes: onto a machine that is bought, or onto a node that is there.
func ExamplePlan_Placements() {
	plan := scheduling.Plan{
		Launches: []scheduling.Launch{{Name: "default-1", Pods: []string{"shop/web-1", "shop/web-2"}}},
		Existing: []scheduling.Assignment{{Node: "node-a", Pods: []string{"shop/db"}}},
	}
	for pod, at := range plan.Placements() {
		fmt.Println(pod.Name, "goes onto", at.Name(), "which is bought:", at.Launch != nil)
	}
	// Output:
	// web-1 goes onto default-1 which is bought: true
	// web-2 goes onto default-1 which is bought: true
	// db goes onto node-a which is bought: false
}
