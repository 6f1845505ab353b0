package requirements

import (
	"fmt"
	"testing"
)

// The questions that a solver asks most.
func BenchmarkHas(b *testing.B) {
	for _, n := range []int{1, 10, 800} {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprintf("m%d.large", i)
		}
		r := MustNew("node.kubernetes.io/instance-type", In, values...)
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Has(values[n/2])
			}
		})
	}
	cpu := MustNew("karpenter.k8s.aws/instance-cpu", Gt, "4")
	b.Run("bounds", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			cpu.Has("16")
		}
	})
}

func benchmarkSets() (pool Set, labels map[string]string) {
	pool = NewSet(
		MustNew("karpenter.k8s.aws/instance-category", In, "c", "m", "r"),
		MustNew("karpenter.k8s.aws/instance-generation", Gt, "4"),
		MustNew("karpenter.sh/capacity-type", In, "spot", "on-demand"),
		MustNew("kubernetes.io/arch", In, "amd64", "arm64"),
		MustNew("topology.kubernetes.io/zone", NotIn, "us-east-1e"),
	)
	labels = map[string]string{
		"karpenter.k8s.aws/instance-category": "m", "karpenter.k8s.aws/instance-generation": "7",
		"karpenter.sh/capacity-type": "spot", "kubernetes.io/arch": "amd64",
		"topology.kubernetes.io/zone": "us-east-1a", "node.kubernetes.io/instance-type": "m7i.large",
	}
	return pool, labels
}

func BenchmarkMatches(b *testing.B) {
	pool, labels := benchmarkSets()
	b.ReportAllocs()
	for b.Loop() {
		if !pool.Matches(labels) {
			b.Fatal("the node belongs to the pool")
		}
	}
}

func BenchmarkCompatible(b *testing.B) {
	pool, labels := benchmarkSets()
	node := FromLabels(labels)
	b.ReportAllocs()
	for b.Loop() {
		if err := node.Compatible(pool); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIntersect(b *testing.B) {
	pool, labels := benchmarkSets()
	node := FromLabels(labels)
	b.ReportAllocs()
	for b.Loop() {
		pool.Intersect(node)
	}
}
