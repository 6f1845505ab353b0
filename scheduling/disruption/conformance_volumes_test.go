package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// The claim of an ephemeral volume goes with its pod and ties the next one to nothing. All other claims stay
// where their volumes are, also those that a StatefulSet or the pod owns, as with
// persistentVolumeClaimRetentionPolicy: that deletes them when the set goes or becomes smaller, not when a pod is evicted.
func TestVolumesOfEvictedPods(t *testing.T) {
	for name, tc := range map[string]struct {
		volume st.PodOption
		owner  st.ClaimOption
		moves  bool
	}{
		"ephemeral":                           {st.Ephemeral("data", st.OfClass("gp3")), st.OwnedByPod("app-0"), true},
		"claim":                               {st.UseClaim("app-0-data"), st.Namespace("default"), false},
		"claim that goes with a smaller set":  {st.UseClaim("app-0-data"), st.OwnedByPod("app-0"), false},
		"ephemeral, of a pod of another name": {st.Ephemeral("data", st.OfClass("gp3")), st.OwnedByPod("app-1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := st.Cluster(1, st.ClusterOptions{Nodes: 1, PodsPerNode: 1})
			pool := c.NodePools[0]
			pool.Spec.Disruption = scheduling.Disruption{ConsolidationPolicy: scheduling.WhenEmptyOrUnderutilized, Budgets: []scheduling.Budget{{Nodes: "100%"}}}
			c.Now = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
			like := c.Nodes[0]
			zone, other := like.Labels[corev1.LabelTopologyZone], ""
			sold, _ := c.Catalog.Get(like.Labels[corev1.LabelInstanceTypeStable])
			for _, o := range sold.Offerings {
				if o.Zone != zone {
					other = o.Zone
				}
			}
			node := func(name, in string) *corev1.Node {
				n := like.DeepCopy()
				n.Name = name
				n.Labels[corev1.LabelHostname], n.Labels[corev1.LabelTopologyZone] = name, in
				return n
			}
			c.Nodes = []*corev1.Node{node("a", zone), node("b", other)}
			app := st.Pod("app-0", st.OwnedBy("StatefulSet", "app"), st.OnNode("a"), st.Requests(st.MilliCPU(100)), tc.volume)
			stays := st.Pod("other-0", st.OwnedBy("StatefulSet", "other"), st.OnNode("b"), st.Requests(st.MilliCPU(100)))
			stays.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
			c.Pods, c.Running, c.Machines, c.DaemonSets = nil, []*corev1.Pod{app, stays}, nil, nil
			c.StorageClasses = append(c.StorageClasses, st.StorageClass("gp3"))
			c.Claims = []*corev1.PersistentVolumeClaim{st.Claim("app-0-data", st.OfClass("gp3"), st.BoundTo("disk"), tc.owner)}
			c.Volumes = []*corev1.PersistentVolume{st.Volume("disk", st.Where(st.In(corev1.LabelTopologyZone, zone)))}
			for _, p := range []disruption.Planner{{}, freely(disruption.Planner{})} {
				plan, err := p.Plan(t.Context(), c)
				require.NoError(t, err)
				require.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan))
				moves := len(plan.Steps) == 1 && len(plan.Steps[0].Evictions) == 1 && plan.Steps[0].Evictions[0].To == "b"
				require.Equal(t, tc.moves, moves, plan.Steps)
			}
		})
	}
}
