package growth

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

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
