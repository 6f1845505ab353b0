package growth

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
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
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

// Axis is a number that grows while all others stay.
type Axis struct {
	// Name says of what it is the number.
	Name string
	// About says what stays.
	About  string
	Values []int
	// Problem is the one for a value.
	Problem func(value int) scheduling.Problem
}

// Numbers that stay while another one grows.
const (
	somePods    = 10_000
	someClasses = 300
)

// Axes are all, in a market: the pods are those of services of different sizes, the few
// largest of which have most of the pods, and the pools buy spot and on demand. All
// numbers of pods are divided by the divisor, so that tests are quick.
func Axes(m corpus.Market, seed uint64, divisor int) []Axis {
	pods := func(n, classes int) scheduling.Problem {
		return scheduling.Problem{
			Pods:      schedulingtest.Workloads(n, classes, seed),
			NodePools: []*scheduling.NodePool{pool(m, "default")},
			Catalog:   m.Catalog,
		}
	}
	n := somePods / divisor
	axes := []Axis{
		{
			Name: "pods", About: fmt.Sprintf("the same %d classes in one pool", someClasses),
			Values:  []int{1_000, 3_000, 10_000, 30_000, 100_000},
			Problem: func(v int) scheduling.Problem { return pods(v, someClasses) },
		},
		{
			Name: "classes", About: fmt.Sprintf("%d pods in one pool", n),
			Values:  []int{10, 30, 100, 300, 1_000, 3_000},
			Problem: func(v int) scheduling.Problem { return pods(n, v) },
		},
		{
			Name: "types", About: fmt.Sprintf("%d pods of %d classes in one pool", n, someClasses),
			Values: []int{10, 30, 100, 300, m.Types()},
			Problem: func(v int) scheduling.Problem {
				p := pods(n, someClasses)
				p.Catalog = m.Some(v)
				return p
			},
		},
		{
			Name: "pools", About: fmt.Sprintf("%d pods of %d classes, which may use any pool; each has a DaemonSet of its own", n, someClasses),
			Values: []int{1, 3, 10, 30, 100},
			Problem: func(v int) scheduling.Problem {
				p := pods(n, someClasses)
				p.NodePools = nil
				for i := range v {
					name := fmt.Sprintf("team-%03d", i)
					p.NodePools = append(p.NodePools, pool(m, name))
					p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet("agent-"+name,
						schedulingtest.Requests(schedulingtest.MilliCPU(int64(50+i)), schedulingtest.MiB(100)),
						schedulingtest.Select(scheduling.NodePoolLabel, name)))
				}
				return p
			},
		},
	}
	for i := range axes[0].Values {
		axes[0].Values[i] /= divisor
	}
	return axes
}

func pool(m corpus.Market, name string) *scheduling.NodePool {
	return schedulingtest.NodePool(name, schedulingtest.Where(m.General...))
}
