package prove_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestStepsOfSizesThatFewPodsHave: a node of 7 GiB holds three pods of 2 GiB and leaves 1 GiB unused. The bound counts memory in
// quanta of 2 GiB for these pods, although ten other sizes have more pods each.
func TestStepsOfSizesThatFewPodsHave(t *testing.T) {
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(1), st.GiB(1)), st.OnDemand("a", 10)),
			st.Type("large", st.Capacity(st.Cores(16), st.GiB(7)), st.OnDemand("a", 100)),
		),
		Pods: st.Pods(24, "apart", st.Label("app", "apart"), st.Apart(corev1.LabelHostname), st.Requests(st.MilliCPU(10))),
	}
	for i := range int64(10) {
		p.Pods = append(p.Pods, st.Pods(25, fmt.Sprintf("size-%d", i), st.Requests(st.MilliCPU(11+i)))...)
	}
	p.Pods = append(p.Pods, st.Pods(18, "big", st.Requests(st.GiB(2)))...)
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	require.NotNil(t, plan.Summary.Certificate)
	assert.Equal(t, []certificate.Quantum{{Resource: "memory", Size: 2 << 30}}, plan.Summary.Certificate.Steps)
	assert.Equal(t, plan.Summary.PricePerHour, plan.Summary.LowerBoundPerHour, "six large machines, and eighteen small ones")
}
