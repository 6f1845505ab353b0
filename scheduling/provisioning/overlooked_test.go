package provisioning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A plan warns of objects that have no effect: a limit on a resource that no offering has, a zone in which no type of a
// NodePool is sold, and pods on nodes that do not exist.
func TestWhatCountsNowhereIsWarnedOf(t *testing.T) {
	pool := st.NodePool("default", st.Limit(st.Count("cpus", 100), st.Cores(100)), st.MaxNodes(3))
	zonal := st.NodePool("zonal")
	zonal.Spec.Template.Spec.Requirements = []requirements.Selector{
		{Key: corev1.LabelTopologyZone, Operator: requirements.In, Values: []string{"zone-a", "zone-b", "zone-c", "zone-d"}},
		{Key: corev1.LabelInstanceTypeStable, Operator: requirements.In, Values: []string{"m"}},
	}
	p := scheduling.Problem{
		Pods: st.Pods(1, "web", st.Requests(st.Cores(1), st.GiB(1))), Running: []*corev1.Pod{st.Pod("away", st.OnNode("gone"))}, NodePools: []*scheduling.NodePool{pool, zonal},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("zone-a", st.Cents(10)), st.OnDemand("zone-d", st.Cents(10))),
			st.Type("n", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("zone-b", st.Cents(10)))),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	want := []scheduling.Warning{
		{Object: "NodePool/default", Message: "spec.limits.cpus limits nothing: no instance type of the catalog has the resource cpus"},
		{Object: "NodePool/zonal", Message: "requires topology.kubernetes.io/zone In [zone-a zone-b zone-c zone-d], but none of the instance types that it may launch is sold in zones zone-b, zone-c"},
		{Object: "default/away", Message: "runs on node gone, which is not among the nodes"},
	}
	assert.Equal(t, want, plan.Warnings)

	p.Now = time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC)
	steps, err := disruption.Planner{}.Plan(t.Context(), disruption.Cluster{Problem: p})
	require.NoError(t, err)
	assert.Equal(t, want, steps.Warnings)
}
