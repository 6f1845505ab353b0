package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// The state of a cluster admits the pods that kube-scheduler's filters admit, as they are stated here once more: pod by
// pod, over the objects. Pods come and go at random, and a fork goes its own way.
func TestStateAdmitsAsTheFiltersDo(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t, r)
		s, twin := w.model.Begin(), w.naive
		compare := func(s *cluster.State, twin naive) {
			for i, p := range w.pending {
				if twin.of(p) != nil {
					continue
				}
				for n, node := range w.nodes {
					require.Equal(t, twin.admits(p, node), s.Admits(w.class[i], w.number[n]), "seed %d: pod %s on %s", seed, p.Name, node.Name)
					violated := s.Violations(w.class[i], func(axis int) int32 { return s.Domain(axis, w.number[n]) })
					require.Equal(t, twin.spreads(p, node) && twin.follows(p, node) && twin.keepsApart(p, node), len(violated) == 0, "seed %d: terms of pod %s on %s", seed, p.Name, node.Name)
				}
			}
		}
		compare(s, twin)
		play := func(s *cluster.State, twin naive) {
			for range 8 {
				i, n := r.IntN(len(w.pending)), r.IntN(len(w.nodes))
				if on := twin.of(w.pending[i]); on != nil {
					s.Remove(w.class[i], w.number[slices.Index(w.nodes, on)], twin.deleted[w.pending[i]])
					twin.remove(w.pending[i])
				} else {
					deleted := r.IntN(4) == 0
					s.Place(w.class[i], w.number[n], deleted)
					twin.place(w.pending[i], w.nodes[n], deleted)
				}
			}
			compare(s, twin)
		}
		play(s, twin)
		fork, other := s.Fork(), twin.fork()
		play(fork, other)
		compare(s, twin)
		play(s, twin)
		compare(fork, other)
	}
}

// world is a random cluster with pods that wait.
type world struct {
	nodes   []*corev1.Node
	pending []*corev1.Pod
	model   *cluster.Model
	class   []int32 // by pending pod
	number  []int32 // by node
	naive   naive
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{naive: naive{on: map[*corev1.Pod]*corev1.Node{}, deleted: map[*corev1.Pod]bool{}}}
	for i := range 5 {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{corev1.LabelHostname: fmt.Sprint("n", i)}}}
		if r.IntN(5) > 0 {
			n.Labels[corev1.LabelTopologyZone] = []string{"x", "y", "z"}[r.IntN(3)]
		}
		if r.IntN(4) == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
		}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourcePods: resource.MustParse("20")}
		w.nodes = append(w.nodes, n)
	}
	p := scheduling.Problem{Nodes: w.nodes}
	for i := range 10 {
		pod := randomPod(r, fmt.Sprint("p", i))
		if i < 3 {
			pod.Spec.NodeName, pod.Status.Phase = w.nodes[r.IntN(5)].Name, corev1.PodRunning
			if r.IntN(3) == 0 {
				pod.DeletionTimestamp = &metav1.Time{}
			}
			p.Running = append(p.Running, pod)
			w.naive.place(pod, w.nodes[slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName })], pod.DeletionTimestamp != nil)
		} else {
			p.Pods, w.pending = append(p.Pods, pod), append(w.pending, pod)
		}
	}
	w.naive.nodes = &w.nodes
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	in := facts.Compile(false)
	w.model = cluster.New(in)
	byPod := in.ClassByPod()
	for _, pod := range w.pending {
		c, ok := byPod["shop/"+pod.Name]
		require.True(t, ok, pod.Name)
		w.class = append(w.class, int32(c))
	}
	for _, n := range w.nodes {
		number, ok := w.model.Node(n.Name)
		require.True(t, ok)
		w.number = append(w.number, number)
	}
	return w
}

func randomPod(r *rand.Rand, name string) *corev1.Pod {
	apps := []string{"web", "db"}
	selector := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": apps[r.IntN(2)]}}
	}
	key := func() string { return []string{corev1.LabelTopologyZone, corev1.LabelHostname}[r.IntN(2)] }
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": apps[r.IntN(2)]}}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse([]string{"500m", "1"}[r.IntN(2)])}}}}
	if r.IntN(6) == 0 {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	}
	if r.IntN(2) == 0 {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
	}
	if r.IntN(4) == 0 {
		p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "x"}
	}
	policy := func() *corev1.NodeInclusionPolicy {
		return []*corev1.NodeInclusionPolicy{nil, new(corev1.NodeInclusionPolicyHonor), new(corev1.NodeInclusionPolicyIgnore)}[r.IntN(3)]
	}
	for range r.IntN(3) {
		c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.IntN(2)), TopologyKey: key(), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector(), NodeAffinityPolicy: policy(), NodeTaintsPolicy: policy()}
		if r.IntN(3) == 0 {
			c.MinDomains = new(int32(1 + r.IntN(4)))
		}
		if !slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(o corev1.TopologySpreadConstraint) bool { return o.TopologyKey == c.TopologyKey }) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
		}
	}
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	if r.IntN(3) == 0 {
		p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{TopologyKey: key(), LabelSelector: selector()}}
	}
	if r.IntN(3) == 0 {
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{{TopologyKey: key(), LabelSelector: selector()}}
	}
	return p
}
