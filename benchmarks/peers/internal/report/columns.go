package report

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Columns that several tables share.
var (
	planner   = Column{"planner", func(r peer.Result) string { return r.Peer }}
	nodes     = Column{"nodes:", func(r peer.Result) string { return fmt.Sprint(r.Nodes) }}
	dollars   = Column{"$/h:", func(r peer.Result) string { return fmt.Sprintf("%.3f", r.Price.USD()) }}
	cpu       = Column{"CPU:", func(r peer.Result) string { return Duration(r.CPU) }}
	allocated = Column{"allocated:", func(r peer.Result) string { return Megabytes(r.Allocated) }}
	elapsed   = Column{"time:", func(r peer.Result) string {
		if r.Late {
			return "stopped at " + Duration(r.Elapsed)
		}
		return Duration(r.Elapsed)
	}}
	placed = Column{"placed:", func(r peer.Result) string {
		if r.Placed != r.Pods {
			return fmt.Sprintf("%d of %d", r.Placed, r.Pods)
		}
		return fmt.Sprint(r.Placed)
	}}
)

// Comparison are the columns of instances: price of each planner's decision, its gap above
// the bound that it proves, time and memory, and their ratio to those of the planner named
// standard.
func Comparison(results []peer.Result, standard string) []Column {
	instance := Column{"instance", func(r peer.Result) string { return r.Instance }}
	above := Column{"gap:", func(r peer.Result) string {
		switch gap := Gap(r); {
		case r.Bound <= 0:
			return "–"
		case differ(gap, r.Gap):
			return fmt.Sprintf("%s (says %s)", percent(gap), percent(r.Gap))
		default:
			return percent(gap)
		}
	}}
	cost := Column{"cost ÷ " + standard + ":", func(r peer.Result) string {
		if s, ok := find(results, r.Instance, standard); ok && s.Placed == r.Placed {
			return Number(quotient(r.Price.USD(), s.Price.USD()), 4, "")
		}
		return "–"
	}}
	time := Column{"time ÷ " + standard + ":", func(r peer.Result) string {
		s, _ := find(results, r.Instance, standard)
		return Number(quotient(r.Elapsed.Seconds(), s.Elapsed.Seconds()), 2, "")
	}}
	bill := Column{"$/h once bound:", func(r peer.Result) string {
		if r.Realised == 0 {
			return "–"
		}
		return Number(r.Realised.USD(), 3, "")
	}}
	return []Column{instance, planner, placed, nodes, dollars, bill, above, elapsed, cpu, allocated, cost, time}
}

// Speed are the columns of one instance in several sizes. The last ones are the ratios of the
// standard's time, memory and price to the planner's.
func Speed(results []peer.Result, standard string) []Column {
	times := func(head string, digits int, of func(s, r peer.Result) float64) Column {
		return Column{head, func(r peer.Result) string {
			s, found := find(results, r.Instance, standard)
			switch {
			case !found:
				return "–"
			case r.Peer == standard:
				return "1 ×"
			}
			return Number(of(s, r), digits, " ×")
		}}
	}
	pods := Column{"pods:", func(r peer.Result) string { return fmt.Sprint(r.Pods) }}
	return []Column{
		pods, planner, placed, nodes, dollars, elapsed, cpu, allocated,
		times(standard+"'s time:", 0, faster),
		times("CPU:", 0, func(s, r peer.Result) float64 { return quotient(s.CPU.Seconds(), r.CPU.Seconds()) }),
		times("allocated:", 1, func(s, r peer.Result) float64 { return quotient(float64(s.Allocated), float64(r.Allocated)) }),
		times("$/h:", 3, func(s, r peer.Result) float64 {
			if r.Placed != s.Placed {
				return 0
			}
			return quotient(s.Price.USD(), r.Price.USD())
		}),
	}
}

// faster is the ratio of the times of s and r: 2 if r takes half as long.
func faster(s, r peer.Result) float64 { return quotient(s.Elapsed.Seconds(), r.Elapsed.Seconds()) }

func find(results []peer.Result, instance, name string) (peer.Result, bool) {
	i := slices.IndexFunc(results, func(r peer.Result) bool { return r.Instance == instance && r.Peer == name })
	if i < 0 {
		return peer.Result{}, false
	}
	return results[i], true
}

// Slow says which promises of speed on Karpenter's own mix results break: to be so many times
// as fast as the standard, to allocate so little, to place no fewer pods, and as many for no more.
func Slow(results []peer.Result, standard string) []string {
	const (
		bytes, ofPods = 64e6, 20_000 // for plimsoll fast
		fast, usual   = 200, 50      // times as fast
	)
	var out []string
	for _, r := range results {
		least := map[string]float64{"plimsoll fast": fast, "plimsoll": usual}[r.Peer]
		if least == 0 {
			continue
		}
		if r.Peer == "plimsoll fast" && r.Pods == ofPods && r.Allocated > bytes {
			out = append(out, fmt.Sprintf("%s: %s allocates %s, over %s", r.Instance, r.Peer, Megabytes(r.Allocated), Megabytes(bytes)))
		}
		s, found := find(results, r.Instance, standard)
		if !found {
			continue
		}
		if ratio := faster(s, r); ratio < least {
			out = append(out, fmt.Sprintf("%s: %s is %.0f times as fast as %s, under %.0f", r.Instance, r.Peer, ratio, standard, least))
		}
		if beats(s, r) {
			out = append(out, fmt.Sprintf("%s: %s places %d pods for %s, %s %d for %s", r.Instance, r.Peer, r.Placed, r.Price, standard, s.Placed, s.Price))
		}
	}
	return out
}
