package benchmarks

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// BenchmarkWorkloads grows the number of pods while classes and types stay.
func BenchmarkWorkloads(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d/classes=300", pods), func(b *testing.B) {
			measure(b, scheduling.Policy{}, workloads(b, pods))
		})
	}
}

// BenchmarkAnything lets the pods have every type there is.
func BenchmarkAnything(b *testing.B) {
	b.Run("pods=10000/classes=300", func(b *testing.B) {
		measure(b, scheduling.Policy{}, anything(b, 10_000))
	})
}

// BenchmarkMixedSizes is the corpus that other solvers are compared on.
func BenchmarkMixedSizes(b *testing.B) {
	for _, capacityType := range []string{"on-demand", "spot"} {
		b.Run("pods=5000/capacity-type="+capacityType, func(b *testing.B) {
			measure(b, scheduling.Policy{}, mixed(b, capacityType))
		})
	}
}

// BenchmarkEffort measures the time of each effort, and the price that it reaches.
func BenchmarkEffort(b *testing.B) {
	efforts := []struct {
		name   string
		effort scheduling.Effort
	}{{"fast", scheduling.EffortFast}, {"default", scheduling.EffortDefault}, {"thorough", scheduling.EffortThorough}}
	for _, e := range efforts {
		b.Run("pods=5000/effort="+e.name, func(b *testing.B) {
			measure(b, scheduling.Policy{Effort: e.effort}, mixed(b, "on-demand"))
		})
	}
}

// BenchmarkPools has twenty pools, twenty daemons and a thousand classes.
func BenchmarkPools(b *testing.B) {
	b.Run("pods=10000/classes=1000/pools=20", func(b *testing.B) {
		measure(b, scheduling.Policy{}, manyPools(b))
	})
}

// BenchmarkRunning plans beside a cluster that is there already.
func BenchmarkRunning(b *testing.B) {
	b.Run("pods=2000/nodes=1000/running=25000", func(b *testing.B) {
		measure(b, scheduling.Policy{}, running(b))
	})
}

// BenchmarkDiverse is Karpenter's own benchmark: four pods in five care where others are.
func BenchmarkDiverse(b *testing.B) {
	for _, pods := range []int{1_000, 5_000, 20_000} {
		for _, e := range []struct {
			name   string
			effort scheduling.Effort
		}{{"fast", scheduling.EffortFast}, {"default", scheduling.EffortDefault}} {
			b.Run(fmt.Sprintf("pods=%d/effort=%s", pods, e.name), func(b *testing.B) {
				measure(b, scheduling.Policy{Effort: e.effort}, diverse(b, pods))
			})
		}
	}
}

// BenchmarkDiverseOnEC2 is Karpenter's own benchmark, bought from all that EC2 sells in us-east-1 instead of from
// Karpenter's 400 types: three zones more, spot at prices of its own for each type and zone, and 20 times the offerings.
func BenchmarkDiverseOnEC2(b *testing.B) {
	for _, pods := range []int{55, 1_000} {
		for _, e := range []struct {
			name   string
			effort scheduling.Effort
		}{{"fast", scheduling.EffortFast}, {"default", scheduling.EffortDefault}} {
			b.Run(fmt.Sprintf("pods=%d/effort=%s", pods, e.name), func(b *testing.B) {
				p := diverse(b, pods)
				p.Catalog = catalog(b)
				measure(b, scheduling.Policy{Effort: e.effort}, p)
			})
		}
	}
}

// BenchmarkPreferences measures the time and the price that preferences cost that cannot all be met:
// the same pods with them, with a policy that ignores them, and without them.
func BenchmarkPreferences(b *testing.B) {
	for _, w := range []struct {
		name        string
		preferences bool
		policy      scheduling.PreferencePolicy
	}{
		{"none", false, scheduling.PreferencesRespect},
		{"ignored", true, scheduling.PreferencesIgnore},
		{"respected", true, scheduling.PreferencesRespect},
	} {
		b.Run("pods=4000/preferences="+w.name, func(b *testing.B) {
			measure(b, scheduling.Policy{Preferences: w.policy}, preferring(b, 4_000, w.preferences))
		})
	}
}

// measure solves the problem b.N times. The plan is judged once, outside of the timer: a fast wrong answer fails the
// benchmark. It returns the CPU time of one solve.
func measure(b *testing.B, solver scheduling.Policy, p scheduling.Problem) time.Duration {
	b.Helper()
	plan, err := provisioning.Planner{Policy: solver}.Plan(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	if err := (verify.Checker{Policy: solver, SkipRefusals: len(p.Pods) > 20_000}).Plan(p, plan); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	cpu := cputime.Used()
	for b.Loop() {
		if _, err := (provisioning.Planner{Policy: solver}).Plan(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
	cpu = (cputime.Used() - cpu) / time.Duration(b.N)
	b.ReportMetric(float64(cpu.Nanoseconds()), "cpu-ns/op")
	s := plan.Summary
	b.ReportMetric(float64(len(p.Pods))*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(s.Nodes), "nodes")
	b.ReportMetric(s.PricePerHour.USD(), "USD/h")
	b.ReportMetric(100*s.Gap, "gap-%")
	b.ReportMetric(float64(s.Pods-s.Placed), "unplaced")
	return cpu
}
