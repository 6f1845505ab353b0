package provisioning_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Launches share no memory: a caller may change a launch and its lists without changing another launch of the plan, or
// the next plan of the same problem.
func TestLaunchesShareNoMemory(t *testing.T) {
	p := scheduling.Problem{
		Pods: st.Pods(6, "web", st.Label("app", "web"), st.Requests(st.Cores(1), st.GiB(1)), st.Apart(corev1.LabelHostname)),
		NodePools: []*scheduling.NodePool{st.NodePool("default",
			st.Where(st.In("kubernetes.io/os", "linux")), st.Where(st.In(corev1.LabelInstanceTypeStable, "a", "b")))},
		Catalog: st.MustCatalog(
			st.Type("a", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("z1", 10_000_000), st.OnDemand("z2", 10_000_000)),
			st.Type("b", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("z1", 20_000_000), st.OnDemand("z2", 20_000_000)),
		),
	}
	solve := func() *scheduling.Plan {
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		require.NoError(t, err)
		return plan
	}
	text := func(l *scheduling.Launch) string {
		b, err := json.Marshal(l)
		require.NoError(t, err)
		return string(b)
	}
	plan := solve()
	require.Len(t, plan.Launches, 6)
	before := make([]string, len(plan.Launches))
	for i := range plan.Launches {
		before[i] = text(&plan.Launches[i])
	}
	first := &plan.Launches[0]
	require.NotEmpty(t, first.Requirements)
	for i := range first.Options {
		first.Options[i].InstanceType = "x"
	}
	first.Options = append(first.Options, scheduling.LaunchOption{})
	for i := range first.Requirements {
		r := &first.Requirements[i]
		for k := range r.Values {
			r.Values[k] = "x"
		}
		own := r.Values
		r.Values = append(r.Values, "y")
		if i+1 < len(first.Requirements) && len(own) > 0 && len(first.Requirements[i+1].Values) > 0 {
			assert.NotEqual(t, "y", first.Requirements[i+1].Values[0], "an appended value ends in the next list")
		}
		r.Key = "x"
	}
	first.Labels["x"], first.Pods[0] = "x", "x"
	first.Requests["x"] = first.Requests[corev1.ResourceCPU]
	first.Taints = append(first.Taints, corev1.Taint{Key: "x"})
	for i := 1; i < len(plan.Launches); i++ {
		assert.Equal(t, before[i], text(&plan.Launches[i]))
	}
	again := solve()
	for i := range again.Launches {
		assert.Equal(t, before[i], text(&again.Launches[i]))
	}
}

// The names of a machine's pods are written in one piece, so that many more of them take
// hardly more allocations. They are sorted.
func TestNamesInOnePiece(t *testing.T) {
	allocs := map[int]float64{}
	for _, pods := range []int{1_000, 5_000} {
		p := scheduling.Problem{
			Pods:      append(st.Pods(pods/2, "web", st.Requests(st.MilliCPU(1), st.MiB(1))), st.Pods(pods/2, "api", st.Requests(st.MilliCPU(2), st.MiB(1)))...),
			NodePools: []*scheduling.NodePool{st.NodePool("default")},
			Catalog:   st.MustCatalog(st.Type("a", st.Capacity(st.Cores(16), st.GiB(64), st.Count("pods", 10_000)), st.OnDemand("z1", 10_000_000))),
		}
		allocs[pods] = testing.AllocsPerRun(1, func() {
			plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
			require.NoError(t, err)
			require.Len(t, plan.Launches, 1)
			require.Len(t, plan.Launches[0].Pods, pods)
			require.True(t, slices.IsSorted(plan.Launches[0].Pods))
		})
	}
	assert.Less(t, allocs[5_000]-allocs[1_000], 400.0)
}
