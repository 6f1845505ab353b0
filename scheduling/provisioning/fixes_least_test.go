package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A limit is raised as far as all pods need that wait for the same reason, and not for one of them.
func TestLimitsAreRaisedForAllPodsAlike(t *testing.T) {
	for _, waiting := range []int{1, 2, 5} {
		pool := st.NodePool("capped")
		pool.Spec.Limits = corev1.ResourceList{scheduling.NodesResource: resource.MustParse("3")}
		p := scheduling.Problem{NodePools: []*scheduling.NodePool{pool}, Catalog: st.MustCatalog(st.Type("m6i.large", st.Capacity(st.MilliCPU(2000), st.MiB(8192), st.Count(corev1.ResourcePods, 20)), st.OnDemand("a", st.Cents(10))))}
		p.Pods = st.Pods(3+waiting, "web", st.Requests(st.MilliCPU(500), st.MiB(1024)), st.Label("app", "web"), st.Apart(corev1.LabelHostname, st.Of("app", "web")))
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.Len(t, plan.Unschedulable, waiting)
		require.Equal(t, fmt.Sprintf("raise the limit nodes of NodePool capped to %d", 3+waiting), plan.Unschedulable[0].Fixes[0])
	}
}
