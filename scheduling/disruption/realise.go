package disruption

import (
	"context"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Realised is what a plan's steps come to, carried out one by one, where kube-scheduler binds the
// evicted pods as it likes, those of steps under way first. It is the result of a model of
// kube-scheduler and no proof.
type Realised struct {
	// PricePerHourAfter is what all nodes cost then, with the machines that have to be bought for
	// pods that find no place: as [Summary.PricePerHourAfter].
	PricePerHourAfter offerings.Price `json:"pricePerHourAfter"`
	// PodsElsewhere is how many evicted pods land elsewhere than their step expects, or have to
	// leave once more because they landed on a node that goes later.
	PodsElsewhere int `json:"podsElsewhere"`
	// PodsWaiting is how many evicted pods find no place at once.
	PodsWaiting int `json:"podsWaiting"`
	// Launches is how many machines are bought that no step orders.
	Launches int `json:"launches"`
}

// realise plays the steps of a plan through, after what is left of those under way.
func (p Planner) realise(ctx context.Context, c *Cluster, plan *Plan) (*Realised, error) {
	from := map[string]string{}
	var steps []fleet.Step
	play := func(launches []scheduling.Launch, drain []string, evictions []Eviction) {
		step := fleet.Step{Launches: launches, Drain: drain}
		for _, e := range evictions {
			if _, moved := from[e.Pod]; !moved {
				from[e.Pod] = e.From
			}
			for len(step.Waves) < e.Wave {
				step.Waves = append(step.Waves, nil)
			}
			step.Waves[e.Wave-1] = append(step.Waves[e.Wave-1], fleet.Eviction{Pod: e.Pod, To: e.To})
		}
		steps = append(steps, step)
	}
	running := map[string]*corev1.Pod{}
	for _, pod := range c.Running {
		running[podspec.PodName(pod)] = pod
	}
	for i := range c.Underway {
		s := &c.Underway[i]
		play(nil, s.Drain, lo.Filter(s.Evictions, func(e Eviction, _ int) bool { return e.ahead(running[e.Pod]) }))
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		play(s.Launches, s.Drain, s.Evictions)
	}
	problem := c.Problem
	problem.Running, problem.Pods, problem.Nominated = nil, nil, nil
	for _, pod := range c.Running {
		if _, moved := from[podspec.PodName(pod)]; moved {
			again := pod.DeepCopy()
			again.Spec.NodeName, again.Status = "", corev1.PodStatus{}
			problem.Pods = append(problem.Pods, again)
		} else {
			problem.Running = append(problem.Running, pod)
		}
	}
	facts, err := compile.NewFacts(&problem, &p.Policy)
	if err != nil {
		return nil, err
	}
	played, ok := fleet.Play(facts.Compile(false), from, steps)
	if !ok {
		return nil, nil //nolint:nilnil // nothing is known
	}
	out := &Realised{PricePerHourAfter: plan.Summary.PricePerHourAfter, PodsElsewhere: played.Elsewhere, PodsWaiting: played.Waiting}
	if len(played.Left) > 0 {
		problem.Pods, problem.Running, problem.Nodes = played.Left, nil, nil
		policy := p.Policy
		policy.Effort, policy.Placement, policy.NoReasons = scheduling.EffortFast, scheduling.PlacementPinned, true
		more, err := provisioning.Planner{Policy: policy}.Plan(ctx, problem)
		if err != nil {
			return nil, err
		}
		out.Launches = len(more.Launches)
		out.PricePerHourAfter = offerings.Sum(out.PricePerHourAfter, more.Summary.PricePerHour)
	}
	return out, nil
}
