package landing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// node is a node in a zone.
func node(name, zone string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110")}},
	}
}

// pod is a running pod of an app.
func pod(name, app, on string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Name: "c"}}},
	}
}

func ofApp(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func spreadOverZones(p *corev1.Pod, skew int32) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: skew, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: ofApp(p.Labels["app"]),
	}}
}

func read(t *testing.T, nodes []*corev1.Node, pods []*corev1.Pod) *landing.Landing {
	t.Helper()
	l, err := landing.New(landing.Cluster{Problem: scheduling.Problem{Nodes: nodes}, Policy: &scheduling.Policy{}, Movable: pods})
	require.NoError(t, err)
	return l
}

// The domain of a drained node still counts for spreads when its last pod has left, if nodes may be launched there. To
// ask changes nothing, and what was done can be undone.
func TestPossible(t *testing.T) {
	for _, offered := range []bool{true, false} {
		var nodes []*corev1.Node
		var pods []*corev1.Pod
		for _, x := range [][2]string{{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "z"}} {
			p := pod(x[0], "web", x[0])
			spreadOverZones(p, 2)
			nodes, pods = append(nodes, node(x[0], x[1])), append(pods, p)
		}
		step := &landing.Step{Drain: []string{"a", "d"}, Moves: []landing.Move{{Pod: "shop/d", From: "d", To: "b"}, {Pod: "shop/a", From: "a", To: "c"}}}
		s := read(t, nodes, pods).Try(step, func(string, string) bool { return offered })
		a, d := s.Pods["shop/a"], s.Pods["shop/d"]
		for range 2 {
			assert.True(t, s.Possible([]*landing.Pod{d, a}, true))
			assert.Equal(t, !offered, s.Possible([]*landing.Pod{d}, true), "zone x would hold 3 pods, and z none")
			mark := s.Mark()
			assert.True(t, s.Possible([]*landing.Pod{d, a}, false))
			assert.Equal(t, [2]string{"c", "b"}, [2]string{a.On, d.On})
			s.Undo(mark)
			assert.Equal(t, [2]string{"a", "d"}, [2]string{a.On, d.On})
		}
	}
}

// After any moves, pods may land where they may in a cluster that is read anew with the pods in their new places, and
// when the moves are undone, where they could before.
func TestMovesAsReadAnew(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var nodes []*corev1.Node
		for i := range 6 {
			nodes = append(nodes, node(fmt.Sprint("n", i), []string{"x", "y", "z"}[r.IntN(3)]))
		}
		var pods []*corev1.Pod
		for i := range 9 {
			p := pod(fmt.Sprint("p", i), []string{"web", "db"}[r.IntN(2)], nodes[r.IntN(6)].Name)
			term := []corev1.PodAffinityTerm{{TopologyKey: []string{corev1.LabelTopologyZone, corev1.LabelHostname}[r.IntN(2)], LabelSelector: ofApp([]string{"web", "db"}[r.IntN(2)])}}
			switch r.IntN(4) {
			case 0:
				spreadOverZones(p, int32(1+r.IntN(2)))
			case 1:
				p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
			case 2:
				p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
			}
			if r.IntN(8) == 0 {
				p.DeletionTimestamp = &metav1.Time{}
			}
			pods = append(pods, p)
		}
		begin := func() *landing.Trial {
			step := &landing.Step{}
			for _, p := range pods {
				step.Moves = append(step.Moves, landing.Move{Pod: "shop/" + p.Name, From: p.Spec.NodeName})
			}
			return read(t, nodes, pods).Try(step, func(string, string) bool { return false })
		}
		fits := func(s *landing.Trial) (out []bool) {
			for _, p := range pods {
				x, mark := s.Pods["shop/"+p.Name], s.Mark()
				to := x.To
				s.Move(x, "")
				for _, n := range nodes {
					x.To = n.Name
					out = append(out, s.Fits(x))
				}
				x.To = to
				s.Undo(mark)
			}
			return out
		}
		s := begin()
		before := fits(s)
		for range 5 {
			p := pods[r.IntN(len(pods))].DeepCopy()
			to := nodes[r.IntN(6)].Name
			s.Move(s.Pods["shop/"+p.Name], "")
			s.Move(s.Pods["shop/"+p.Name], to)
			p.Spec.NodeName, p.DeletionTimestamp = to, nil
			for i := range pods {
				if pods[i].Name == p.Name {
					pods[i] = p
				}
			}
		}
		require.Equal(t, fits(begin()), fits(s), "seed %d", seed)
		s.Undo(0)
		require.Equal(t, before, fits(s), "seed %d", seed)
	}
}

