package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Realised is what a plan's steps come to when they are carried out one by one, kube-scheduler binds the
// evicted pods as it likes, and chooses otherwise among nodes of the same score than it was expected to. It is the
// result of a model of kube-scheduler and no proof.
type Realised struct {
	// PricePerHourAfter is what all nodes cost then, with the machines that have to be bought for
	// pods that find no place: as [Summary.PricePerHourAfter].
	PricePerHourAfter offerings.Price `json:"pricePerHourAfter"`
	// PodsElsewhere is how many evicted pods land elsewhere than their step expects, or have to
	// leave once more because they landed on a node that goes later.
	PodsElsewhere int `json:"podsElsewhere"`
	// PodsWaiting is how many evicted pods find no place.
	PodsWaiting int `json:"podsWaiting"`
	// Launches is how many machines are bought that no step orders.
	Launches int `json:"launches"`
}

// otherSeed is the seed of what comes otherwise than expected.
const otherSeed = 1

// realise carries the steps of a plan out on the cluster as it was before them.
func (f *state) realise(ctx context.Context, plan *Plan) (*Realised, error) {
	out := &Realised{PricePerHourAfter: plan.Summary.PricePerHourAfter}
	var waiting []*corev1.Pod
	for i := range plan.Steps {
		step := plan.Steps[i]
		expected := map[string]Eviction{}
		for _, e := range step.Evictions {
			expected[e.Pod] = e
		}
		step.Evictions = f.leavers(&step, expected)
		landed := landings(f.landing.Fork(uint64(i)+otherSeed), &step, f.shutAnd(plan.Cordon)) //nolint:gosec // steps are few
		for _, e := range landed {
			if e.To == "" {
				waiting = append(waiting, unbound(f.pods[e.Pod]))
			} else if e.To != expected[e.Pod].To {
				out.PodsElsewhere++
			}
		}
		step.Evictions = landed
		if err := f.take(&step); err != nil {
			return nil, err
		}
	}
	if out.PodsWaiting = len(waiting); len(waiting) == 0 {
		return out, nil
	}
	problem := *f.problem
	problem.Pods, problem.Running, problem.Nodes, problem.Nominated = waiting, nil, nil, nil
	policy := f.planner.Policy
	policy.Effort, policy.NoReasons = scheduling.EffortFast, true
	more, err := provisioning.Planner{Policy: policy}.Plan(ctx, problem)
	if err != nil {
		return nil, err
	}
	out.Launches = len(more.Launches)
	out.PricePerHourAfter = offerings.Sum(out.PricePerHourAfter, more.Summary.PricePerHour)
	return out, nil
}

// leavers are the pods that leave in a step where they are now: those of the nodes that go, each in the wave
// that is expected or the last one.
func (f *state) leavers(step *Step, expected map[string]Eviction) []Eviction {
	var out []Eviction
	last := 1
	for _, e := range step.Evictions {
		last = max(last, e.Wave)
		if pod := f.pods[e.Pod]; step.Reason == Misplaced && pod != nil && f.home(pod) == e.From {
			out = append(out, e)
		}
	}
	for _, name := range step.Drain {
		for _, pod := range f.at[name].movers {
			e, ok := expected[podspec.PodName(pod)]
			if !ok {
				e.Wave = last
			}
			e.Pod, e.From = podspec.PodName(pod), name
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, compareWaves)
	return out
}
