package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// dearest returns the cores, and the reserved machines, of a plan whose launches all take their option with the most
// cores, as long as its reservation lasts.
func dearest(t *testing.T, p *scheduling.Problem, plan *scheduling.Plan) (cores int64, reserved int) {
	t.Helper()
	for i := range plan.Launches {
		most, draws := int64(0), false
		for _, o := range plan.Launches[i].Options {
			kind, ok := p.Catalog.Get(o.InstanceType)
			require.True(t, ok)
			most, draws = max(most, kind.Capacity.Cpu().Value()), draws || o.ReservationID != ""
		}
		if cores += most; draws {
			reserved++
		}
	}
	return cores, reserved
}

// Limits and reservations hold whichever option each launch is bought at, all together, and no option is left out that
// would have held.
func TestOptionsHoldTogether(t *testing.T) {
	small, large := st.Capacity(st.Cores(8), st.GiB(32)), st.Capacity(st.Cores(16), st.GiB(64))
	catalog := st.MustCatalog(
		st.Type("small", small, st.OnDemand("a", st.Cents(40)), st.OnDemand("b", st.Cents(41))),
		st.Type("large", large, st.OnDemand("a", st.Cents(80))),
		st.Type("kept", small, st.Reserved("a", st.Cents(50), "cr-1", 1)),
	)
	for _, tt := range []struct {
		limit    int64
		cores    int64
		reserved int
		options  int
	}{
		{limit: 16, cores: 16, reserved: 1, options: 2 + 3},
		{limit: 24, cores: 24, reserved: 1, options: 2 + 4},
		{limit: 31, cores: 24, reserved: 1, options: 2 + 4},
		{limit: 32, cores: 32, reserved: 1, options: 3 + 4},
	} {
		p := scheduling.Problem{
			Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("default", st.Limit(st.Cores(tt.limit)))},
			Pods: st.Pods(2, "web", st.Requests(st.Cores(5), st.GiB(5)), st.Label("app", "web"), st.Apart(corev1.LabelHostname)),
		}
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.NoError(t, verify.Plan(p, plan))
		require.Len(t, plan.Launches, 2)
		cores, reserved := dearest(t, &p, plan)
		assert.Equal(t, tt.cores, cores, "limit %d", tt.limit)
		assert.Equal(t, tt.reserved, reserved, "limit %d", tt.limit)
		assert.Equal(t, tt.options, len(plan.Launches[0].Options)+len(plan.Launches[1].Options), "limit %d", tt.limit)
	}
}

// Where minValues need more options than limits allow together, launches keep the options that minValues need, and the
// plan warns of that.
func TestOptionsThatDoNotHoldTogetherAreTold(t *testing.T) {
	pool := st.NodePool("default", st.Limit(st.Cores(24)), st.Where(st.AtLeast(2, st.Exists("node.kubernetes.io/instance-type"))))
	p := scheduling.Problem{
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", st.Cents(40))), st.Type("large", st.Capacity(st.Cores(16), st.GiB(64)), st.OnDemand("a", st.Cents(80)))),
		NodePools: []*scheduling.NodePool{pool}, Pods: st.Pods(2, "web", st.Requests(st.Cores(5), st.GiB(5)), st.Label("app", "web"), st.Apart(corev1.LabelHostname)),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	require.Len(t, plan.Launches, 2)
	require.Len(t, plan.Warnings, 1)
	assert.Equal(t, "NodePool/default", plan.Warnings[0].Object)
	assert.Contains(t, plan.Warnings[0].Message, "launch one after the other, and plan again")
}
