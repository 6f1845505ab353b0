package binding_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

const zone = corev1.LabelTopologyZone

// node is a node in a zone.
func node(name, in string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{zone: in, corev1.LabelHostname: name}}}
}

// pod is a pod of an app with topology terms.
func pod(name, app string, terms ...func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}}}
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	for _, add := range terms {
		add(&p.Spec)
	}
	return p
}

// running is the pod on a node.
func running(p *corev1.Pod, on string) *corev1.Pod {
	p.Spec.NodeName = on
	return p
}

// of selects the pods of an app.
func of(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func spread(app string, skew int32) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			TopologyKey: zone, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of(app),
		})
	}
}

func near(app string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		terms := &s.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: zone, LabelSelector: of(app)})
	}
}

func apart(app string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		terms := &s.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: zone, LabelSelector: of(app)})
	}
}

// cluster is nodes a in zone 1, b in zone 2 and c in zone 2, with running pods, and pending ones.
func cluster(pods ...*corev1.Pod) (*snapshot.State, *binding.Topology) {
	p := scheduling.Problem{Nodes: []*corev1.Node{node("a", "1"), node("b", "2"), node("c", "2")}, Pods: pods}
	state := snapshot.New(p, scheduling.Policy{})
	return state, binding.NewTopologyOf(state)
}

// bookings are pending pods with the nodes that they are to bind to, from pairs of pod and node.
func bookings(state *snapshot.State, pairs ...string) []binding.Pending {
	var out []binding.Pending
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, binding.Pending{Pod: state.Pods["default/"+pairs[i]], Node: state.Nodes[pairs[i+1]]})
	}
	slices.SortFunc(out, binding.ByBindingOrder)
	return out
}

// A pod that cannot bind yet tries again once others have bound, as in kube-scheduler's queue.
func TestPodsThatWaitTryAgain(t *testing.T) {
	t.Parallel()
	state, topology := cluster(pod("first", "web", near("db")), pod("second", "db"))
	outcome := topology.Bind(bookings(state, "first", "b", "second", "c"))
	assert.Empty(t, outcome.Waiting, "the pod that first asks for binds after it, in the same zone")
	outcome.Undo()
	outcome = topology.Bind(bookings(state, "first", "a", "second", "c"))
	require.Len(t, outcome.Waiting, 1, "not in another zone")
	assert.Equal(t, rule.PodAffinity, outcome.Waiting[0].By.Rule)
	assert.Equal(t, "default/first", outcome.Waiting[0].Pod.Name)
}

// The obstacle is the term that keeps the pod off, with the counts that decide.
func TestObstacles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		running *corev1.Pod
		pending *corev1.Pod
		to      string
		want    string
	}{
		{"an even spread", running(pod("r", "web"), "a"), pod("p", "web", spread("web", 1)), "c", ""},
		{"a spread beyond its skew", running(pod("r", "web"), "a"), pod("p", "web", spread("web", 1)), "a",
			"topology-spread over topology.kubernetes.io/zone (pods of namespaces [\"default\"], labels app in (web), not being deleted): 1 would have 2 pods, the minimum over domains is 0, maxSkew is 1"},
		{"affinity to a pod that is there", running(pod("r", "db"), "b"), pod("p", "web", near("db")), "c", ""},
		{"affinity without such a pod", running(pod("r", "db"), "b"), pod("p", "web", near("db")), "a",
			"pod-affinity over topology.kubernetes.io/zone (pods of namespaces [\"default\"], labels app in (db)): 1 has 0 of these pods"},
		{"affinity to its own kind, of which it is the first", running(pod("r", "db"), "b"), pod("p", "web", near("web")), "a", ""},
		{"anti-affinity", running(pod("r", "db"), "b"), pod("p", "web", apart("db")), "c",
			"pod-anti-affinity over topology.kubernetes.io/zone (pods of namespaces [\"default\"], labels app in (db)): 2 has 1 of these pods"},
		{"anti-affinity of a running pod", running(pod("r", "db", apart("web")), "b"), pod("p", "web"), "c",
			"pod-anti-affinity of other pods over topology.kubernetes.io/zone (pods of namespaces [\"default\"], labels app in (web)): 2 has 1 of these pods"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			state, topology := cluster(tc.running, tc.pending)
			outcome := topology.Bind(bookings(state, "p", tc.to))
			if tc.want == "" {
				assert.Empty(t, outcome.Waiting)
				return
			}
			require.Len(t, outcome.Waiting, 1)
			assert.Equal(t, tc.want, outcome.Waiting[0].By.String())
		})
	}
}

