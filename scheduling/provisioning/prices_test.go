package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Spot prices give some resources a dual of 0 while bounds are computed by zones: the value of a pod by these duals
// then has no ratio to its value by the duals of all zones.
func TestResourcesWorthNothing(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("a thousand types, and bounds by zones")
	}
	p := scheduling.Problem{
		Pods:      st.Diverse(300, 2),
		NodePools: []*scheduling.NodePool{st.NodePool("default", st.Where(st.In(offerings.CapacityTypeLabel, "spot")))},
		Catalog:   ec2.MustCatalog("us-east-1"),
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{Effort: scheduling.EffortFast}, p)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	require.Positive(t, plan.Summary.LowerBoundPerHour)
}
