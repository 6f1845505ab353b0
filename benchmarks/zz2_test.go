package benchmarks

import (
	"fmt"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func nodesOf(tb testing.TB, nodes int, free bool) scheduling.Problem {
	p := scheduling.Problem{
		Pods:      schedulingtest.Workloads(100, 40, seed),
		NodePools: []*scheduling.NodePool{usual("default")},
		Catalog:   catalog(tb),
	}
	t, _ := p.Catalog.Get("m6i.4xlarge")
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		p.Nodes = append(p.Nodes, schedulingtest.Node(name, schedulingtest.OfType(t, t.Offerings[i%len(t.Offerings)]), schedulingtest.OfPool("default")))
		cpu := int64(780)
		if free && i%7 == 0 {
			cpu = int64(700 + i%50)
		}
		p.Running = append(p.Running, schedulingtest.Pods(20, name+"-pod", schedulingtest.Requests(schedulingtest.MilliCPU(cpu), schedulingtest.MiB(2_500)), schedulingtest.OnNode(name))...)
	}
	return p
}

func BenchmarkNodes(b *testing.B) {
	for _, free := range []bool{false, true} {
		b.Run(fmt.Sprint("free=", free), func(b *testing.B) {
			p := nodesOf(b, 5000, free)
			var plan *scheduling.Plan
			for b.Loop() {
				plan, _ = scheduling.Solver{Effort: 1}.Solve(b.Context(), p)
			}
			s := plan.Summary
			b.ReportMetric(100*s.Gap, "gap-%")
			b.ReportMetric(s.PricePerHour.USD(), "USD/h")
		})
	}
}
