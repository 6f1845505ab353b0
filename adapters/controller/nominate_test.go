package controller

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// round lets a tick pass without kube-scheduler, and reconciles.
func (w *world) round(t *testing.T, c *Controller) error {
	t.Helper()
	w.tick++
	_, err := c.Reconcile(context.Background())
	return err
}

// launchedNodes are the nodes of a world whose pods were planned and whose machines have just joined. kube-scheduler has not
// run since.
func launchedNodes(t *testing.T, c *Controller, w *world) []*corev1.Node {
	t.Helper()
	w.replicate()
	for len(w.instances) == 0 {
		require.NoError(t, w.round(t, c))
	}
	for _, i := range w.instances {
		i.joined = true
		w.join(i)
	}
	var nodes []*corev1.Node
	for _, n := range w.nodes {
		require.True(t, HasTaint(n, StartupTaint()))
		nodes = append(nodes, n)
	}
	return nodes
}

// A node takes in pods only when those that were planned for it are nominated.
func TestPodsAreNominatedBeforeTheNodeOpens(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	launchedNodes(t, c, w)
	require.NoError(t, w.round(t, c))
	want := map[string]string{}
	for _, i := range w.instances {
		for _, pod := range i.order.Launch.Pods {
			want[pod] = i.name
		}
	}
	got := map[string]string{}
	for name, p := range w.pods {
		got[name] = p.Status.NominatedNodeName
	}
	require.Equal(t, want, got)
	for _, n := range w.nodes {
		require.False(t, HasTaint(n, StartupTaint()))
	}
	w.schedule()
	for name, p := range w.pods {
		require.Equal(t, want[name], p.Spec.NodeName)
	}
	require.Equal(t, len(want), c.Stats().Nominated, "each pod once")
	require.NoError(t, w.round(t, c))
	require.Equal(t, len(want), c.Stats().Nominated)
}

// A node that is not ready keeps the taint, because kube-scheduler clears the nominations of pods that fit no node; but not for
// ever.
func TestNodeThatIsNotReadyKeepsTheTaint(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	for _, n := range launchedNodes(t, c, w) {
		n = n.DeepCopy()
		n.Status.Conditions[0].Status = corev1.ConditionFalse
		w.put(n)
	}
	for range int(startupTaintTimeout / tickLength) {
		require.NoError(t, w.round(t, c))
		for _, n := range w.nodes {
			require.True(t, HasTaint(n, StartupTaint()))
		}
	}
	require.Zero(t, c.Stats().Nominated)
	require.NoError(t, w.round(t, c))
	require.NoError(t, w.round(t, c))
	for _, n := range w.nodes {
		require.False(t, HasTaint(n, StartupTaint()))
	}
}

// Nominations that fail are repeated, and the node stays closed meanwhile, but not for ever.
func TestNominationsThatFailAreRepeated(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	nodes := launchedNodes(t, c, w)
	w.faults.nominateFails = 1
	require.ErrorIs(t, w.round(t, c), errCloud)
	require.True(t, HasTaint(w.nodes[nodes[0].Name], StartupTaint()))
	w.faults.nominateFails = 0
	require.NoError(t, w.round(t, c))
	require.False(t, HasTaint(w.nodes[nodes[0].Name], StartupTaint()))
	require.Positive(t, c.Stats().Nominated)

	w = newWorld(t, 1, faults{nominateFails: 1})
	c = w.start(t, 0)
	nodes = launchedNodes(t, c, w)
	for range int(startupTaintTimeout/tickLength) + 2 {
		require.ErrorIs(t, w.round(t, c), errCloud)
	}
	require.False(t, HasTaint(w.nodes[nodes[0].Name], StartupTaint()))
}

// A controller that starts beside nodes with the taint plans first and removes it then; without pending pods it removes it at
// once, also where the provider does not list the node's machine.
func TestTaintIsRemovedAfterARestart(t *testing.T) {
	w := newWorld(t, 1, faults{})
	nodes := launchedNodes(t, w.start(t, 0), w)
	c := w.start(t, 1)
	for rounds := 0; c.Stats().Plans == 0; rounds++ {
		require.Less(t, rounds, 5)
		require.True(t, HasTaint(w.nodes[nodes[0].Name], StartupTaint()))
		require.NoError(t, w.round(t, c))
	}
	require.False(t, HasTaint(w.nodes[nodes[0].Name], StartupTaint()))
	require.Positive(t, c.Stats().Nominated)

	stray := nodes[0].DeepCopy()
	stray.Name = "stray"
	w.put(stray)
	w.schedule()
	require.NoError(t, w.round(t, c))
	require.False(t, HasTaint(w.nodes["stray"], StartupTaint()))
}