// Pods that only differ in their preferences may exchange their nodes, because filters do not read these.
func TestAlike(t *testing.T) {
	plain, prefers, spread := pod("a", "web", "n"), pod("b", "web", "n"), pod("c", "web", "n")
	prefers.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
		{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: ofApp("web")}},
	}}}
	spreadOverZones(spread, 1)
	step := &landing.Step{Moves: []landing.Move{{Pod: "shop/a", From: "n"}, {Pod: "shop/b", From: "n"}, {Pod: "shop/c", From: "n"}}}
	s := read(t, []*corev1.Node{node("n", "x")}, []*corev1.Pod{plain, prefers, spread}).Try(step, func(string, string) bool { return false })
	assert.Equal(t, s.Alike(s.Pods["shop/a"]), s.Alike(s.Pods["shop/b"]))
	assert.NotEqual(t, s.Alike(s.Pods["shop/a"]), s.Alike(s.Pods["shop/c"]))
}

// A pod that cannot be placed again, e.g. because a device that it claims is not known, takes its room, and lands nowhere.
func TestPodsThatCannotBePlacedHoldTheirRoom(t *testing.T) {
	asks := func(p *corev1.Pod, cpu string) *corev1.Pod {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		return p
	}
	claims := asks(pod("claims", "db", "a"), "6")
	claims.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
	moves := asks(pod("moves", "web", "b"), "4")
	nodes := []*corev1.Node{node("a", "x"), node("b", "x")}
	l := read(t, nodes, []*corev1.Pod{claims, moves})
	to := func(step *landing.Step) string { return l.Fork(0).Play(step, nil)[0].To }
	require.Empty(t, to(&landing.Step{Drain: []string{"b"}, Moves: []landing.Move{{Pod: "shop/moves", From: "b", Wave: 1}}}))
	require.Empty(t, to(&landing.Step{Drain: []string{"a"}, Moves: []landing.Move{{Pod: "shop/claims", From: "a", Wave: 1}}}))
	require.Equal(t, "a", read(t, nodes, []*corev1.Pod{moves}).Play(&landing.Step{Drain: []string{"b"}, Moves: []landing.Move{{Pod: "shop/moves", From: "b", Wave: 1}}}, nil)[0].To)
}

// A virtual pod whose room is lost with a step has no node to move from in the next one.
func TestLostRoomDoesNotMove(t *testing.T) {
	spare := pod("spare", "web", "b")
	spare.Annotations = map[string]string{scheduling.VirtualPodAnnotation: "true"}
	spare.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6")}
	busy := pod("busy", "db", "a")
	busy.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	l := read(t, []*corev1.Node{node("a", "x"), node("b", "x"), node("c", "x")}, []*corev1.Pod{spare, busy})
	lost := []landing.Move{{Pod: "shop/spare", From: "b", Wave: 1}}
	require.Equal(t, lost, l.Play(&landing.Step{Drain: []string{"b"}}, []string{"c"}))
	require.Empty(t, l.Play(&landing.Step{Drain: []string{"c"}}, nil))
}

// TestSuits: a node suits a pod as the planner would ask, e.g. the startup taint of a node that is still starting keeps no
// pod off, and a cordon keeps pods off before the node controller has tainted the node.
func TestSuits(t *testing.T) {
	starting, cordoned, dedicated := node("starting", "x"), node("cordoned", "x"), node("dedicated", "x")
	starting.Labels[scheduling.NodePoolLabel] = "pool"
	starting.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	cordoned.Spec.Unschedulable = true
	dedicated.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	l := read(t, []*corev1.Node{node("plain", "x"), starting, cordoned, dedicated}, []*corev1.Pod{pod("a", "web", "plain")})
	for on, want := range map[string]bool{"plain": true, "starting": true, "cordoned": false, "dedicated": false, "absent": false} {
		assert.Equal(t, want, l.Suits("shop/a", on), on)
	}
	assert.False(t, l.Suits("shop/absent", "plain"))
}
