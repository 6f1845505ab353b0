package disruption

import (
	"maps"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/wave"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// newLanding is the cluster of a state as kube-scheduler sees it. Pods that can be evicted or are expected on a node
// can be bound. All others are part of their nodes, except pending pods.
func newLanding(f *state) (*landing.Landing, error) {
	x := landing.Cluster{Problem: *f.problem, Policy: &f.planner.Policy, Expected: map[string]string{}}
	p := &x.Problem
	p.Pods, p.Running, p.Nodes, p.Nominated = nil, nil, nil, nil
	movable := map[string]bool{}
	add := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if name := podspec.PodName(pod); !movable[name] {
				movable[name], x.Movable = true, append(x.Movable, pod)
			}
		}
	}
	for _, s := range f.nodes {
		p.Nodes = append(p.Nodes, s.node)
		add(s.expected)
		for _, pod := range s.expected {
			x.Expected[podspec.PodName(pod)] = f.nodeNameOf(pod)
		}
	}
	for _, s := range f.nodes {
		add(s.reschedulable)
	}
	for _, name := range slices.Sorted(maps.Keys(f.awaitingLaunch)) {
		if !movable[name] {
			x.Waiting = append(x.Waiting, f.awaitingLaunch[name])
		}
	}
	p.Running = lo.Filter(slices.Concat(f.cluster.Pods, f.cluster.Running), func(pod *corev1.Pod, _ int) bool {
		return !movable[podspec.PodName(pod)] && pod.Spec.NodeName != ""
	})
	return landing.New(x)
}

// landingStep is a step for package landing.
func landingStep(step *Step) *landing.Step {
	return &landing.Step{Launches: step.Launches, Moves: movesOf(step.Evictions), Drain: step.Drain}
}

// wavesOf are the rules by which the evictions of a step are divided into waves.
func wavesOf(f *state) *wave.Cluster {
	return &wave.Cluster{Pods: f.pods, Budgets: f.rules.podBudgets, Landing: f.landing, OutOfTime: f.outOfTime}
}

// movesOf are evictions as moves of package landing.
func movesOf(list []Eviction) []landing.Move {
	return lo.Map(list, func(e Eviction, _ int) landing.Move { return moveFrom(e) })
}

// moveFrom is an eviction as a move of package landing.
func moveFrom(e Eviction) landing.Move {
	return landing.Move{Pod: e.Pod, From: e.From, To: e.To, Wave: e.Wave}
}

// evictionsOf are moves of package landing as evictions.
func evictionsOf(list []landing.Move) []Eviction {
	return lo.Map(list, func(m landing.Move, _ int) Eviction {
		return Eviction{Pod: m.Pod, From: m.From, To: m.To, Wave: m.Wave}
	})
}

// budgetUses are uses of package wave as those of a step; nil for none.
func budgetUses(list []wave.Use) []BudgetUse {
	if len(list) == 0 {
		return nil
	}
	return lo.Map(list, func(u wave.Use, _ int) BudgetUse { return BudgetUse(u) })
}
