package speed

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
)

// Entrant is a planner and how often it solves.
type Entrant struct {
	peer.Peer
	Options peer.Options
}

// Measure lets all solve the instance. The median of the runs of each counts.
func Measure(ctx context.Context, in corpus.Instance, entrants []Entrant) ([]peer.Result, error) {
	var out []peer.Result
	for _, e := range entrants {
		e.Options.Median = true
		r, _, err := peer.Measure(ctx, e.Peer, in.Name, in.Problem, e.Options)
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Header is the head of the table. The last columns say how many times as much the
// standard takes.
func Header(standard string) string {
	return table.Head("pods:", "planner", "placed:", "nodes:", "$/h:", "time:", "CPU:", "allocated:", standard+"'s time:", "CPU:", "allocated:", "$/h:")
}

// Write writes the lines of one instance. Prices are compared where as many pods are
// placed.
func Write(w io.Writer, results []peer.Result, standard string) error {
	var b strings.Builder
	s, found := find(results, standard)
	for _, r := range results {
		cells := []any{
			r.Pods, r.Peer, r.Placed, r.Nodes, fmt.Sprintf("%.3f", r.Price.USD()), table.Duration(r.Elapsed), table.Duration(r.CPU), table.Megabytes(r.Allocated),
		}
		switch {
		case !found:
			cells = append(cells, "–", "–", "–", "–")
		case r.Peer == standard:
			cells = append(cells, "1 ×", "1 ×", "1 ×", "1 ×")
		default:
			price := 0.0
			if r.Placed == s.Placed {
				price = table.Quotient(s.Price.USD(), r.Price.USD())
			}
			cells = append(cells, table.Number(Ratio(s.Elapsed, r.Elapsed), 0, " ×"), table.Number(Ratio(s.CPU, r.CPU), 0, " ×"),
				table.Number(table.Quotient(float64(s.Allocated), float64(r.Allocated)), 1, " ×"), table.Number(price, 3, " ×"))
		}
		b.WriteString(table.Line(cells...))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func find(results []peer.Result, name string) (peer.Result, bool) {
	for _, r := range results {
		if r.Peer == name {
			return r, true
		}
	}
	return peer.Result{}, false
}

// Ratio is a ÷ b; 0 where b is not known.
func Ratio(a, b time.Duration) float64 { return table.Quotient(a.Seconds(), b.Seconds()) }
