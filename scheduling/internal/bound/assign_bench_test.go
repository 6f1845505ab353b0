package bound

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// largeMarket takes the seeded catalog for three kinds of pods: some take any machine,
// some want one of three zones, some none that can be interrupted.
func largeMarket(rng *rand.Rand, classes, options int) Market {
	in := market(rng, options, 4)
	m := Market{Dims: in.Dims}
	zone, steady := make([]int, classes), make([]bool, classes)
	for c := range classes {
		m.Classes = append(m.Classes, Class{Size: in.Items[c].Size, Count: in.Items[c].Count})
		zone[c], steady[c] = max(-1, rng.IntN(6)-3), rng.IntN(4) == 0
	}
	for i, o := range in.Options {
		spot := i%2 == 0
		x := Choice{Cap: o.Cap, Price: o.Price, Users: model.NewBits(classes)}
		if spot {
			x.Price /= 3
		}
		for c := range classes {
			if (zone[c] < 0 || zone[c] == i%3) && (!spot || !steady[c]) {
				x.Users.Set(c)
			}
		}
		m.Options = append(m.Options, x)
	}
	return m
}

func BenchmarkAssignment(b *testing.B) {
	for _, tc := range []struct{ classes, options int }{{30, 300}, {300, 300}, {1000, 7000}} {
		m := largeMarket(rand.New(rand.NewPCG(1, uint64(tc.classes))), tc.classes, tc.options)
		start := Resource(m.input())
		for _, work := range []int64{1_000_000 + 5_000*int64(tc.classes), 26_000_000 + 5_000*int64(tc.classes)} {
			b.Run(fmt.Sprintf("classes=%d/options=%d/work=%d", tc.classes, tc.options, work), func(b *testing.B) {
				b.ReportAllocs()
				var r Assigned
				for b.Loop() {
					r = Assignment(m, start.Values, work, nil)
				}
				b.ReportMetric(float64(start.Bound)/1e9, "resource-USD/h")
				b.ReportMetric(float64(r.Bound)/1e9, "USD/h")
			})
		}
	}
}
