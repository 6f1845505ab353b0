package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Where only nodes that run are to be had, the change says where the condition stands.
func TestChangesOfSelectors(t *testing.T) {
	small := st.Type("m.large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)))
	p := scheduling.Problem{
		Catalog: st.MustCatalog(small),
		Nodes:   []*corev1.Node{st.Node("one", st.OfType(small, small.Offerings[0]))},
		Pods: []*corev1.Pod{
			st.Pod("affine", st.Requests(st.MilliCPU(100)), st.Where(st.In("disktype", "nvme"))),
			st.Pod("selects", st.Requests(st.MilliCPU(100)), st.Select("disktype", "nvme")),
		},
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	require.Len(t, plan.Unschedulable, 2)
	require.Equal(t, []string{"drop the node selector disktype"}, plan.Unschedulable[1].Fixes)
	require.Equal(t, []string{"drop disktype In [nvme] from the required node affinity"}, plan.Unschedulable[0].Fixes)
}
