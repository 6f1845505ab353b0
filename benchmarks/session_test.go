package benchmarks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// efforts returns the efforts at which sessions are measured, by name.
func efforts() map[string]scheduling.Effort {
	return map[string]scheduling.Effort{"fast": scheduling.EffortFast, "default": scheduling.EffortDefault}
}

// BenchmarkCold plans 100 new pods for a large cluster from nothing.
func BenchmarkCold(b *testing.B) {
	for _, ties := range []bool{false, true} {
		for _, e := range []string{"fast", "default"} {
			b.Run(fmt.Sprintf("ties=%t/effort=%s", ties, e), func(b *testing.B) {
				measure(b, scheduling.Policy{Effort: efforts()[e]}, grown(b, 5_000, 100, ties))
			})
		}
	}
}

// BenchmarkRoom plans 100 new pods that fit onto existing nodes: in a session, and without one.
func BenchmarkRoom(b *testing.B) {
	p := grown(b, 5_000, 0, false)
	first := small(arriving(200, false))[:100]
	second := small(arriving(200, false))[:100]
	for _, pod := range second {
		pod.Name += "-again"
	}
	b.Run("cold", func(b *testing.B) {
		q := p
		q.Pods = first
		measure(b, scheduling.Policy{}, q)
	})
	b.Run("warm", func(b *testing.B) {
		s, err := provisioning.NewSession(scheduling.Policy{}, p)
		require.NoError(b, err)
		again(b, s, first, second)
	})
}

// BenchmarkSettling plans 100 new pods that fit onto existing nodes, in a session. Before each round, the pods of the
// last round run where they were planned, and those of the round before have ended.
func BenchmarkSettling(b *testing.B) {
	s, err := provisioning.NewSession(scheduling.Policy{}, grown(b, 5_000, 0, false))
	require.NoError(b, err)
	var running []*corev1.Pod
	waiting, plan := []*corev1.Pod(nil), &scheduling.Plan{}
	b.ReportAllocs()
	cpu := cputime.Used()
	for n := 0; b.Loop(); n++ {
		d := scheduling.Delta{Removed: scheduling.Removed{Pods: names(running)}}
		running = bound(&scheduling.Problem{Pods: waiting}, plan)
		waiting = small(arriving(200, false))[:100]
		for _, pod := range waiting {
			pod.Name = fmt.Sprintf("%s-%d", pod.Name, n)
		}
		d.Pods = slices.Concat(running, waiting)
		if err := s.Apply(d); err != nil {
			b.Fatal(err)
		}
		if plan, err = s.Plan(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cputime.Used()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// small returns the pods that fit onto existing nodes. It takes the others out of the list.
func small(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool {
		return pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() >= 2_000
	})
}

// BenchmarkWarm plans 100 new pods for the same cluster in a session, the pods of the
// time before being gone.
func BenchmarkWarm(b *testing.B) {
	warm(b, func(ties bool) [][]*corev1.Pod {
		first, second := arriving(100, ties), arriving(100, ties)
		for _, pod := range second {
			pod.Name += "-again"
		}
		return [][]*corev1.Pod{first, second}
	})
}

// BenchmarkWarmMixed is the same with pods that come in other numbers of each workload, and
// of other workloads, every time.
func BenchmarkWarmMixed(b *testing.B) { warm(b, mixedLots) }

// mixedLots are many lots of a hundred pods.
func mixedLots(ties bool) [][]*corev1.Pod {
	random := rand.New(rand.NewPCG(7, 100))
	lots := make([][]*corev1.Pod, 64)
	for i := range lots {
		pods := arriving(1_000, ties)
		random.Shuffle(len(pods), func(a, b int) { pods[a], pods[b] = pods[b], pods[a] })
		missing := pods[0].Labels["app"]
		pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Labels["app"] == missing })[:100]
		for _, pod := range pods {
			pod.Name = fmt.Sprintf("%s-%d", pod.Name, i)
		}
		lots[i] = pods
	}
	return lots
}

