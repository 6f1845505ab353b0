package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Where a few machines of very different sizes hold everything, what room is left is a little on
// each. Machines exchanged for cheaper ones, and pods moved about among all, make use of it.
func TestFewMachinesAreHoned(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	var pods []*corev1.Pod
	for i := range 100 {
		pods = append(pods, st.Pod(fmt.Sprintf("pod-%d", i), st.Requests(st.MilliCPU(50+random.Int64N(3950)), st.MiB(64+random.Int64N(16_000)))))
	}
	p := scheduling.Problem{
		Pods: pods,
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Where(
			st.In("kubernetes.io/arch", "amd64"), st.In(scheduling.CapacityTypeLabel, "spot"),
			st.In("karpenter.k8s.aws/instance-category", "c", "m", "r")))},
		Catalog: ec2.MustCatalog("us-east-1"),
	}
	plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	require.NoError(t, verify.Plan(p, plan))
	assert.Less(t, plan.Summary.Gap, 0.025, "it is 3 % without")
}
