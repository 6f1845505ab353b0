package benchmarks

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// BenchmarkConsolidate plans the consolidation of clusters that have lost pods, and of one as many users have them. The
// largest has about 100,000 pods left on 5,000 nodes.
func BenchmarkConsolidate(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 5_000} {
		for _, e := range []string{"fast", "default"} {
			b.Run(fmt.Sprintf("nodes=%d/effort=%s", nodes, e), func(b *testing.B) {
				consolidate(b, disruption.Planner{Policy: scheduling.Policy{Effort: efforts()[e]}}, worn(nodes, false))
			})
		}
	}
	b.Run("nodes=1000/free/effort=default", func(b *testing.B) {
		consolidate(b, disruption.Planner{Policy: scheduling.Policy{Placement: scheduling.PlacementFree}}, worn(1_000, false))
	})
	b.Run("nodes=300/used/effort=default", func(b *testing.B) {
		catalog, err := mix.EC2()
		require.NoError(b, err)
		consolidate(b, disruption.Planner{}, st.UsedCluster(1, 300, catalog))
	})
	b.Run("nodes=1000/ties/effort=default", func(b *testing.B) {
		consolidate(b, disruption.Planner{}, worn(1_000, true))
	})
}

// worn is a cluster of so many nodes with about twenty pods left on each, out of fifty.
func worn(nodes int, ties bool) disruption.Cluster {
	o := st.ClusterOptions{Nodes: nodes, PodsPerNode: 50, MaxCPU: 32, Removed: 0.6, Spread: ties, Apart: ties, PDBs: ties}
	if ties {
		o.DaemonSets = 2
	}
	return st.Cluster(1, o)
}

// consolidate plans again and again. The plan is judged once, outside the timer. Before
// that the time to the first step and the highest use of the heap are measured.
func consolidate(b *testing.B, planner disruption.Planner, c disruption.Cluster) {
	b.Helper()
	first := firstStep(b, planner, c)
	runtime.GC() // the garbage of building the cluster is not the planner's
	done, peak := make(chan struct{}), make(chan uint64)
	go func() { peak <- watch(done) }()
	var plan *disruption.ConsolidationPlan
	b.ReportAllocs()
	cpu := cputime.Used()
	for b.Loop() {
		var err error
		if plan, err = planner.Plan(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	cpu = (cputime.Used() - cpu) / time.Duration(b.N)
	close(done)
	b.ReportMetric(float64(<-peak), "peak-B")
	if err := (verify.StepsChecker{Planner: planner}).Steps(c, plan); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(cpu.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(float64(first.Nanoseconds()), "first-ns")
	s := plan.Summary
	b.ReportMetric(float64(len(c.Running)), "pods")
	b.ReportMetric(float64(s.PodsMoved), "moved")
	b.ReportMetric(float64(len(plan.Steps)), "steps")
	b.ReportMetric(float64(s.NodesAfter), "nodes")
	b.ReportMetric(s.PricePerHourBefore.USD(), "USD/h-before")
	b.ReportMetric(s.PricePerHourAfter.USD(), "USD/h")
	b.ReportMetric(100*s.Gap, "gap-%")
}

// firstStep is how long the planner takes until its first step is there.
func firstStep(b *testing.B, planner disruption.Planner, c disruption.Cluster) time.Duration {
	b.Helper()
	start := time.Now()
	for _, err := range planner.Steps(b.Context(), c) {
		if err != nil {
			b.Fatal(err)
		}
		break
	}
	return time.Since(start)
}

// watch returns the most bytes that objects on the heap took until done was closed: with objects that are not collected
// yet, and with those that were there before.
func watch(done <-chan struct{}) uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var highest uint64
	for {
		metrics.Read(samples)
		highest = max(highest, samples[0].Value.Uint64())
		select {
		case <-done:
			return highest
		case <-tick.C:
		}
	}
}

// The clusters are of the size that the benchmarks' names say, and half-empty.
func TestWorn(t *testing.T) {
	for _, ties := range []bool{false, true} {
		c := worn(100, ties)
		require.NoError(t, provisioning.Validate(&c.Problem))
		assert.InDelta(t, 100, len(c.Nodes), 50)
		pods := 0
		for _, pod := range c.Running {
			if len(pod.OwnerReferences) == 0 || pod.OwnerReferences[0].Kind != "DaemonSet" {
				pods++
			}
		}
		assert.InDelta(t, 20*100, pods, 200)
		assert.Equal(t, ties, len(c.PodDisruptionBudgets) > 0)
	}
}
