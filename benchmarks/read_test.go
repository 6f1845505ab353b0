package benchmarks

import (
	"runtime"
	"testing"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// thousand is a number of pods of 1,000 classes, and 900 types for them: types of the compute, general-purpose and
// memory categories from generation 5 on, of which the surplus over 900 is left out at equal distances.
func thousand(tb testing.TB, pods int) scheduling.Problem {
	tb.Helper()
	const types = 900
	whole := catalog(tb)
	usual := map[string]int{}
	for t := range whole.All() {
		category, generation := t.Labels["karpenter.k8s.aws/instance-category"], t.Labels["karpenter.k8s.aws/instance-generation"]
		if (category == "c" || category == "m" || category == "r") && generation >= "5" {
			usual[t.Name] = len(usual)
		}
	}
	n := len(usual)
	return scheduling.Problem{
		Pods:      schedulingtest.Workloads(pods, 1_000, seed),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: whole.Filter(func(t *instancetypes.InstanceType, _ offerings.Offering) bool {
			i, ok := usual[t.Name]
			return ok && (i+1)*types/n > i*types/n
		}),
	}
}

// BenchmarkRead compares a fast solve with visiting every field of its pods once, as their encoder does to know the
// size. The second half reports the ratio of the two, of wall clock and of CPU time.
func BenchmarkRead(b *testing.B) {
	p := thousand(b, 100_000)
	var once, cpuOnce float64
	b.Run("pods=100000/classes=1000/step=read", func(b *testing.B) {
		size, cpu := 0, cputime.Used()
		for b.Loop() {
			for _, pod := range p.Pods {
				size += pod.Size()
			}
		}
		runtime.KeepAlive(size)
		once = b.Elapsed().Seconds() / float64(b.N)
		cpuOnce = (cputime.Used() - cpu).Seconds() / float64(b.N)
		b.ReportMetric(cpuOnce*1e9, "cpu-ns/op")
		b.ReportMetric(float64(len(p.Pods))/once, "pods/s")
	})
	b.Run("pods=100000/classes=1000/types=900/effort=fast", func(b *testing.B) {
		cpu := measure(b, scheduling.Policy{Effort: scheduling.EffortFast}, p)
		if once > 0 {
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/once, "reads")
		}
		if cpuOnce > 0 {
			b.ReportMetric(cpu.Seconds()/cpuOnce, "cpu-reads")
		}
	})
}
