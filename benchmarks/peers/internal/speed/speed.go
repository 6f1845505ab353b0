package speed

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
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
	return fmt.Sprintf("| pods | planner | placed | nodes | $/h | time | CPU | allocated | %[1]s's time | CPU | allocated | $/h |\n", standard) +
		"|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
}

// Write writes the lines of one instance. Prices are compared where as many pods are
// placed.
func Write(w io.Writer, results []peer.Result, standard string) error {
	var b strings.Builder
	s, found := find(results, standard)
	for _, r := range results {
		fmt.Fprintf(&b, "| %d | %s | %d | %d | %.3f | %s | %s | %.1f MB |", r.Pods, r.Peer, r.Placed, r.Nodes, r.Price.USD(), duration(r.Elapsed), duration(r.CPU), float64(r.Allocated)/1e6)
		switch {
		case !found:
			b.WriteString(" – | – | – | – |\n")
		case r.Peer == standard:
			b.WriteString(" 1 × | 1 × | 1 × | 1 × |\n")
		default:
			price := 0.0
			if r.Placed == s.Placed {
				price = quotient(s.Price.USD(), r.Price.USD())
			}
			fmt.Fprintf(&b, " %s | %s | %s | %s |\n", times(Ratio(s.Elapsed, r.Elapsed), 0), times(Ratio(s.CPU, r.CPU), 0),
				times(quotient(float64(s.Allocated), float64(r.Allocated)), 1), times(price, 3))
		}
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
func Ratio(a, b time.Duration) float64 { return quotient(a.Seconds(), b.Seconds()) }

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func times(x float64, digits int) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f ×", digits, x)
}

// duration shows three figures.
func duration(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
}
