package binding_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// newScheduler is kube-scheduler for the pods of a problem.
func newScheduler(t *testing.T, p scheduling.Problem) *binding.Scheduler {
	t.Helper()
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	return binding.New(facts.Compile(false))
}

// bound binds the queue of a scheduler in a run, and returns the classes and nodes of the pods in the order of the queue.
func bound(s *binding.Scheduler, r *binding.Run) (queue, to []int32, left int) {
	for _, p := range s.Queue() {
		queue, to = append(queue, p.Class), append(to, -1)
	}
	return queue, to, r.Bind(queue, to, nil)
}

// TestBindKeepsTheFilters: pods are bound only where kube-scheduler's filters admit them, one after the other, and in the end
// no node admits a pod that is left.
func TestBindKeepsTheFilters(t *testing.T) {
	placed, waiting := 0, 0
	for seed := range soak.Cases(80) {
		s := newScheduler(t, st.Random(seed, st.Size{Pods: 25, Types: 3, Pools: 1, Nodes: 8, TopologyTerms: true}))
		r := s.Begin(seed)
		queue, to, left := bound(s, r)
		turns := s.Model.Begin().PlaceAll(queue, to)
		for i, n := range to {
			if n >= 0 {
				require.Positive(t, turns[i], "seed %d: pod %d is bound where the filters refuse it", seed, i)
				placed++
				continue
			}
			left--
			waiting++
			for n := range r.State().Len() {
				require.False(t, r.Admits(queue[i], int32(n)), "seed %d: pod %d is left, and node %d admits it", seed, i, n)
			}
		}
		require.Zero(t, left, "seed %d: Bind returns the number of pods that are left", seed)
	}
	assert.Greater(t, min(placed, waiting), 50)
}

// TestRunsAreRepeatable: a seed decides chance, so that a run with the same seed binds alike; a fork does not change the run
// that it is of; and a pod that is removed leaves no trace in later choices.
func TestRunsAreRepeatable(t *testing.T) {
	for seed := range soak.Cases(40) {
		s := newScheduler(t, st.Random(seed, st.Size{Pods: 20, Types: 2, Pools: 1, Nodes: 6, TopologyTerms: true}))
		_, want, _ := bound(s, s.Begin(7))
		r := s.Begin(7)
		_, _, _ = bound(s, r.Fork(1))
		for n := range r.State().Len() {
			if q := s.Queue(); len(q) > 0 {
				r.Place(q[0].Class, int32(n))
				r.Remove(q[0].Class, int32(n))
			}
		}
		_, got, _ := bound(s, r)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// TestQueueOrder: pods come by priority from the highest, then by age, then by name.
func TestQueueOrder(t *testing.T) {
	for seed := range soak.Cases(20) {
		s := newScheduler(t, st.Random(seed, st.Size{Pods: 30, Types: 2, Pools: 1, Nodes: 1}))
		priority := func(p *corev1.Pod) int32 {
			if p.Spec.Priority == nil {
				return 0
			}
			return *p.Spec.Priority
		}
		require.True(t, slices.IsSortedFunc(s.Queue(), func(a, b binding.Pod) int {
			if d := int(priority(b.Pod)) - int(priority(a.Pod)); d != 0 {
				return d
			}
			return a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time)
		}), "seed %d", seed)
	}
}

// TestPodsAreRetried: a pod that waits for another, e.g. because of required affinity, is tried again once others are bound.
func TestPodsAreRetried(t *testing.T) {
	s := newScheduler(t, scheduling.Problem{
		Pods: []*corev1.Pod{
			st.Pod("a-follower", st.Requests(st.Cores(1)), st.Near(corev1.LabelHostname, st.Of("app", "leader"))),
			st.Pod("b-leader", st.Requests(st.Cores(1)), st.Label("app", "leader")),
		},
		Nodes: []*corev1.Node{st.Node("n1", st.Allocatable(st.Cores(2), st.GiB(8))), st.Node("n2", st.Allocatable(st.Cores(2), st.GiB(8)))},
	})
	require.Equal(t, "a-follower", s.Queue()[0].Pod.Name)
	_, to, left := bound(s, s.Begin(1))
	assert.Zero(t, left)
	assert.Equal(t, to[1], to[0])
}

// TestStrategies: with the default profile a pod goes to the emptier of two nodes, and with MostAllocated to the fuller one.
func TestStrategies(t *testing.T) {
	p := scheduling.Problem{
		Pods:    st.Pods(1, "new", st.Requests(st.Cores(1), st.GiB(1))),
		Nodes:   []*corev1.Node{st.Node("empty", st.Allocatable(st.Cores(8), st.GiB(8))), st.Node("full", st.Allocatable(st.Cores(8), st.GiB(8)))},
		Running: []*corev1.Pod{st.Pod("old", st.OnNode("full"), st.Requests(st.Cores(4), st.GiB(4)))},
	}
	for strategy, want := range map[scheduling.ScoringStrategyType]string{scheduling.LeastAllocated: "empty", scheduling.MostAllocated: "full"} {
		p.Scheduler.Scoring.Type = strategy
		s := newScheduler(t, p)
		_, to, _ := bound(s, s.Begin(1))
		require.Equal(t, want, s.Model.Names()[to[0]], "%s", strategy)
	}
}
