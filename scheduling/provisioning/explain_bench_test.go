package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// refusals are n pods of some classes, of which the last of each find no place: there
// are three zones, and no two pods of a class may share one; or they ask for more than
// there is.
func refusals(n, classes int) scheduling.Problem {
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog:   ec2.MustCatalog("us-east-1"),
	}
	for i := range classes {
		app := fmt.Sprintf("app-%d", i)
		options := []schedulingtest.PodOption{
			schedulingtest.Label("app", app), schedulingtest.Requests(schedulingtest.MilliCPU(int64(500+i)), schedulingtest.GiB(1)),
		}
		switch i % 4 {
		case 0:
			options = append(options, schedulingtest.Apart("topology.kubernetes.io/zone"))
		case 1:
			options = append(options, schedulingtest.Spread("topology.kubernetes.io/zone", schedulingtest.MinDomains(20)))
		case 2:
			options = append(options, schedulingtest.Near("topology.kubernetes.io/zone", schedulingtest.Of("app", "nobody")))
		default:
			options = append(options, schedulingtest.Select("topology.kubernetes.io/zone", "nowhere"))
		}
		p.Pods = append(p.Pods, schedulingtest.Pods(n/classes, app, options...)...)
	}
	return p
}

// BenchmarkRefusals plans 1,000 pods of 100 classes, most of which have no place. A profile shows the share of the
// explanations.
func BenchmarkRefusals(b *testing.B) {
	p := refusals(1_000, 100)
	for b.Loop() {
		if _, err := (provisioning.Planner{Policy: (scheduling.Policy{Effort: scheduling.EffortFast})}).Plan(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}
