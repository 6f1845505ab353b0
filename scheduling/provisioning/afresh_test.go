package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// far is a problem with hosts for every pod of some and zones for those of others, on small
// machines that are dear for what they hold and large ones that are cheap if they are full.
func far(n int) scheduling.Problem {
	return scheduling.Problem{
		Pods:      st.Diverse(n, 3),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(1), st.GiB(2)), st.OnDemand("z1", 13_000_000), st.OnDemand("z2", 17_000_000), st.OnDemand("z3", 22_000_000)),
			st.Type("medium", st.Capacity(st.Cores(2), st.GiB(16)), st.OnDemand("z1", 22_000_000), st.OnDemand("z2", 22_000_000), st.OnDemand("z3", 24_000_000)),
			st.Type("middle", st.Capacity(st.Cores(4), st.GiB(32)), st.OnDemand("z1", 30_000_000), st.OnDemand("z2", 58_000_000), st.OnDemand("z3", 68_000_000)),
			st.Type("large", st.Capacity(st.Cores(64), st.GiB(128)), st.OnDemand("z1", 344_000_000), st.OnDemand("z2", 400_000_000), st.OnDemand("z3", 836_000_000)),
		),
	}
}

// Where prices make it hard to fill machines, plans come near their bound all the same, and
// the same one comes out again.
func TestPlansFarFromTheirBound(t *testing.T) {
	t.Parallel()
	p := far(60)
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	require.NoError(t, verify.Plan(p, plan))
	t.Log(plan.Summary.PricePerHour, plan.Summary.Gap)
	again, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, plan, again)
	fast, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
	require.NoError(t, err)
	assert.LessOrEqual(t, plan.Summary.PricePerHour, fast.Summary.PricePerHour)
}