// A nomination is taken back when its node goes, and the pod is nominated to its next node.
func TestNominationIsTakenBack(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	launchedNodes(t, c, w)
	require.NoError(t, w.round(t, c))
	gone := w.nodes[slices.Min(slices.Collect(maps.Keys(w.nodes)))]
	before := map[string]bool{}
	for name, p := range w.pods {
		before[name] = p.Status.NominatedNodeName == gone.Name
	}
	w.stop(w.orderOf(gone.Name))
	require.NoError(t, w.round(t, c))
	for name, p := range w.pods {
		if before[name] {
			require.NotEqual(t, gone.Name, p.Status.NominatedNodeName, name)
		} else {
			require.NotEmpty(t, p.Status.NominatedNodeName, scheduling.PodName(p))
		}
	}
}

// orderOf is the ID of the order of a machine.
func (w *world) orderOf(machine string) string {
	for id, i := range w.instances {
		if i.name == machine {
			return id
		}
	}
	return ""
}

// A nomination that kube-scheduler has cleared, because it found no node for the pod at first, is repeated.
func TestClearedNominationIsRepeated(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	launchedNodes(t, c, w)
	require.NoError(t, w.round(t, c))
	require.NoError(t, w.round(t, c))
	before := c.Stats().Nominated
	name := slices.Min(slices.Collect(maps.Keys(w.pods)))
	node := w.pods[name].Status.NominatedNodeName
	require.NotEmpty(t, node)
	pod := w.pods[name].DeepCopy()
	pod.Status.NominatedNodeName = ""
	w.put(pod)
	_, err := c.Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, node, w.pods[name].Status.NominatedNodeName)
	require.Equal(t, before+1, c.Stats().Nominated)
}

// A node that joins with its start-up taint and with the label of nodes that are initialized, e.g. because the provider creates
// it by Launch.Node, is not removed as empty before its pods are nominated.
func TestNodeThatJoinsInitializedIsKept(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	w.replicate()
	for range 13 { // longer than consolidateAfter
		require.NoError(t, w.round(t, c))
	}
	for _, i := range w.instances {
		i.joined = true
		w.join(i)
		node := w.nodes[i.name].DeepCopy()
		node.Labels[scheduling.RegisteredLabel], node.Labels[scheduling.InitializedLabel] = "true", "true"
		w.put(node)
	}
	c.disruptAt = c.clock.elapsed
	require.NoError(t, w.round(t, c))
	require.Zero(t, c.Stats().Steps)
	require.Len(t, w.nodes, len(w.instances))
	for name, p := range w.pods {
		require.NotEmpty(t, p.Status.NominatedNodeName, name)
	}
}

// Where kube-scheduler binds a pod to a node that is promised to others, these are planned again with the next batch.
func TestTakenRoomIsPlannedWithTheNextBatch(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	nodes := launchedNodes(t, c, w)
	require.NoError(t, w.round(t, c))
	before := c.Stats()
	taken := nodes[0].Name
	promised := slices.DeleteFunc(slices.Collect(maps.Keys(w.pods)), func(name string) bool { return w.pods[name].Status.NominatedNodeName != taken })
	require.NotEmpty(t, promised)
	other := w.pod(&app{name: "other", cpu: nodes[0].Status.Allocatable.Cpu().String(), memory: "1Gi"})
	other.Spec.NodeName, other.Status.Phase = taken, corev1.PodRunning
	w.put(other)
	static := w.pod(&app{name: "static", cpu: "100m", memory: "1Gi"}) // plans leave room for it, as for pods of DaemonSets
	static.Spec.NodeName, static.Annotations = nodes[len(nodes)-1].Name, map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
	w.put(static)
	w.skew -= tickLength - time.Second // it is bound one second before the batch ends, and long before bindTimeout
	require.NoError(t, w.round(t, c))
	require.Equal(t, before.Plans, c.Stats().Plans)
	w.skew -= tickLength - time.Second
	require.NoError(t, w.round(t, c))
	require.Equal(t, before.Plans+1, c.Stats().Plans)
	require.Equal(t, before.Replanned+len(promised), c.Stats().Replanned)
	require.Greater(t, c.Stats().Launched, before.Launched)
	for _, name := range promised {
		require.NotNil(t, c.pods.promised[name])
	}
	require.NoError(t, w.round(t, c))
	require.Equal(t, before.Plans+1, c.Stats().Plans, "once")
}
