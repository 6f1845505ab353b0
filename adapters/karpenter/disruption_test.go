package karpenter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// halfFull is a world of nodes of one type, of which all pods but one have gone from each.
func halfFull(t *testing.T, nodes int, change ...func(*karpv1.NodePool)) *world {
	t.Helper()
	w := newWorld(t, pool("default", append([]func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux")}, change...)...))
	w.add(pods("large", nodes, "3", "1Gi")...)
	w.provision()
	w.launch(false)
	w.bind()
	require.Len(t, w.nodes(), nodes)
	small := pods("small", nodes, "500m", "256Mi")
	w.add(small...)
	for i, pod := range w.pods() {
		if pod.Labels["app"] == "small" {
			w.place(pod, w.nodes()[i%nodes].Name)
		}
	}
	for _, pod := range w.pods() {
		if pod.Labels["app"] == "large" {
			require.NoError(t, w.kube.Delete(w.ctx, pod))
		}
	}
	w.cluster.Reset()
	w.clock.Step(time.Hour)
	w.observe()
	require.True(t, w.cluster.Synced(w.ctx))
	return w
}

// tainted are the nodes that Karpenter is about to remove.
func tainted(w *world) (out []string) {
	for _, n := range w.nodes() {
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&karpv1.DisruptedNoScheduleTaint) }) {
			out = append(out, n.Name)
		}
	}
	return out
}

// orchestrate has Karpenter's queue look at each command once.
func (w *world) orchestrate() {
	w.t.Helper()
	for _, command := range w.queue.GetCommands() {
		_, err := w.queue.Reconcile(w.ctx, command.Candidates[0].NodeClaim)
		require.NoError(w.t, err)
	}
}

func TestUnderutilizedNodesGo(t *testing.T) {
	w := halfFull(t, 4)
	w.disrupt()
	require.Len(t, w.steps, 1)
	require.NotEmpty(t, w.steps[0].Steps)
	gone := tainted(w)
	require.Len(t, gone, 3, "four pods of half a core fit one node")

	// Karpenter's queue deletes the NodeClaims; its termination controller then drains the nodes.
	w.orchestrate()
	require.Len(t, w.claims(), 1)
}

func TestBudgetOfNodePoolHolds(t *testing.T) {
	w := halfFull(t, 4, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}} })
	w.disrupt()
	require.Len(t, tainted(w), 1)
	w.disrupt()
	require.Len(t, tainted(w), 1)
}

// blocks is a PodDisruptionBudget that allows no eviction of the small pods.
func blocks() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: "default"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "small"}}, MaxUnavailable: new(intstr.FromInt32(0))},
	}
}

func TestPodDisruptionBudgetBlocks(t *testing.T) {
	w := halfFull(t, 4)
	w.add(blocks())
	w.disrupt()
	require.Empty(t, tainted(w))
}

// Karpenter does not count the end of a PodDisruptionBudget as a change of the cluster, but its nodes are candidates again.
func TestNodesAreLookedAtAgainWithoutPodDisruptionBudget(t *testing.T) {
	w := halfFull(t, 2)
	stays := w.pods()[0]
	require.NoError(t, w.kube.Delete(w.ctx, stays))
	w.cluster.DeletePod(keyOf("default", stays.Name))
	pinned := pods("pinned", 1, "500m", "256Mi", func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: stays.Spec.NodeName}
	})
	w.add(append(pinned, blocks())...)
	w.place(pinned[0].(*corev1.Pod), stays.Spec.NodeName) //nolint:forcetypeassert // a pod
	w.disrupt()
	require.Empty(t, tainted(w))
	require.NoError(t, w.kube.Delete(w.ctx, blocks()))
	w.disrupt()
	require.Len(t, tainted(w), 1)
	require.NotContains(t, tainted(w), stays.Spec.NodeName)
}

