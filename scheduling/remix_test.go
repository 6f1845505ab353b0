package scheduling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Where machines hold few pods each and pods are of many sizes, machines bought one best one
// after the other leave sizes behind that go together badly. Mixed at once they do not.
func TestFillingsOfManySizesAreMixed(t *testing.T) {
	t.Parallel()
	p := scheduling.Problem{
		Pods:      st.Workloads(600, 90, 5),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(
			st.Type("tiny", st.Capacity(st.Cores(1), st.GiB(2)), st.OnDemand("a", 11_000_000)),
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 20_000_000)),
			st.Type("roomy", st.Capacity(st.Cores(2), st.GiB(16)), st.OnDemand("a", 27_000_000)),
			st.Type("medium", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", 96_000_000)),
		),
	}
	plan, err := scheduling.Solver{}.Solve(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	require.NoError(t, verify.Plan(p, plan))
	assert.Less(t, plan.Summary.Gap, 0.02)
}
