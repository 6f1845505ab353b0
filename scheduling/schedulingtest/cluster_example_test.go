package schedulingtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Once the steps of a plan are done, planning again finds nothing more to save.
func ExampleApply() {
	cluster := st.Cluster(1, st.ClusterOptions{Nodes: 5, Removed: 0.5})
	plan, err := disruption.Planner{}.Plan(context.Background(), cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	after := st.Apply(cluster, time.Hour, plan.Steps...)
	again, err := disruption.Planner{}.Plan(context.Background(), after)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Summary.PricePerHourBefore < plan.Summary.PricePerHourBefore, len(again.Steps))
	// Output:
	// true 0
}
