package karpenter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// reader reads the world.
func (w *world) reader() karpenter.Reader {
	return karpenter.Reader{Client: w.kube, Cluster: w.cluster, CloudProvider: w.cloud, Clock: w.clock, Recorder: w.published}
}

func (w *world) read() *karpenter.Snapshot {
	w.t.Helper()
	pending, err := w.own.GetPendingPods(w.ctx)
	require.NoError(w.t, err)
	s, err := w.reader().Read(w.ctx, pending)
	require.NoError(w.t, err)
	return s
}

func TestReaderFollowsNodes(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("web", 1, "1", "1Gi")...)
	w.provision()
	w.launch(true)
	s := w.read()
	require.Len(t, s.Cluster.Nodes, 1, "the NodeClaim is a node that starts")
	starting := s.Cluster.Nodes[0]
	require.NotEmpty(t, starting.Status.Allocatable)
	require.NotEqual(t, "true", starting.Labels[scheduling.InitializedLabel])
	require.Equal(t, starting.Name, s.Cluster.Nominated[types.NamespacedName{Namespace: "default", Name: "web-0"}])

	w.launch(false)
	w.bind()
	s = w.read()
	require.Len(t, s.Cluster.Nodes, 1)
	require.Equal(t, "true", s.Cluster.Nodes[0].Labels[scheduling.InitializedLabel])
	require.Empty(t, s.Cluster.Pods)
	require.Len(t, s.Cluster.Running, 1)
	require.Len(t, s.Cluster.Machines, 1)
	require.Equal(t, w.clock.Now().Truncate(time.Second), s.Cluster.Machines[0].Initialized.UTC().Truncate(time.Second))

	// A node that Karpenter has marked for deletion is being deleted, and its pods need other nodes.
	w.cluster.MarkForDeletion(w.nodes()[0].Spec.ProviderID)
	s = w.read()
	require.NotNil(t, s.Cluster.Nodes[0].DeletionTimestamp)
	require.Empty(t, s.Cluster.Running)
	require.Len(t, s.Cluster.Pods, 1)
	require.Empty(t, s.Cluster.Pods[0].Spec.NodeName)
	require.Empty(t, s.Cluster.Nominated)
	require.Equal(t, scheduling.SuccessorUID, s.Cluster.Pods[0].UID, "another pod, whose ephemeral volumes are new")
	require.Nil(t, w.nodes()[0].DeletionTimestamp)
	require.Equal(t, s.Cluster.Nodes[0].Name, w.pods()[0].Spec.NodeName, "the pod itself is not changed")

	w.provision()
	require.Len(t, w.claims(), 2)
}

func TestReaderFollowsNominations(t *testing.T) {
	w := halfFull(t, 1)
	id := w.nodes()[0].Spec.ProviderID
	w.cluster.NominateNodeForPod(w.ctx, id)
	require.True(t, w.read().Cluster.Machines[0].NominatedUntil.After(w.clock.Now()))
}

func TestReaderLeavesNodePoolsOut(t *testing.T) {
	late, broken := pool("late"), pool("broken")
	late.StatusConditions().SetFalse(karpv1.ConditionTypeNodeClassReady, "NotReady", "the node class is not ready")
	broken.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "many"}}
	w := newWorld(t, pool("default"), late, broken)
	s := w.read()
	require.Len(t, s.Cluster.NodePools, 1)
	require.Equal(t, "default", s.Cluster.NodePools[0].Name)
	text := ""
	for _, warning := range s.Warnings {
		text += warning.Object + ": " + warning.Message + "\n"
	}
	require.Contains(t, text, "NodePool/late: status.conditions[Ready]")
	require.Contains(t, text, "broken")
	require.Contains(t, text, "many")
	w.add(pods("web", 1, "1", "1Gi")...)
	w.provision()
	require.Len(t, w.claims(), 1)
}

// A pod that the planner refuses keeps no other pod from its node.
func TestReaderLeavesPodsOut(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("odd", 1, "1", "1Gi", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	})...)
	w.add(pods("web", 1, "1", "1Gi")...)
	w.provision()
	require.Len(t, w.claims(), 1)
	require.Empty(t, w.cluster.PodNodeClaimMapping(keyOf("default", "odd-0")))
	require.NotEmpty(t, w.cluster.PodNodeClaimMapping(keyOf("default", "web-0")))
}

// Pods may be bound between the list of pending pods and the list of all pods.
func TestReaderCountsPodsOnce(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("web", 2, "1", "1Gi")...)
	w.provision()
	w.launch(false)
	pending, err := w.own.GetPendingPods(w.ctx)
	require.NoError(t, err)
	require.Len(t, pending, 2)
	w.place(w.pods()[0], w.nodes()[0].Name)
	s, err := w.reader().Read(w.ctx, pending)
	require.NoError(t, err)
	require.Len(t, s.Cluster.Pods, 1)
	require.Len(t, s.Cluster.Running, 1)
}

// A node has joined, and its NodeClaim does not name it yet.
func TestReaderKnowsNodesBeforeTheyAreRegistered(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("web", 1, "1", "1Gi")...)
	w.provision()
	w.launch(true)
	require.Eventually(t, func() bool { return len(w.nodes()) == 1 }, patience, time.Millisecond)
	w.observe()
	require.Empty(t, w.claims()[0].Status.NodeName)
	s := w.read()
	require.Len(t, s.Cluster.Nodes, 1)
	require.Equal(t, w.nodes()[0].Name, s.Cluster.Nodes[0].Name)
	require.Equal(t, w.nodes()[0].Name, s.Cluster.Nominated[keyOf("default", "web-0")])
	w.provision()
	require.Len(t, w.claims(), 1)
}

// With a running pod that the planner refuses goes its node, whose free room is not known.
func TestReaderLeavesNodesOfRefusedPodsOut(t *testing.T) {
	w := halfFull(t, 2)
	odd := w.pods()[0]
	odd.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	require.NoError(t, w.kube.Update(w.ctx, odd))
	s := w.read()
	require.Len(t, s.Cluster.Nodes, 1)
	require.Len(t, s.Cluster.Running, 1)
	require.Len(t, s.Cluster.Machines, 1)
	require.Contains(t, s.Warnings[len(s.Warnings)-1].Object, "running[default/small-0]")
}
