package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestBadWorkloadShares(t *testing.T) {
	for _, n := range []int{-1, 101} {
		_, err := provisioning.Planner{Policy: scheduling.Policy{WorkloadShare: n}}.Plan(t.Context(), scheduling.Problem{})
		require.ErrorIs(t, err, scheduling.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("solver.workloadShare: must be a percentage from 1 to 100, or 0 for no bound: \"%d\"", n))
	}
}

// owned gives pods of a random problem to a few controllers.
func owned(pods []*corev1.Pod, seed uint64) []*corev1.Pod {
	out := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		out[i] = pod
		if len(pod.OwnerReferences) > 0 || i%4 == 3 {
			continue
		}
		yes := true
		out[i] = pod.DeepCopy()
		out[i].OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("set-%d", (uint64(i)+seed)%3), UID: "u", Controller: &yes,
		}}
	}
	return out
}

// Every promise about plans holds with bounded shares, and no machine holds more of a
// controller's pods than the share, counted anew.
func TestWorkloadSharesOfRandomProblems(t *testing.T) {
	_, n := soak.Window(22)
	moved := 0
	for seed := range soak.Cases(22) {
		p := st.Random(seed, st.Size{Pods: 30, TopologyTerms: seed%2 == 0})
		p.Pods, p.Running = owned(p.Pods, seed), owned(p.Running, seed)
		s := scheduling.Policy{Effort: scheduling.EffortFast, WorkloadShare: int(1 + seed*7%60)}
		plan, err := st.Audit(t.Context(), s, p)
		require.NoError(t, err, "seed %d", seed)
		set, size := map[string]string{}, map[string]int{}
		for _, pod := range append(append([]*corev1.Pod{}, p.Pods...), p.Running...) {
			ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
			if len(pod.OwnerReferences) == 0 || pod.OwnerReferences[0].Kind != "ReplicaSet" || ended || pod.DeletionTimestamp != nil {
				continue
			}
			ns := pod.Namespace
			if ns == "" {
				ns = "default"
			}
			set[ns+"/"+pod.Name] = ns + "/" + pod.OwnerReferences[0].Name
			size[ns+"/"+pod.OwnerReferences[0].Name]++
		}
		free, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		over := func(plan *scheduling.Plan) bool {
			for _, l := range plan.Launches {
				have := map[string]int{}
				for _, pod := range l.Pods {
					if name := set[pod]; name != "" {
						if have[name]++; have[name] > max(1, size[name]*s.WorkloadShare/100) {
							return true
						}
					}
				}
			}
			return false
		}
		assert.False(t, over(plan), "seed %d", seed)
		if over(free) {
			moved++
		}
	}
	assert.Greater(t, moved, n/4, "plans that without the bound would break it")
}
