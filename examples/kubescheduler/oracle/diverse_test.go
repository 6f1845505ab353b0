package oracle_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The mix of pods with which Karpenter measures its scheduler, on the types that it
// measures with: all are placed, and kube-scheduler binds all of them as planned.
func TestDiverse(t *testing.T) {
	tests := []struct {
		pods int
		seed uint64
	}{{1_000, 1}, {1_000, 2}, {1_000, 3}, {5_000, 4}}
	for _, tt := range tests {
		if testing.Short() && tt.seed > 1 {
			continue
		}
		t.Run(fmt.Sprintf("pods=%d/seed=%d", tt.pods, tt.seed), func(t *testing.T) {
			t.Parallel()
			p := scheduling.Problem{
				Catalog:   synthetic(400),
				NodePools: []*scheduling.NodePool{st.NodePool("default")},
				Pods:      st.Diverse(tt.pods, tt.seed),
			}
			plan, err := provisioning.Planner{}.Plan(t.Context(), p)
			require.NoError(t, err)
			require.Empty(t, plan.Unschedulable)
			t.Logf("%d machines at %v/h, at least %v/h", len(plan.Launches), plan.Summary.PricePerHour, plan.Summary.LowerBoundPerHour)
			found, err := oracle.Check(t.Context(), newScheduler(t), &p, plan, oracle.Config{Samples: 1})
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
}

// synthetic are types of one core to n, with two GiB and ten pods for each core, at
// prices in proportion.
func synthetic(n int64) *instancetypes.Catalog {
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= n; cores++ {
		price := offerings.Price(cores) * st.Cents(4)
		opts := []st.TypeOption{
			st.Capacity(st.Cores(cores), st.GiB(2*cores), st.Count("pods", 10*cores)), st.KubeReserved(st.MilliCPU(100), st.MiB(10)),
		}
		for _, zone := range []string{"test-zone-1", "test-zone-2", "test-zone-3"} {
			opts = append(opts, st.OnDemand(zone, price), st.Spot(zone, price*7/10))
		}
		types = append(types, st.Type(fmt.Sprintf("fake-it-%d", cores), opts...))
	}
	return st.MustCatalog(types...)
}
