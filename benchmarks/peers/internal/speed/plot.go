package speed

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/chart"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Plots are time and memory against pods, one curve for each planner.
func Plots(results []peer.Result) []chart.Lines {
	time := chart.Lines{Name: "time", Title: "time on Karpenter's own mix", X: "pods", Y: "seconds"}
	memory := chart.Lines{Name: "memory", Title: "memory on Karpenter's own mix", X: "pods", Y: "MB allocated"}
	var names []string
	for _, r := range results {
		i := slices.Index(names, r.Peer)
		if i < 0 {
			i = len(names)
			names = append(names, r.Peer)
			time.Series = append(time.Series, chart.Series{Name: r.Peer})
			memory.Series = append(memory.Series, chart.Series{Name: r.Peer})
		}
		time.Series[i].Points = append(time.Series[i].Points, chart.Point{X: float64(r.Pods), Y: r.Elapsed.Seconds()})
		memory.Series[i].Points = append(memory.Series[i].Points, chart.Point{X: float64(r.Pods), Y: float64(r.Allocated) / 1e6})
	}
	return []chart.Lines{time, memory}
}
