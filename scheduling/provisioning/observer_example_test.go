package provisioning_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// An observer writes how a plan comes about into a log.
func ExamplePlanner_observer() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	planner := provisioning.Planner{Observer: func(p scheduling.Progress) {
		log.Info(string(p.Phase), "placed", p.Placed, "price", p.PricePerHour, "bound", p.LowerBoundPerHour)
	}}
	_, err := planner.Plan(context.Background(), scheduling.Problem{
		Pods:      schedulingtest.Pods(3, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(2))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("m7i.xlarge",
			schedulingtest.Capacity(schedulingtest.Cores(4), schedulingtest.GiB(16)),
			schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(20)))),
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// msg=search placed=0 price=0 bound=0
	// msg=improve placed=3 price=0.2 bound=0
	// msg=prove placed=3 price=0.2 bound=0
	// msg=fixes placed=3 price=0.2 bound=0.2
	// msg=done placed=3 price=0.2 bound=0.2
}
