package autoscaler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Ten pods need two nodes, and the six that are left after five minutes need one: the other is removed once it has been
// unneeded for ten minutes, and not before.
func TestScaleDown(t *testing.T) {
	const tick, surge = 30 * time.Second, 5 * time.Minute
	groups := scheduling.Problem{
		Catalog:    ec2.MustCatalog("us-east-1").Filter(instancetypes.ByName("m6i.2xlarge")),
		NodePools:  []*scheduling.NodePool{st.NodePool("general", st.Where(st.In(offerings.CapacityTypeLabel, string(offerings.OnDemand))))},
		DaemonSets: []*appsv1.DaemonSet{simulation.Agent()},
	}
	w := simulation.NewWorld(simulation.Options{
		Catalog: groups.Catalog, Tick: tick, Surge: surge, Flat: true, Services: []simulation.Service{{Name: "web", Pods: 6, CPU: "1", Memory: "1Gi"}},
	})
	a := NewAutoscaler(Peer{Expander: LeastWaste}, w, groups)
	require.NoError(t, w.Watch(a))
	for now := simulation.Start(); now.Before(simulation.Start().Add(20 * time.Minute)); now = now.Add(tick) {
		require.NoError(t, w.Advance(now))
		require.NoError(t, a.Reconcile(t.Context(), now))
		require.NoError(t, w.Schedule())
		passed := now.Sub(simulation.Start())
		_, pending := w.Cluster.Count()
		require.Equal(t, passed < time.Minute, pending > 0, "at %s", passed)
		if passed >= time.Minute && passed < surge+unneededTime {
			require.Len(t, w.Cluster.Nodes, 2, "at %s", passed)
		}
	}
	require.Len(t, w.Cluster.Nodes, 1)
	require.Zero(t, w.Cluster.Killed)
	require.Equal(t, 2, w.Cloud.Launched())
}
