package week

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/report"
)

// Table has a line for each contender, with averages over its seeds. Waits are those of all seeds together.
func Table(results []Result) string {
	var b strings.Builder
	b.WriteString(report.Head("autoscaler", "$:", "above the lower bound:", "evictions:", "killed:", "pods that waited:", "median wait:", "99 %:", "nodes launched:", "interrupted:", "nodes:"))
	for len(results) > 0 {
		n := slices.IndexFunc(results, func(r Result) bool { return r.Name != results[0].Name })
		if n < 0 {
			n = len(results)
		}
		b.WriteString(line(results[:n]))
		results = results[n:]
	}
	return b.String()
}

// line is the averages of one contender.
func line(runs []Result) string {
	var sum Result
	for _, r := range runs {
		sum.Cost, sum.Bound, sum.Nodes = sum.Cost+r.Cost, sum.Bound+r.Bound, sum.Nodes+r.Nodes
		sum.Evictions, sum.Killed = sum.Evictions+r.Evictions, sum.Killed+r.Killed
		sum.Launched, sum.Interruptions = sum.Launched+r.Launched, sum.Interruptions+r.Interruptions
		sum.Waits = append(sum.Waits, r.Waits...)
	}
	slices.Sort(sum.Waits)
	mean := func(n int) int { return int(math.Round(float64(n) / float64(len(runs)))) }
	k := float64(len(runs))
	return report.Line(runs[0].Name, fmt.Sprintf("%.2f", sum.Cost/k), fmt.Sprintf("%.1f %%", 100*(sum.Cost/sum.Bound-1)), mean(sum.Evictions), mean(sum.Killed),
		mean(len(sum.Waits)), minutes(sum.quantile(0.5)), minutes(sum.quantile(0.99)), mean(sum.Launched), mean(sum.Interruptions), fmt.Sprintf("%.1f", sum.Nodes/k))
}

// quantile is the wait that a share of the waits do not exceed.
func (r *Result) quantile(share float64) time.Duration {
	if len(r.Waits) == 0 {
		return 0
	}
	return r.Waits[min(int(share*float64(len(r.Waits))), len(r.Waits)-1)]
}

func minutes(d time.Duration) string { return fmt.Sprintf("%.1f min", d.Minutes()) }
