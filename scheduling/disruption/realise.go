package disruption

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/wave"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// StepsAfterScheduling is the mean result of carrying out a plan's steps one by one with other choices of kube-scheduler: it
// binds the pods of a wave in another order, and picks another of several nodes with the same score. A model of
// kube-scheduler plays this several times. Counts are rounded up. It is an estimate, and no proof.
type StepsAfterScheduling struct {
	// PricePerHourAfter is the price of all nodes then, in USD per hour, with the extra nodes
	// for pods without a node: as [ConsolidationSummary.PricePerHourAfter].
	PricePerHourAfter offerings.Price `json:"pricePerHourAfter"`
	// ExpectedPerHourAfter is the expected price of the same nodes: as [ConsolidationSummary.ExpectedPerHourAfter], and set where
	// that is.
	ExpectedPerHourAfter offerings.Price `json:"expectedPerHourAfter,omitempty"`
	// PodsElsewhere is how many evicted pods are bound to another node than their step expects, or are evicted once
	// more because they were bound to a node that is removed later.
	PodsElsewhere int `json:"podsElsewhere"`
	// PodsPending is how many evicted pods are pending until extra nodes are launched for them. Pending are pods that
	// may stay pending whatever is launched, because of rules about pods that were bound elsewhere, by name.
	PodsPending int      `json:"podsPending"`
	Pending     []string `json:"pending,omitempty"`
	// Launches is the number of extra nodes, which no step launches.
	Launches int `json:"launches"`
}

// playthroughs is how often a plan is played. In large clusters, and after the deadline, it is played once; many
// steps even out the choices anyway.
const playthroughs = 8

// realise is the mean of several plays of a plan. The known session is one that has read the same catalogs, to save
// time.
func realise(ctx context.Context, f *state, plan *ConsolidationPlan, known *provisioning.Session) (*StepsAfterScheduling, error) {
	sum, n, pending := &StepsAfterScheduling{}, 0, map[string]bool{}
	for ; n < playthroughs && (n == 0 || !f.large() && !outOfTime(ctx)); n++ {
		x, err := playPlan(ctx, f.fork(), plan, known, uint64(1+n*(1+len(plan.Steps)))) //nolint:gosec // it is positive
		if err != nil {
			return nil, err
		}
		sum.PricePerHourAfter = offerings.Sum(sum.PricePerHourAfter, x.PricePerHourAfter)
		sum.ExpectedPerHourAfter = offerings.Sum(sum.ExpectedPerHourAfter, x.ExpectedPerHourAfter)
		sum.PodsElsewhere, sum.PodsPending, sum.Launches = sum.PodsElsewhere+x.PodsElsewhere, sum.PodsPending+x.PodsPending, sum.Launches+x.Launches
		for _, pod := range x.Pending {
			pending[pod] = true
		}
	}
	up := func(of int) int { return (of + n - 1) / n }
	of := offerings.Price(n)
	return &StepsAfterScheduling{sum.PricePerHourAfter / of, sum.ExpectedPerHourAfter / of, up(sum.PodsElsewhere), up(sum.PodsPending), slices.Sorted(maps.Keys(pending)), up(sum.Launches)}, nil
}

// playPlan carries out the steps of a plan on the cluster before them, with the choices of a seed.
func playPlan(ctx context.Context, f *state, plan *ConsolidationPlan, known *provisioning.Session, seed uint64) (*StepsAfterScheduling, error) {
	out := &StepsAfterScheduling{PricePerHourAfter: plan.Summary.PricePerHourAfter, ExpectedPerHourAfter: plan.Summary.ExpectedPerHourAfter}
	var waiting []*corev1.Pod
	for i := range plan.Steps {
		step := plan.Steps[i]
		expected := map[string]Eviction{}
		for _, e := range step.Evictions {
			expected[e.Pod] = e
		}
		step.Evictions = evictionsNow(f, &step, expected)
		landed := f.landing.Fork(uint64(i)+seed).Play(landingStep(&step), withClosed(f, plan.Cordon)) //nolint:gosec // steps are few
		for _, e := range landed {
			if e.To == "" {
				waiting = append(waiting, unbound(f.pods[e.Pod]))
			} else if e.To != expected[e.Pod].To && !scheduling.IsVirtual(f.pods[e.Pod]) {
				out.PodsElsewhere++
			}
		}
		step.Evictions = evictionsOf(landed)
		if err := f.take(&step); err != nil {
			return nil, err
		}
	}
	if out.PodsPending = len(waiting); len(waiting) == 0 {
		return out, nil
	}
	problem := currentProblem(f)
	problem.Pods = waiting
	session, err := known.ForProblem(f.planner.Policy, problem)
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
	if f.prices().ExceedMachines() {
		out.ExpectedPerHourAfter = offerings.Sum(out.ExpectedPerHourAfter, f.prices().Launches(more.Launches))
	}
	for i := range more.Unschedulable {
		out.Pending = append(out.Pending, more.Unschedulable[i].Pod)
	}
	return out, nil
}

// currentProblem is the problem of the cluster as it is now, without pending pods.
func currentProblem(f *state) scheduling.Problem {
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

// evictionsNow are the evictions of a step for the pods that are on its nodes now, each in its expected wave or, for
// other pods, in the last.
func evictionsNow(f *state, step *Step, expected map[string]Eviction) []Eviction {
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
	slices.SortStableFunc(out, func(a, b Eviction) int { return wave.Compare(moveFrom(a), moveFrom(b)) })
	return out
}
