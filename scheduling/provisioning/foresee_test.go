package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Where many pods are tied, the search ends near a bound that is known before it begins:
// at 5 % with the fast effort, at 2.5 % with the default one, which is never dearer.
func TestTiedPodsEndNearTheirBound(t *testing.T) {
	if race.Enabled {
		t.Skip("the random problems show as much")
	}
	t.Parallel()
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= 64; cores++ {
		types = append(types, st.Type(fmt.Sprintf("cores-%d", cores),
			st.Capacity(st.Cores(cores), st.GiB(2*cores)), st.KubeReserved(st.MilliCPU(100), st.MiB(10)),
			st.Spot("a", st.Cents(30*cores)), st.Spot("b", st.Cents(30*cores)), st.OnDemand("c", st.Cents(30*cores)),
		))
	}
	for seed := range uint64(1) {
		p := scheduling.Problem{
			Pods: st.Diverse(900, seed), NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: st.MustCatalog(types...),
		}
		gap := map[scheduling.Effort]float64{scheduling.EffortFast: 0.05, scheduling.EffortDefault: 0.025}
		price := map[scheduling.Effort]float64{}
		for effort, most := range gap {
			solver := scheduling.Policy{Effort: effort}
			plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
			require.NoError(t, err)
			require.NoError(t, verify.Checker{Policy: solver, SkipRefusals: true}.Plan(p, plan))
			assert.Equal(t, 900, plan.Summary.Placed)
			assert.LessOrEqual(t, plan.Summary.Gap, most+1e-9, "seed %d", seed)
			price[effort] = plan.Summary.PricePerHour.USD()
		}
		assert.LessOrEqual(t, price[scheduling.EffortDefault], price[scheduling.EffortFast], "seed %d", seed)
	}
}
