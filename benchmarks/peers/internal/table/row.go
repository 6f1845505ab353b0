package table

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Row is a result beside what it is compared with.
type Row struct {
	peer.Result
	// OverBound is price ÷ the best bound that any planner proves for these pods; 0
	// where there is none.
	OverBound float64
	// Cost and Time are price and elapsed time ÷ those of the reference; 0 where the
	// reference is missing, placed other pods or costs nothing.
	Cost, Time float64
}

// Compare puts the results of one instance beside that of the reference.
func Compare(results []peer.Result, reference string) []Row {
	rows := make([]Row, 0, len(results))
	for _, r := range results {
		row := Row{Result: r}
		var bound offerings.Price
		for _, other := range results {
			if other.Instance != r.Instance {
				continue
			}
			// A bound holds for the pods that its planner placed, so for all.
			if r.Placed == r.Pods || other.Peer == r.Peer {
				bound = max(bound, other.Bound)
			}
			if other.Peer != reference {
				continue
			}
			if other.Price > 0 && other.Placed == r.Placed {
				row.Cost = r.Price.USD() / other.Price.USD()
			}
			if other.Elapsed > 0 {
				row.Time = r.Elapsed.Seconds() / other.Elapsed.Seconds()
			}
		}
		if bound > 0 {
			row.OverBound = r.Price.USD() / bound.USD()
		}
		rows = append(rows, row)
	}
	return rows
}

// Losses say where another planner placed more pods than the reference, or as many for
// less. ours tells the reference's own kin, which may do better.
func Losses(rows []Row, reference string, ours func(name string) bool) []string {
	var out []string
	for _, a := range rows {
		if a.Peer != reference {
			continue
		}
		for _, b := range rows {
			if b.Instance != a.Instance || ours(b.Peer) {
				continue
			}
			switch {
			case b.Placed > a.Placed:
				out = append(out, fmt.Sprintf("%s: %s places %d pods, %s %d", a.Instance, b.Peer, b.Placed, a.Peer, a.Placed))
			case b.Placed == a.Placed && b.Price < a.Price:
				out = append(out, fmt.Sprintf("%s: %s costs %s, %s %s", a.Instance, b.Peer, b.Price, a.Peer, a.Price))
			}
		}
	}
	return out
}
