package speed

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/chart"
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

// Promise is what a planner owes on a machine that nobody else uses.
type Promise struct {
	Planner string
	// Faster is how many times as fast as the standard it is, at least.
	Faster float64
	// Bytes are what it allocates for so many Pods, at most; 0 is no promise.
	Bytes uint64
	Pods  int
}

// Promises are what the library promises for Karpenter's own mix.
func Promises() []Promise {
	return []Promise{
		{Planner: "plimsoll fast", Faster: 200, Bytes: 64e6, Pods: 20_000},
		{Planner: "plimsoll", Faster: 50},
	}
}

// Broken says which promises the results of one instance break. To place fewer pods
// than the standard, or as many for more, breaks one, too.
func Broken(results []peer.Result, standard string, promises []Promise) []string {
	var out []string
	s, found := find(results, standard)
	for _, p := range promises {
		r, ok := find(results, p.Planner)
		if !ok {
			continue
		}
		if p.Bytes > 0 && r.Pods == p.Pods && r.Allocated > p.Bytes {
			out = append(out, fmt.Sprintf("%s: %s allocates %.1f MB, over %.1f MB", r.Instance, r.Peer, float64(r.Allocated)/1e6, float64(p.Bytes)/1e6))
		}
		if !found {
			continue
		}
		if ratio := Ratio(s.Elapsed, r.Elapsed); ratio < p.Faster {
			out = append(out, fmt.Sprintf("%s: %s is %.0f times as fast as %s, under %.0f", r.Instance, r.Peer, ratio, standard, p.Faster))
		}
		switch {
		case r.Placed < s.Placed:
			out = append(out, fmt.Sprintf("%s: %s places %d pods, %s %d", r.Instance, r.Peer, r.Placed, standard, s.Placed))
		case r.Placed == s.Placed && r.Price > s.Price:
			out = append(out, fmt.Sprintf("%s: %s costs %s, %s %s", r.Instance, r.Peer, r.Price, standard, s.Price))
		}
	}
	return out
}
