package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Every pod without a place has a reason and a change that would help, the same in
// words and for programs (P48), and everything of the plan can be explained.
func TestEverythingIsExplained(t *testing.T) {
	for seed := range soak.Cases(60) {
		p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: seed%3 > 0})
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		for _, u := range plan.Unschedulable {
			require.NotEmpty(t, u.Reasons, "seed %d, %s", seed, u.Pod)
			require.NotEmpty(t, u.Changes, "seed %d, %s: %s", seed, u.Pod, u.Message)
			require.Len(t, u.Fixes, len(u.Changes))
			for i, c := range u.Changes {
				require.NotEmpty(t, c.Kind)
				require.Equal(t, u.Fixes[i], c.Text)
			}
			for _, r := range u.Reasons {
				require.NotEmpty(t, r.Detail)
				require.Positive(t, r.Count)
			}
		}
		if seed%4 == 0 {
			explainAll(t, seed, p, plan)
		}
	}
}

// Explanations do not depend on the order of the input.
func TestExplanationsAreRepeatable(t *testing.T) {
	t.Parallel()
	for seed := range soak.Cases(10) {
		p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: true})
		shuffled := schedulingtest.Shuffle(p, seed)
		require.Equal(t, explanations(t, p), explanations(t, shuffled), "seed %d", seed)
	}
}

// explanations returns the explanations of all pods and nodes, and of some launches.
func explanations(t *testing.T, p scheduling.Problem) map[string]any {
	t.Helper()
	solver := scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree}
	plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
	require.NoError(t, err)
	x, err := provisioning.Planner{Policy: solver}.Explain(p, plan)
	require.NoError(t, err)
	out := map[string]any{}
	for _, pod := range p.Pods {
		out["pod "+full(pod)], err = x.Pod(full(pod))
		require.NoError(t, err)
	}
	for _, node := range p.Nodes {
		out["node "+node.Name], err = x.Node(node.Name)
		require.NoError(t, err)
	}
	for i := range plan.Launches {
		out["launch "+plan.Launches[i].Name], err = x.Launch(plan.Launches[i].Name)
		require.NoError(t, err)
	}
	return out
}

// explainAll asks about every launch, node and pod, and checks the sums of the answers.
func explainAll(t *testing.T, seed uint64, p scheduling.Problem, plan *scheduling.Plan) {
	t.Helper()
	x, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Explain(p, plan)
	require.NoError(t, err)
	for i := range plan.Launches {
		l, err := x.Launch(plan.Launches[i].Name)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, plan.Launches[i].Options[0], l.Option)
		require.Len(t, l.Pods, len(plan.Launches[i].Pods))
		for _, r := range l.Rooms {
			require.Equal(t, r.Allocatable, r.Running+r.Daemons+r.Planned+r.Free, "seed %d, %s, %s", seed, l.Launch, r.Resource)
			require.GreaterOrEqual(t, r.Free, int64(0), "seed %d, %s, %s", seed, l.Launch, r.Resource)
		}
		for _, c := range l.Cheaper {
			require.Less(t, c.Price, l.Option.Price)
			require.NotEmpty(t, c.Reason.Code)
		}
		for _, o := range l.RunnersUp {
			require.NotEqual(t, l.Option.InstanceType, o.InstanceType)
		}
	}
	for _, n := range p.Nodes {
		e, err := x.Node(n.Name)
		require.NoError(t, err)
		for _, r := range e.Rooms {
			require.GreaterOrEqual(t, r.Free, int64(0), "seed %d, %s, %s", seed, n.Name, r.Resource)
		}
	}
	where := map[string]explanation.PodStatus{}
	for pod, at := range plan.Placements() {
		if where[pod.String()] = explanation.PodExisting; at.Launch != nil {
			where[pod.String()] = explanation.PodLaunch
		}
	}
	for _, u := range plan.Unschedulable {
		where[u.Pod] = explanation.PodUnschedulable
	}
	for pod, status := range where {
		e, err := x.Pod(pod)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, status, e.Status, "seed %d, %s", seed, pod)
	}
}

func full(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return "default/" + pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}
