package karpenter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	adapter "github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Nine pods are launched for, and once three of them have gone and consolidateAfter has passed, the node is replaced by a
// cheaper one, which joins before a pod is evicted.
func TestAutoscaler(t *testing.T) {
	for name, b := range map[string]Build{"released": {}, "planned": {Planned: &adapter.Settings{ValidateAfter: -1, Planned: verify.Plan}}} {
		t.Run(name, func(t *testing.T) { testAutoscaler(t, b) })
	}
}

func testAutoscaler(t *testing.T, b Build) {
	const tick, surge, settle = 30 * time.Second, 5 * time.Minute, 2 * time.Minute
	pool := schedulingtest.NodePool("general", schedulingtest.Where(schedulingtest.In(offerings.CapacityTypeLabel, string(offerings.OnDemand))))
	after := settle
	pool.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &after}
	p := scheduling.Problem{
		Catalog:   ec2.MustCatalog("us-east-1").Filter(instancetypes.ByName("m6i.2xlarge", "m6i.4xlarge")),
		NodePools: []*scheduling.NodePool{pool},
	}
	w := simulation.NewWorld(simulation.Options{
		Catalog: p.Catalog, Tick: tick, Surge: surge, Flat: true, Services: []simulation.Service{{Name: "web", Pods: 6, CPU: "1", Memory: "1Gi"}},
	})
	a, err := NewAutoscaler(t.Context(), w, p, b)
	require.NoError(t, err)
	require.NoError(t, w.Watch(a))
	for now := simulation.Start(); now.Before(simulation.Start().Add(20 * time.Minute)); now = now.Add(tick) {
		require.NoError(t, w.Advance(now))
		require.NoError(t, a.Reconcile(t.Context(), now))
		require.NoError(t, w.Schedule())
		passed := now.Sub(simulation.Start())
		if passed >= time.Minute && passed < surge+settle {
			require.Len(t, w.Cluster.Nodes, 1, "at %s", passed)
			require.Contains(t, w.Cluster.Nodes, "general-0001")
		}
	}
	require.Len(t, w.Cluster.Nodes, 1)
	require.Contains(t, w.Cluster.Nodes, "general-0002")
	require.Equal(t, "m6i.2xlarge", w.Cloud.Instances["general-0002"].Machine.Order.Option.InstanceType)
	require.Zero(t, w.Cluster.Killed)
	require.Equal(t, 2, w.Cloud.Launched())
	require.Len(t, a.claims, 1)
}
