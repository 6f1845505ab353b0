package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Two pods of any of a hundred sizes leave a small machine a quarter empty; what does not
// fit there fills large machines. The bound knows both, and its certificate says so.
func TestBoundKnowsFillingsBesideLargeMachines(t *testing.T) {
	var pods []*corev1.Pod
	for i := range int64(100) {
		pods = append(pods, st.Pods(4, fmt.Sprintf("small-%d", i), st.Requests(st.MilliCPU(670+i)))...)
	}
	for i := range int64(60) {
		pods = append(pods, st.Pods(2, fmt.Sprintf("large-%d", i), st.Requests(st.MilliCPU(2100+31*i)))...)
	}
	p := scheduling.Problem{
		Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(64)), st.OnDemand("a", 10_000)),
			st.Type("large", st.Capacity(st.Cores(64), st.GiB(512)), st.OnDemand("a", 480_000)),
		),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	assert.Equal(t, "pattern", plan.Summary.Certificate.Kind)
	assert.InEpsilon(t, int64(plan.Summary.PricePerHour), int64(plan.Summary.LowerBoundPerHour), 0.02)
	forged := *plan
	forged.Summary.LowerBoundPerHour = plan.Summary.PricePerHour + 1
	assert.Error(t, verify.Plan(p, &forged))
	quick, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
	require.NoError(t, err)
	assert.Less(t, quick.Summary.LowerBoundPerHour, plan.Summary.LowerBoundPerHour)
}
