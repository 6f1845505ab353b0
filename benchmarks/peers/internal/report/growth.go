package report

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Axis is a number that grows while all other properties of the problem stay.
type Axis struct {
	// Name is the quantity that grows, e.g. pods; the results of an axis have it as their instance.
	Name   string
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
	pool := func(name string) *scheduling.NodePool {
		return schedulingtest.NodePool(name, schedulingtest.Where(m.General...))
	}
	pods := func(n, classes int) scheduling.Problem {
		return scheduling.Problem{Pods: schedulingtest.Workloads(n, classes, seed), NodePools: []*scheduling.NodePool{pool("default")}, Catalog: m.Catalog}
	}
	n := somePods / divisor
	numbers := []int{1_000, 3_000, 10_000, 30_000, 100_000}
	for i := range numbers {
		numbers[i] /= divisor
	}
	return []Axis{
		{Name: "pods", Values: numbers, Problem: func(v int) scheduling.Problem { return pods(v, someClasses) }},
		{Name: "classes", Values: []int{10, 30, 100, 300, 1_000, 3_000}, Problem: func(v int) scheduling.Problem { return pods(n, v) }},
		{Name: "types", Values: []int{10, 30, 100, 300, m.Types()}, Problem: func(v int) scheduling.Problem {
			p := pods(n, someClasses)
			p.Catalog = m.Some(v)
			return p
		}},
		{Name: "pools", Values: []int{1, 3, 10, 30, 100}, Problem: func(v int) scheduling.Problem { // each with a DaemonSet of its own
			p := pods(n, someClasses)
			p.NodePools = nil
			for i := range v {
				name := fmt.Sprintf("team-%03d", i)
				p.NodePools = append(p.NodePools, pool(name))
				p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet("agent-"+name,
					schedulingtest.Requests(schedulingtest.MilliCPU(int64(50+i)), schedulingtest.MiB(100)),
					schedulingtest.Select(scheduling.NodePoolLabel, name)))
			}
			return p
		}},
	}
}

// Sample is a result at one value of an axis.
type Sample struct {
	peer.Result
	Value int
}

// perPod is the time for each pod, in microseconds.
func (s Sample) perPod() float64 { return 1000 * milliseconds(s.Elapsed) / float64(max(s.Pods, 1)) }

// Growth is the table of samples: a line for each value of an axis, with three columns for each planner. The samples of
// a value must follow each other, with the planners in one order.
func Growth(samples []Sample) string {
	columns := []string{"number of", ":"}
	var lines [][]any
	for i, s := range samples {
		if i == 0 || s.Instance != samples[i-1].Instance || s.Value != samples[i-1].Value {
			lines = append(lines, []any{s.Instance, s.Value})
		}
		if len(lines) == 1 {
			columns = append(columns, s.Peer+": CPU:", "per pod:", "gap:")
		}
		last := &lines[len(lines)-1]
		*last = append(*last, Duration(s.CPU), fmt.Sprintf("%.3g µs", 1000*milliseconds(s.CPU)/float64(max(s.Pods, 1))), percent(s.Gap))
	}
	text := Head(columns...)
	for _, line := range lines {
		text += Line(line...)
	}
	return text
}

// Rising says where the time per pod rises with the number of pods, clocks aside.
func Rising(samples []Sample) []string {
	const tolerance = 1.1 // by how much clocks differ from run to run
	var out []string
	last := map[string]Sample{}
	for _, s := range samples {
		if s.Instance != "pods" {
			continue
		}
		if before, ok := last[s.Peer]; ok && s.perPod() > tolerance*before.perPod() {
			out = append(out, fmt.Sprintf("%s: %.3g µs per pod at %d pods, %.3g µs at %d", s.Peer, before.perPod(), before.Pods, s.perPod(), s.Pods))
		}
		last[s.Peer] = s
	}
	return out
}
