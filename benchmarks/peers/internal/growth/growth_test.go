package growth

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func axes(t *testing.T) []Axis {
	t.Helper()
	m, err := corpus.EC2("us-east-1")
	require.NoError(t, err)
	return Axes(m, 1, 20)
}

// On every axis the number that it is named for grows, and no other.
func TestAxes(t *testing.T) {
	all := axes(t)
	count := func(p scheduling.Problem) map[string]int {
		classes := map[string]bool{}
		for _, pod := range p.Pods {
			classes[pod.Labels["app"]] = true
		}
		types := 0
		for it := range p.Catalog.All() {
			if strings.ContainsAny(it.Name[:1], "cmr") && it.Labels["kubernetes.io/arch"] == "amd64" && it.Labels["karpenter.k8s.aws/instance-generation"] >= "5" &&
				len(it.Labels["karpenter.k8s.aws/instance-category"]) == 1 && it.Labels["karpenter.k8s.aws/instance-category"] == it.Name[:1] {
				types++
			}
		}
		return map[string]int{"pods": len(p.Pods), "classes": len(classes), "types": types, "pools": len(p.NodePools)}
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
		base := count(a.Problem(a.Values[3]))
		assert.Equal(t, a.Values[3], base[a.Name])
		for _, v := range []int{a.Values[2], a.Values[len(a.Values)-1]} {
			p := a.Problem(v)
			require.NoError(t, provisioning.Validate(&p))
			got := count(p)
			if a.Name == "classes" {
				v = min(v, len(p.Pods))
			}
			want := map[string]int{}
			for k, n := range base {
				want[k] = n
			}
			if a.Name == "pods" {
				want["classes"] = min(someClasses, v)
			}
			want[a.Name] = v
			assert.Equal(t, want, got, a.Name)
		}
	}
	assert.Equal(t, []string{"pods", "classes", "types", "pools"}, names)
}

func sample(axis string, value int, who string, elapsed time.Duration) Sample {
	return Sample{Axis: Axis{Name: axis, About: "a " + axis}, Value: value, Result: peer.Result{Peer: who, Pods: value, Elapsed: elapsed}}
}

func TestRising(t *testing.T) {
	ms := time.Millisecond
	samples := []Sample{
		sample("pods", 100, "a", 10*ms), sample("pods", 100, "b", 10*ms),
		sample("pods", 200, "a", 21*ms), sample("pods", 200, "b", 20*ms),
		sample("pods", 400, "a", 20*ms), sample("pods", 400, "b", 50*ms),
		sample("pools", 1, "b", 10*ms), sample("pools", 2, "b", 90*ms),
	}
	assert.Equal(t, []string{"b: 100 µs per pod at 200 pods, 125 µs at 400"}, Rising(samples))
}

func TestPlots(t *testing.T) {
	plots := Plots([]Sample{
		sample("pods", 100, "a", time.Second), sample("pods", 100, "b", time.Second), sample("pods", 200, "a", time.Second), sample("pools", 3, "a", time.Second),
	})
	var names []string
	for _, p := range plots {
		names = append(names, p.Name)
		files, err := p.Draw(t.TempDir())
		require.NoError(t, err)
		assert.Len(t, files, 2)
	}
	assert.Equal(t, []string{"growth-pods", "growth-pools", "per-pod"}, names)
	assert.Len(t, plots[0].Series, 2)
	assert.InDelta(t, 5_000, plots[2].Series[0].Points[1].Y, 1e-6)
	assert.Empty(t, Plots(nil))
}
