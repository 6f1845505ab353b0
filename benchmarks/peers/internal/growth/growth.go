package growth

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/chart"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
)

// Sample is one result at one value of an axis.
type Sample struct {
	Axis  Axis
	Value int
	peer.Result
}

// Measure lets the planners solve the problem of each value. The median of the repeats
// counts.
func Measure(ctx context.Context, a Axis, planners []peer.Peer, o peer.Options) ([]Sample, error) {
	o.Median = true
	var out []Sample
	for _, v := range a.Values {
		problem := a.Problem(v)
		for _, p := range planners {
			r, _, err := peer.Measure(ctx, p, fmt.Sprintf("%s=%d", a.Name, v), problem, o)
			if err != nil {
				return out, err
			}
			out = append(out, Sample{Axis: a, Value: v, Result: r})
		}
	}
	return out, nil
}

// Header is the head of the table.
func Header() string {
	return table.Head("number of", ":", "planner", "time:", "time per pod:", "CPU:", "allocated:", "nodes:", "gap:")
}

// Write writes the lines of samples.
func Write(w io.Writer, samples []Sample) error {
	var b strings.Builder
	for _, s := range samples {
		b.WriteString(table.Line(s.Axis.Name, s.Value, s.Peer, fmt.Sprintf("%.3g ms", milliseconds(s.Elapsed)),
			fmt.Sprintf("%.3g µs", 1000*milliseconds(s.Elapsed)/float64(max(s.Pods, 1))), fmt.Sprintf("%.3g ms", milliseconds(s.CPU)),
			table.Megabytes(s.Allocated), s.Nodes, fmt.Sprintf("%.2f %%", 100*s.Gap)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// tolerance is by how much clocks differ from run to run.
const tolerance = 1.1

// Rising says where the time per pod rises with the number of pods, clocks aside.
func Rising(samples []Sample) []string {
	var out []string
	last := map[string]Sample{}
	for _, s := range samples {
		if s.Axis.Name != "pods" || s.Pods == 0 {
			continue
		}
		before, ok := last[s.Peer]
		last[s.Peer] = s
		if !ok {
			continue
		}
		then, now := before.Elapsed.Seconds()/float64(before.Pods), s.Elapsed.Seconds()/float64(s.Pods)
		if now > tolerance*then {
			out = append(out, fmt.Sprintf("%s: %.3g µs per pod at %d pods, %.3g µs at %d", s.Peer, 1e6*then, before.Pods, 1e6*now, s.Pods))
		}
	}
	return out
}

// Plots are one plot for each axis, and one of the time per pod.
func Plots(samples []Sample) []chart.Lines {
	perPod := chart.Lines{Name: "per-pod", Title: "time per pod: the same classes, more pods", X: "pods", Y: "µs per pod"}
	var plots []chart.Lines
	for _, s := range samples {
		i := slices.IndexFunc(plots, func(l chart.Lines) bool { return l.Name == "growth-"+s.Axis.Name })
		if i < 0 {
			i = len(plots)
			plots = append(plots, chart.Lines{Name: "growth-" + s.Axis.Name, Title: "time by the number of " + s.Axis.Name, X: s.Axis.Name, Y: "ms"})
		}
		add(&plots[i], s, milliseconds(s.Elapsed))
		if s.Axis.Name == "pods" {
			add(&perPod, s, 1000*milliseconds(s.Elapsed)/float64(max(s.Pods, 1)))
		}
	}
	if len(perPod.Series) > 0 {
		plots = append(plots, perPod)
	}
	return plots
}

// add adds a point to the curve of its planner.
func add(l *chart.Lines, s Sample, y float64) {
	i := slices.IndexFunc(l.Series, func(c chart.Series) bool { return c.Name == s.Peer })
	if i < 0 {
		i = len(l.Series)
		l.Series = append(l.Series, chart.Series{Name: s.Peer})
	}
	l.Series[i].Points = append(l.Series[i].Points, chart.Point{X: float64(s.Value), Y: y})
}
