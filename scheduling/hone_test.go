package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Where a few machines of very different sizes hold everything, what room is left is a little on
// each. Machines exchanged for cheaper ones, and pods moved about among all, make use of it.
func TestFewMachinesAreHoned(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	var pods []*corev1.Pod
	for i := range 100 {
		pods = append(pods, st.Pod(fmt.Sprintf("pod-%d", i), st.Requests(st.MilliCPU(50+random.Int64N(3950)), st.MiB(64+random.Int64N(16_000)))))
	}
	plan := planAt(t, spotProblem(pods), scheduling.Solver{Effort: scheduling.EffortFast})
	assert.Empty(t, plan.Unschedulable)
	assert.Less(t, plan.Summary.Gap, 0.025, "it is 3 % without")
}

// Where pods are tied to zones what a search ends with hangs on how it began, and exchanging machines
// does not make up for it. So other searches are made where the price is far above its bound.
func TestFewMachinesFromOtherBeginnings(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 2))
	zones := []string{"us-east-1b", "us-east-1d", "us-east-1f"}
	var pods []*corev1.Pod
	for i := range race.Fewer(200, 60) {
		opts := []st.PodOption{st.Requests(st.MilliCPU(50+random.Int64N(1950)), st.MiB(64+random.Int64N(6_000)))}
		if i%8 == 0 {
			opts = append(opts, st.Select(corev1.LabelTopologyZone, zones[i/8%len(zones)]))
		}
		pods = append(pods, st.Pod(fmt.Sprintf("pod-%d", i), opts...))
	}
	p := spotProblem(pods)
	plan := planAt(t, p, scheduling.Solver{Effort: scheduling.Effort(race.Fewer(int(scheduling.EffortDefault), 50))})
	assert.Empty(t, plan.Unschedulable)
	if !race.Enabled {
		assert.Less(t, plan.Summary.Gap, 0.01, "it is 1.4 % without")
		assert.Equal(t, plan, planAt(t, p, scheduling.Solver{}), "the same plan comes out again")
	}
}

// spotProblem is pods for spot machines of the usual kinds.
func spotProblem(pods []*corev1.Pod) scheduling.Problem {
	return scheduling.Problem{
		Pods: pods,
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Where(
			st.In("kubernetes.io/arch", "amd64"), st.In(scheduling.CapacityTypeLabel, "spot"),
			st.In("karpenter.k8s.aws/instance-category", "c", "m", "r")))},
		Catalog: ec2.MustCatalog("us-east-1"),
	}
}
