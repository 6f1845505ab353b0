package disruption

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Realised is what a plan's steps come to when they are carried out one by one, and kube-scheduler binds the
// evicted pods as it likes: it takes those of a wave in another order, and chooses otherwise among nodes of the same
// score than it was expected to. It is the mean of several courses of events that a model of kube-scheduler plays,
// counts rounded up, and no proof.
type Realised struct {
	// PricePerHourAfter is what all nodes cost then, with the machines that have to be bought for
	// pods that find no place: as [Summary.PricePerHourAfter].
	PricePerHourAfter offerings.Price `json:"pricePerHourAfter"`
	// ExpectedPerHourAfter is that price with what the nodes are expected to cost beside: as
	// [Summary.ExpectedPerHourAfter], and set where that is.
	ExpectedPerHourAfter offerings.Price `json:"expectedPerHourAfter,omitempty"`
	// PodsElsewhere is how many evicted pods land elsewhere than their step expects, or have to
	// leave once more because they landed on a node that goes later.
	PodsElsewhere int `json:"podsElsewhere"`
	// PodsWaiting is how many evicted pods find no place, until machines are bought for them. Pending are those that
	// may stay pending whatever is bought, as others land where they keep them from all nodes, by name.
	PodsWaiting int      `json:"podsWaiting"`
	Pending     []string `json:"pending,omitempty"`
	// Launches is how many machines are bought that no step orders.
	Launches int `json:"launches"`
}

// courses is in how many courses of events a plan is played, but for large clusters, as of so many steps one says as
// much, and past a deadline.
const playthroughs = 8

// realise is the mean of several courses of events, counts rounded up. A session tells what is known of catalogs.
func (f *state) realise(ctx context.Context, plan *Plan, known *provisioning.Session) (*Realised, error) {
	sum, n, pending := &Realised{}, 0, map[string]bool{}
	for ; n < playthroughs && (n == 0 || !f.large() && !outOfTime(ctx)); n++ {
		x, err := f.fork().playPlan(ctx, plan, known, uint64(1+n*(1+len(plan.Steps)))) //nolint:gosec // it is positive
		if err != nil {
			return nil, err
		}
		sum.PricePerHourAfter = offerings.Sum(sum.PricePerHourAfter, x.PricePerHourAfter)
		sum.ExpectedPerHourAfter = offerings.Sum(sum.ExpectedPerHourAfter, x.ExpectedPerHourAfter)
		sum.PodsElsewhere, sum.PodsWaiting, sum.Launches = sum.PodsElsewhere+x.PodsElsewhere, sum.PodsWaiting+x.PodsWaiting, sum.Launches+x.Launches
		for _, pod := range x.Pending {
			pending[pod] = true
		}
	}
	up := func(of int) int { return (of + n - 1) / n }
	of := offerings.Price(n)
	return &Realised{sum.PricePerHourAfter / of, sum.ExpectedPerHourAfter / of, up(sum.PodsElsewhere), up(sum.PodsWaiting), slices.Sorted(maps.Keys(pending)), up(sum.Launches)}, nil
}

// play carries the steps of a plan out on the cluster as it was before them, in the course of events of a seed.
func (f *state) playPlan(ctx context.Context, plan *Plan, known *provisioning.Session, seed uint64) (*Realised, error) {
	out := &Realised{PricePerHourAfter: plan.Summary.PricePerHourAfter, ExpectedPerHourAfter: plan.Summary.ExpectedPerHourAfter}
	var waiting []*corev1.Pod
	for i := range plan.Steps {
		step := plan.Steps[i]
		expected := map[string]Eviction{}
		for _, e := range step.Evictions {
			expected[e.Pod] = e
		}
		step.Evictions = f.evictionsNow(&step, expected)
		landed := playStep(f.landing.Fork(uint64(i)+seed), &step, f.withClosed(plan.Cordon)) //nolint:gosec // steps are few
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
	problem := f.currentProblem()
	problem.Pods = waiting
	session, err := known.Anew(f.planner.Policy, problem)
	if err != nil {
		return nil, err
	}
	more, err := session.Place(ctx, scheduling.EffortFast)
	if err != nil {
		return nil, err
	}
	out.Launches = len(more.Launches)
	for i := range more.Launches {
		out.PricePerHourAfter = offerings.Sum(out.PricePerHourAfter, more.Launches[i].Price)
	}
	if f.hasExpectedCosts() {
		out.ExpectedPerHourAfter = offerings.Sum(out.ExpectedPerHourAfter, f.launchesPrice(more.Launches))
	}
	for i := range more.Unschedulable {
		out.Pending = append(out.Pending, more.Unschedulable[i].Pod)
	}
	return out, nil
}

// standingProblem is the problem of the cluster as it stands, without pods to be placed.
func (f *state) currentProblem() scheduling.Problem {
	out := *f.problem
	out.Pods, out.Running, out.Nodes, out.Nominated = nil, nil, nil, nil
	for _, s := range f.nodes {
		if s.removed {
			continue
		}
		out.Nodes = append(out.Nodes, s.node)
		for _, pod := range s.pods {
			out.Running = append(out.Running, podspec.OnNode(pod, s.name))
		}
	}
	return out
}

// leavers are the pods that leave in a step where they are now: those of the nodes that go, each in the wave
// that is expected or the last one.
func (f *state) evictionsNow(step *Step, expected map[string]Eviction) []Eviction {
	var out []Eviction
	last := 1
	for _, e := range step.Evictions {
		last = max(last, e.Wave)
		if pod := f.pods[e.Pod]; step.Reason == Misplaced && pod != nil && f.nodeNameOf(pod) == e.From {
			out = append(out, e)
		}
	}
	for _, name := range step.Drain {
		for _, pod := range f.byName[name].reschedulable {
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