func TestEmptyNodesGo(t *testing.T) {
	w := halfFull(t, 3)
	for _, pod := range w.pods()[1:] {
		require.NoError(t, w.kube.Delete(w.ctx, pod))
		w.cluster.DeletePod(keyOf("default", pod.Name))
	}
	w.disrupt()
	require.Len(t, tainted(w), 2)
	require.Empty(t, w.steps, "by Karpenter's own method")
}

func TestReplacementComesFirst(t *testing.T) {
	w := halfFull(t, 1)
	p := &karpv1.NodePool{}
	require.NoError(t, w.kube.Get(w.ctx, keyOf("default"), p))
	requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux", "s-2x-amd64-linux")(p) // a smaller type is allowed now
	require.NoError(t, w.kube.Update(w.ctx, p))
	before := w.claims()
	w.disrupt()
	require.Len(t, w.claims(), 2, "the replacement is launched")
	require.Len(t, tainted(w), 1)
	w.orchestrate()
	require.Len(t, w.claims(), 2, "the node waits for its replacement")
	w.launch(false)
	w.orchestrate()
	require.Len(t, w.claims(), 1)
	require.NotEqual(t, before[0].Name, w.claims()[0].Name)
	require.Equal(t, "s-2x-amd64-linux", w.claims()[0].Labels[corev1.LabelInstanceTypeStable])
}

func TestDriftedNodeIsReplaced(t *testing.T) {
	w := halfFull(t, 1)
	claim := w.claims()[0]
	claim.StatusConditions(status.WithClock(w.clock)).SetTrueWithReason(karpv1.ConditionTypeDrifted, "ImageDrift", "the image is old")
	require.NoError(t, w.kube.Status().Update(w.ctx, claim))
	w.disrupt()
	require.Equal(t, []string{claim.Status.NodeName}, tainted(w))
	require.Len(t, w.claims(), 2)
}

func TestChangedClusterDropsCommands(t *testing.T) {
	w := halfFull(t, 2)
	w.exchange(karpenter.Settings{ValidateAfter: time.Second})
	done := make(chan error, 1)
	go func() {
		_, err := w.disrupter.Reconcile(w.ctx)
		done <- err
	}()
	require.Eventually(t, func() bool { return w.clock.HasWaiters() }, patience, time.Millisecond)
	w.add(pods("late", 1, "100m", "64Mi")...)
	w.clock.Step(time.Second)
	require.NoError(t, <-done)
	require.Empty(t, tainted(w))
}

func TestFailedReplacementIsTakenBack(t *testing.T) {
	w := halfFull(t, 1)
	claim := w.claims()[0]
	claim.StatusConditions(status.WithClock(w.clock)).SetTrueWithReason(karpv1.ConditionTypeDrifted, "ImageDrift", "the image is old")
	require.NoError(t, w.kube.Status().Update(w.ctx, claim))
	w.disrupt()
	require.Len(t, tainted(w), 1)
	for _, c := range w.claims() {
		if c.Name != claim.Name { // the provider has no capacity, so that Karpenter deletes the NodeClaim
			require.NoError(t, w.kube.Delete(w.ctx, c))
			w.cluster.DeleteNodeClaim(c.Name)
		}
	}
	w.orchestrate()
	require.Empty(t, tainted(w))
	require.Len(t, w.claims(), 1)
	require.True(t, w.queue.IsEmpty())
}

func TestSpotReplacesSpotOnlyIfAllowed(t *testing.T) {
	w := halfFull(t, 1, requires(karpv1.CapacityTypeLabelKey, nil, "spot"))
	p := &karpv1.NodePool{}
	require.NoError(t, w.kube.Get(w.ctx, keyOf("default"), p))
	requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux", "s-2x-amd64-linux")(p)
	require.NoError(t, w.kube.Update(w.ctx, p))
	w.disrupt()
	require.Empty(t, tainted(w), "feature gate SpotToSpotConsolidation is off")
	w.exchange(karpenter.Settings{ValidateAfter: -1, Disruption: disruption.Planner{SpotToSpotTypes: 1}})
	w.disrupt()
	require.Len(t, tainted(w), 1)
}
