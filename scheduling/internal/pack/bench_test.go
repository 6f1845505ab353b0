package pack

import (
	"fmt"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct {
		name string
		p    *model.Problem
	}{
		{"thirty/pods=50", thirtySizes(50)},
		{"thirty/pods=5000", thirtySizes(5000)},
		{"lognormal/pods=1000/classes=100", logNormal(1000, 100)},
		{"lognormal/pods=10000/classes=300", logNormal(10_000, 300)},
		{"lognormal/pods=100000/classes=1000", logNormal(100_000, 1000)},
		{"mix/pods=2000/options=1200", mix(2000, proportional(400, 3, 1), 3)},
		{"mix/pods=20000/options=1200", mix(20_000, proportional(400, 3, 1), 3)},
		{"mix/pods=20000/options=3600", mix(20_000, proportional(400, 3, 3), 3)},
		{"mix/pods=20000/options=1200+bins=5000", running(mix(20_000, proportional(400, 3, 1), 3), 5000)},
		{"mix/pods=20000/options=1200+limit", scarce(mix(20_000, proportional(400, 3, 1), 3), 8000)},
		{"mix-clouds/pods=20000/options=1215", mix(20_000, clouds(15, 3), 3)},
	} {
		for _, work := range []int64{0, 10_000_000} {
			b.Run(fmt.Sprintf("%s/work=%d", size.name, work), func(b *testing.B) {
				var out Outcome
				for b.Loop() {
					out = Search(size.p, Params{Work: work})
				}
				cost := size.p.Cost(out.Solution.Nodes)
				b.ReportMetric(float64(cost)/float64(resourceBound(size.p)), "cost/bound")
				b.ReportMetric(float64(model.Count(out.Solution.Nodes)), "nodes")
			})
		}
	}
}