// A domain without nodes does not count for a spread, unless it is kept until the end of a step.
func TestKeptDomainsCount(t *testing.T) {
	t.Parallel()
	state, topology := cluster(running(pod("r", "web"), "b"), pod("p", "web", spread("web", 1)))
	booked := bookings(state, "p", "c")
	gone := topology.Named["a"]
	topology.RemoveNode(gone)
	outcome := topology.Bind(booked)
	assert.Empty(t, outcome.Waiting, "zone 2 is the only one")
	outcome.Undo()
	end := topology.Keep(topology.GroupOf(booked[0].Pod), gone, func(_, value string) bool { return value == "1" })
	assert.Len(t, topology.Bind(booked).Waiting, 1, "zone 1 is empty, and 2 more than the skew above it")
	end()
	outcome = topology.Bind(booked)
	assert.Empty(t, outcome.Waiting)
}

// Counters equal a count of all pods anew, in whatever order nodes and pods come and go, and what is undone leaves no trace.
func TestCountersEqualARecount(t *testing.T) {
	t.Parallel()
	waited := 0
	for seed := range uint64(race.Fewer(300, 40)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var pods []*corev1.Pod
		for i := range 8 {
			app := []string{"web", "db"}[rng.IntN(2)]
			term := []func(*corev1.PodSpec){spread("web", 1), spread("db", 2), near("web"), near("db"), apart("db"), func(*corev1.PodSpec) {}}[rng.IntN(6)]
			p := pod(fmt.Sprint("p", i), app, term)
			if rng.IntN(3) == 0 {
				running(p, []string{"a", "b", "c"}[rng.IntN(3)])
			}
			pods = append(pods, p)
		}
		state, topology := cluster(pods...)
		var booked []binding.Pending
		on := make(map[string][]*snapshot.Pod) // by zone
		for _, t := range state.SortedPods() {
			booked = append(booked, binding.Pending{Pod: t, Node: state.SortedNodes()[rng.IntN(3)]})
		}
		first := topology.Bind(booked)
		first.Undo()
		if rng.IntN(2) == 0 { // a node that comes back is as if it had never left
			topology.RemoveNode(state.Nodes["b"])
			topology.AddNode(state.Nodes["b"])
		}
		outcome := topology.Bind(booked)
		require.Equal(t, names(first.Waiting), names(outcome.Waiting), "seed %d: undone", seed)
		outcome.Undo()
		outcome.Redo()
		waited += len(outcome.Waiting)
		waits := names(outcome.Waiting)
		for _, b := range booked {
			if !slices.Contains(waits, b.Pod.Name) {
				value, _ := b.Node.Value(zone)
				on[value] = append(on[value], b.Pod)
			}
		}
		for _, b := range booked {
			g := topology.GroupOf(b.Pod)
			for i, c := range g.Spread {
				want := map[string]int{"1": 0, "2": 0}
				for value, there := range on {
					for _, p := range there {
						if b.Pod.Terms.Spread[i].Pods.Has(p.Identity) {
							want[value]++
						}
					}
				}
				for _, r := range state.Residents {
					if value, _ := state.Nodes[r.Node].Value(zone); b.Pod.Terms.Spread[i].Pods.Has(r.Identity) {
						want[value]++
					}
				}
				got := map[string]int{"1": c.Counts["1"], "2": c.Counts["2"]}
				require.Equal(t, want, got, "seed %d: %s", seed, b.Pod.Name)
				require.Equal(t, slices.Min(slices.Collect(maps.Values(want))), c.Least(1), "seed %d: %s", seed, b.Pod.Name)
			}
		}
	}
	assert.Greater(t, waited, race.Fewer(50, 5), "some pods cannot bind")
}

// names are the names of pods that wait.
func names(waiting []binding.Unbound) (out []string) {
	for _, b := range waiting {
		out = append(out, b.Pod.Name)
	}
	return out
}
