package disruption

import (
	"context"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/wave"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// rebalancing moves pods that break a scheduling rule on their node to existing nodes where they keep it, each in a
// step of its own, so that fewer rules are broken after every step. It launches and removes no node. It evicts no pod
// that asks not to be disrupted, that a PodDisruptionBudget holds, or that has moved already.
type rebalancing struct{}

// candidates are the nodes with such pods.
func (rebalancing) candidates(r *run) []*candidate {
	if !r.state.rules.enabled(Misplaced) {
		return nil
	}
	moved := movedPods(r.steps)
	return lo.FilterMap(r.state.names(), func(name string, _ int) (*candidate, bool) {
		s := r.state.byName[name]
		return s, slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool { return !moved[podspec.PodName(pod)] && misplaced(r.state, pod) })
	})
}

func (m rebalancing) disrupt(ctx context.Context, r *run, nodes []*candidate) error {
	if !r.state.rules.enabled(Misplaced) {
		return nil
	}
	r.observe(scheduling.Phase(Misplaced))
	if err := r.state.closeNodes(nodesSoonRemoved(r.state)); err != nil {
		return err
	}
	moved := movedPods(r.steps)
	// A move may repair the rule of another pod as well, or free the capacity for it.
	for steps := -1; steps < len(r.steps); nodes = m.candidates(r) {
		steps = len(r.steps)
		for _, s := range nodes {
			for _, pod := range slices.Clone(s.pods) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if moved[podspec.PodName(pod)] || !misplaced(r.state, pod) {
					continue
				}
				step, err := relocation(ctx, r.state, pod)
				if err != nil {
					return err
				}
				if step == nil {
					continue
				}
				if err := r.commit(step); err != nil || r.done {
					return err
				}
				moved[podspec.PodName(pod)] = true
			}
		}
	}
	return nil
}

// movedPods are the pods that the steps evict, by name.
func movedPods(steps []Step) map[string]bool {
	moved := map[string]bool{}
	for i := range steps {
		for _, e := range steps[i].Evictions {
			moved[e.Pod] = true
		}
	}
	return moved
}

// nodesSoonRemoved are nodes that stay in this plan and will be removed soon.
func nodesSoonRemoved(f *state) []string {
	var out []string
	for _, s := range f.nodes {
		if !s.removed && (s.machine.Interruption != nil || s.machine.Terminating || f.rules.expired(s)) {
			out = append(out, s.name)
		}
	}
	return out
}

// misplaced reports whether a pod breaks a scheduling rule on its node and can be evicted from it.
func misplaced(f *state, pod *corev1.Pod) bool {
	return mayMove(f, pod) && f.landing.Misplaced(pod, f.byName[pod.Spec.NodeName].node)
}

// mayMove reports whether a pod can be evicted from a node that stays.
func mayMove(f *state, pod *corev1.Pod) bool {
	s := f.byName[pod.Spec.NodeName]
	known := f.pods[podspec.PodName(pod)]
	if s == nil || s.removed || s.beingRemoved() || known == nil {
		return false
	}
	stays := f.planner.KeepBarePods && eviction.Bare(known)
	return !stays && eviction.Reschedulable(known) && eviction.Evictable(known, f.rules.now) && f.rules.podBudgetCause(known) == nil
}

// relocation is the step that moves a pod to an existing node where it keeps its rules, nil if there is none.
func relocation(ctx context.Context, f *state, pod *corev1.Pod) (*Step, error) {
	plan, err := f.sessions.Ask(ctx, &session.Question{Change: scheduling.Delta{Pods: []*corev1.Pod{f.sessions.Unbound(pod)}}, Effort: scheduling.EffortFast})
	if err != nil {
		return nil, err
	}
	name, from := podspec.PodName(pod), pod.Spec.NodeName
	for i := range plan.Existing {
		a := &plan.Existing[i]
		if a.Node == from || !slices.Contains(a.Pods, name) {
			continue
		}
		step := &Step{
			Reason: Misplaced, Drain: []string{}, Launches: []scheduling.Launch{}, DisruptionCost: f.rules.costs.Eviction(pod),
		}
		s := wave.Step{Moves: []landing.Move{{Pod: name, From: from, To: a.Node}}}
		step.PodDisruptionBudgets = budgetUses(wavesOf(f).InBudgets(&s))
		step.Evictions = evictionsOf(s.Moves)
		if !f.pinned {
			if s.Moves = bindEvictions(f, step, nil).moves; slices.ContainsFunc(s.Moves, func(m landing.Move) bool { return m.To == "" || m.To == m.From }) {
				return nil, nil //nolint:nilnil // kube-scheduler does not move it
			}
			step.Evictions = evictionsOf(s.Moves)
		}
		if !allScheduled(f, &outcome{moves: s.Moves}) {
			return nil, nil //nolint:nilnil // pending pods are not yet where they are expected
		}
		return step, nil
	}
	return nil, nil //nolint:nilnil // it fits on no other node, which is no error
}