// warm plans lots of pods for a large cluster in a session.
func warm(b *testing.B, lots func(ties bool) [][]*corev1.Pod) {
	for _, ties := range []bool{false, true} {
		for _, e := range []string{"fast", "default"} {
			b.Run(fmt.Sprintf("ties=%t/effort=%s", ties, e), func(b *testing.B) {
				s, err := provisioning.NewSession(scheduling.Policy{Effort: efforts()[e]}, grown(b, 5_000, 0, ties))
				require.NoError(b, err)
				again(b, s, lots(ties)...)
			})
		}
	}
}

// again lets one lot of pods take the place of the one before, and plans.
func again(b *testing.B, s *provisioning.Session, lots ...[]*corev1.Pod) {
	last := lots[len(lots)-1]
	require.NoError(b, s.Apply(scheduling.Delta{Pods: last}))
	_, err := s.Plan(b.Context())
	require.NoError(b, err)
	b.ReportAllocs()
	cpu := cputime.Used()
	for n := 0; b.Loop(); n++ {
		next := lots[n%len(lots)]
		if err := s.Apply(scheduling.Delta{Pods: next, Removed: scheduling.Removed{Pods: names(last)}}); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Plan(b.Context()); err != nil {
			b.Fatal(err)
		}
		last = next
	}
	b.ReportMetric(float64((cputime.Used()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func names(pods []*corev1.Pod) []types.NamespacedName {
	out := make([]types.NamespacedName, len(pods))
	for i, pod := range pods {
		out[i] = types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	return out
}

// A session plans new pods of a cluster as a planner without a session does.
func TestWarmIsCold(t *testing.T) {
	for _, ties := range []bool{false, true} {
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		p := grown(t, 60, 0, ties)
		s, err := provisioning.NewSession(solver, p)
		require.NoError(t, err)
		for round := range 3 {
			p.Pods = append(p.Pods, arriving(30, ties)...)
			for _, pod := range p.Pods[len(p.Pods)-30:] {
				pod.Name = fmt.Sprintf("%s-%d", pod.Name, round)
			}
			require.NoError(t, s.Apply(scheduling.Delta{Pods: p.Pods[len(p.Pods)-30:]}))
			warm, err := s.Plan(t.Context())
			require.NoError(t, err)
			cold, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
			require.NoError(t, err)
			a, err := json.Marshal(warm)
			require.NoError(t, err)
			b, err := json.Marshal(cold)
			require.NoError(t, err)
			require.Equal(t, string(b), string(a))
		}
	}
}

// A session plans as a planner without a session does, too, while nodes come and go and pods start to run.
func TestWarmIsColdAmongChanges(t *testing.T) {
	for _, ties := range []bool{false, true} {
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		s, err := provisioning.NewSession(solver, grown(t, 150, 20, ties))
		require.NoError(t, err)
		spare := grown(t, 160, 0, ties).Nodes[150:]
		for round := range 4 {
			p := s.Problem()
			plan, err := s.Plan(t.Context())
			require.NoError(t, err)
			cold, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
			require.NoError(t, err)
			a, err := json.Marshal(plan)
			require.NoError(t, err)
			b, err := json.Marshal(cold)
			require.NoError(t, err)
			require.Equal(t, string(b), string(a))

			require.NotEmpty(t, plan.Existing)
			d := scheduling.Delta{Nodes: spare[round : round+1], Pods: append(arriving(20+round, ties), bound(&p, plan)...)}
			for _, pod := range d.Pods[:20+round] {
				pod.Name = fmt.Sprintf("%s-%d", pod.Name, round)
			}
			if round > 0 {
				d.Removed.Nodes = []string{spare[round-1].Name}
			}
			require.NoError(t, s.Apply(d))
		}
	}
}

// bound are the pods that a plan puts onto nodes, with their nodes.
func bound(p *scheduling.Problem, plan *scheduling.Plan) []*corev1.Pod {
	nodes := map[string]string{}
	for pod, at := range plan.Placements() {
		nodes[pod.String()] = at.Node
	}
	var out []*corev1.Pod
	for _, pod := range p.Pods {
		if node := nodes[pod.Namespace+"/"+pod.Name]; node != "" {
			pod = pod.DeepCopy()
			pod.Spec.NodeName = node
			out = append(out, pod)
		}
	}
	return out
}
