package karpenter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// TestRounds has services grow and shrink for some hours, on nodes that come late, with a scheduler that takes the emptiest
// node. Every plan passes package verify; in the end every pod has a node, and no node goes or comes any more.
func TestRounds(t *testing.T) {
	w := newWorld(t, pool("default", requires(karpv1.CapacityTypeLabelKey, nil, "spot", "on-demand")), pool("small", requires(corev1.LabelInstanceTypeStable, nil, "c-2x-amd64-linux", "s-2x-amd64-linux")))
	random := rand.New(rand.NewPCG(1, 52))
	sizes := []struct{ cpu, memory string }{{"200m", "256Mi"}, {"500m", "2Gi"}, {"1", "1Gi"}, {"1900m", "3Gi"}, {"3", "12Gi"}}
	rounds := 24
	if testing.Short() {
		rounds = 9
	}
	for round := range rounds {
		s := sizes[random.IntN(len(sizes))]
		if round%3 == 2 {
			w.shrink(random)
		} else {
			w.add(pods(fmt.Sprintf("round-%d", round), 1+random.IntN(8), s.cpu, s.memory)...)
		}
		w.provision()
		w.launch(random.IntN(3) == 0)
		w.schedule()
		w.remove()
	}
	launched := 0
	for calm := 0; calm < 3; {
		before := len(w.claims())
		w.launch(false)
		w.schedule()
		w.provision()
		w.remove()
		if calm++; len(w.claims()) != before || w.waiting() > 0 || !w.queue.IsEmpty() {
			calm = 0
		}
		launched++
		require.Less(t, launched, 30, "nodes come and go for ever")
	}
	require.Zero(t, w.waiting())
	require.NotEmpty(t, w.steps)
}

// shrink deletes a third of the pods.
func (w *world) shrink(random *rand.Rand) {
	w.t.Helper()
	for _, pod := range w.pods() {
		if random.IntN(3) == 0 {
			w.evict(pod)
		}
	}
}

// evict deletes a pod.
func (w *world) evict(pod *corev1.Pod) {
	w.t.Helper()
	require.NoError(w.t, w.kube.Delete(w.ctx, pod))
	w.cluster.DeletePod(client.ObjectKeyFromObject(pod))
}

// waiting is the number of pods without a node.
func (w *world) waiting() (n int) {
	for _, pod := range w.pods() {
		if pod.Spec.NodeName == "" {
			n++
		}
	}
	return n
}

// schedule binds pending pods to the ready node with the most free CPU that they fit.
func (w *world) schedule() {
	w.t.Helper()
	free := map[string]corev1.ResourceList{}
	all := w.pods()
	for _, n := range w.nodes() {
		if n.Labels[karpv1.NodeInitializedLabelKey] != "true" || len(n.Spec.Taints) > 0 {
			continue
		}
		on := resources.RequestsForPods(slices.DeleteFunc(slices.Clone(all), func(p *corev1.Pod) bool { return p.Spec.NodeName != n.Name })...)
		free[n.Name] = resources.Subtract(n.Status.Allocatable, on)
	}
	for _, pod := range all {
		if pod.Spec.NodeName != "" {
			continue
		}
		best, most, asks := "", resource.Quantity{}, resources.RequestsForPods(pod)
		for _, n := range w.nodes() {
			if room := free[n.Name]; room != nil && resources.Fits(asks, room) && (best == "" || room.Cpu().Cmp(most) > 0) {
				best, most = n.Name, *room.Cpu()
			}
		}
		if best != "" {
			free[best] = resources.Subtract(free[best], asks)
			w.place(pod, best)
		}
	}
	w.observe()
}

// remove lets ten minutes pass, has nodes removed, and drains them; controllers make the evicted pods anew.
func (w *world) remove() {
	w.t.Helper()
	w.clock.Step(10 * time.Minute)
	w.disrupt()
	w.launch(false)
	w.orchestrate()
	for _, n := range w.nodes() {
		if slices.ContainsFunc(w.claims(), func(c *karpv1.NodeClaim) bool { return c.Status.ProviderID == n.Spec.ProviderID }) {
			continue
		}
		for _, pod := range w.pods() {
			if pod.Spec.NodeName != n.Name {
				continue
			}
			w.evict(pod)
			again := pods("again", 1, "1", "1")[0].(*corev1.Pod)
			again.Name, again.Labels, again.OwnerReferences, again.Spec = pod.Name, pod.Labels, pod.OwnerReferences, *pod.Spec.DeepCopy()
			again.Spec.NodeName = ""
			w.add(again)
		}
		require.NoError(w.t, w.kube.Delete(w.ctx, n))
		w.cluster.DeleteNode(n.Name)
	}
	left := map[string]bool{}
	for _, c := range w.claims() {
		left[c.Name] = true
	}
	for _, n := range w.cluster.DeepCopyNodes() {
		if n.NodeClaim != nil && !left[n.NodeClaim.Name] {
			w.cluster.DeleteNodeClaim(n.NodeClaim.Name)
		}
	}
}
