package duel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Settings say how both planners plan.
type Settings struct {
	// Effort is ours.
	Effort scheduling.Effort
	// Preferences lets both planners honour preferred affinity and soft spread. Prices are
	// then not compared, because a planner may pay for a preference.
	Preferences bool
	// Timeout ends a run of either planner; 0 is none.
	Timeout time.Duration
}

func (s Settings) solver() scheduling.Policy {
	solver := scheduling.Policy{Effort: s.Effort, Preferences: scheduling.PreferencesIgnore}
	if s.Preferences {
		solver.Preferences = scheduling.PreferencesRespect
	}
	return solver
}

// Bout is the outcome of one problem.
type Bout struct {
	Seed uint64
	// Pods were to be placed, by us Ours, by the other planner Theirs.
	Pods, Ours, Theirs int
	// OurPrice and TheirPrice are the prices of all launches, per hour.
	OurPrice, TheirPrice offerings.Price
	// OurTime and TheirTime are the durations of the two decisions.
	OurTime, TheirTime time.Duration
	// Lost are pods that only the other planner places, Won pods that only we place, sorted by name.
	Lost, Won []string
	// Lead is above 0 if we place more pods of the highest priority of which both do
	// not place equally many, and below 0 if the other planner does.
	Lead int
	// Broken are the rules of kube-scheduler and of pools that the other planner's
	// machines break, with an example of each.
	Broken map[verify.Code]string
	// Unlucky is verify's objection to the other planner's plan when its pods bind in another
	// order than that of their names, while ours bind in all orders that are tried; "" for none.
	Unlucky string
	// Narrow is verify's objection to the other planner's plan when spread counts every domain
	// that a machine on sale could open, while our plan spreads over all of them; "" for none.
	Narrow string
}

// Verdict is who wins a bout.
type Verdict string

// The verdicts, from the worst on.
const (
	// Fewer: the other planner places a pod that we do not, and we place none instead.
	Fewer Verdict = "fewer pods"
	// Dearer: both place the same pods, and we pay more.
	Dearer Verdict = "more expensive"
	// Unfair: either of these, if it were not for a rule that the other planner breaks.
	Unfair Verdict = "beaten against the rules"
	// Lucky: either of these, if the pods of the other planner's machines came in the
	// right order. A plan promises that its pods bind, and nobody decides which of the
	// same priority comes first.
	Lucky Verdict = "binds in some orders only"
	// Narrower: either of these, if the other planner's pods did not have to spread over
	// domains that have no nodes yet, although machines there could hold them.
	Narrower Verdict = "leaves domains empty"
	// Others: we place other pods, at least as many, and more of a higher priority if
	// priorities differ: limits, reservations or topology terms let only some of them run.
	Others Verdict = "other pods, no fewer"
	// Same: both place the same pods at the same price.
	Same Verdict = "same"
	// Cheaper: both place the same pods, and we pay less.
	Cheaper Verdict = "cheaper"
	// More: we place all pods that the other planner places, and further ones.
	More Verdict = "more pods"
)

// Verdict is who wins. Prices are not compared with Preferences, because a planner may pay
// for a preference.
func (b *Bout) Verdict(s Settings) Verdict {
	v := b.verdict(s)
	if v != Fewer && v != Dearer {
		return v
	}
	switch {
	case len(b.Broken) > 0:
		return Unfair
	case b.Unlucky != "":
		return Lucky
	case b.Narrow != "":
		return Narrower
	}
	return v
}

func (b *Bout) verdict(s Settings) Verdict {
	switch {
	case len(b.Lost) > 0 && b.Lead >= 0:
		return Others
	case len(b.Lost) > 0:
		return Fewer
	case len(b.Won) > 0:
		return More
	case s.Preferences || b.OurPrice == b.TheirPrice:
		return Same
	case b.OurPrice > b.TheirPrice:
		return Dearer
	}
	return Cheaper
}

// Fight lets both planners solve the problem. The error says that one of them could not,
// or that verify rejects our plan.
func Fight(ctx context.Context, seed uint64, p scheduling.Problem, s Settings) (*Bout, error) {
	instance := fmt.Sprintf("random/%d", seed)
	options := peer.Options{Timeout: s.Timeout}
	ours, mine, err := peer.Measure(ctx, planner.Peer{Title: "plimsoll", Policy: s.solver()}, instance, p, options)
	if err != nil {
		return nil, err
	}
	run, err := karpenter.Peer{IgnorePreferences: !s.Preferences}.Load(p)
	if err != nil {
		return nil, fmt.Errorf("karpenter: load %s: %w", instance, err)
	}
	start := time.Now() //nolint:forbidigo // a benchmark measures time
	if err := run.Solve(ctx); err != nil {
		return nil, fmt.Errorf("karpenter: solve %s: %w", instance, err)
	}
	theirTime := time.Since(start) //nolint:forbidigo // a benchmark measures time
	its, err := run.Outcome()
	if err != nil {
		return nil, fmt.Errorf("karpenter: read the outcome of %s: %w", instance, err)
	}
	b := &Bout{
		Seed: seed, Pods: ours.Pods, Ours: mine.Placed(), Theirs: its.Placed(),
		OurPrice: mine.Price(), TheirPrice: its.Price(), OurTime: ours.Elapsed, TheirTime: theirTime,
		Broken: Broken(p, its, s.solver()),
	}
	here, there := pools(mine), pools(its)
	b.Lead = lead(p.Pods, here, there)
	if pod := demoted(p, here, there); pod != "" {
		b.Broken[verify.CodeWeightIgnored] = fmt.Sprintf("pod %s is in pool %s, and could be in %s", pod, there[pod], here[pod])
	}
	b.Lost, b.Won = missing(there, here), missing(here, there)
	if v := b.verdict(s); v == Fewer || v == Dearer {
		b.lookCloser(p, mine.Plan(p), its.Plan(p), s.solver())
	}
	return b, nil
}

// lookCloser sets Unlucky and Narrow where only the other planner's plan fails.
func (b *Bout) lookCloser(p scheduling.Problem, mine, its *scheduling.Plan, solver scheduling.Policy) {
	if unlucky(p, mine, solver) == "" {
		b.Unlucky = unlucky(p, its, solver)
	}
	if wide := withEmptyDomains(p); unlucky(wide, mine, solver) == "" {
		b.Narrow = unlucky(wide, its, solver)
	}
}

// pools are the NodePools of the placed pods, by the names of the pods.
func pools(o peer.Outcome) map[string]string {
	out := map[string]string{}
	for _, m := range o.Machines {
		for _, pod := range m.Pods {
			out[scheduling.PodName(pod)] = m.NodePool
		}
	}
	return out
}

// missing are the names in a that b lacks, sorted.
func missing(a, b map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(n string) bool { _, ok := b[n]; return ok })
}

// lead compares the numbers of pods placed here and there, the highest priority first.
func lead(pods []*corev1.Pod, here, there map[string]string) int {
	difference := map[int32]int{}
	for _, pod := range pods {
		priority := corev1helpers.PodPriority(pod)
		if _, ok := here[scheduling.PodName(pod)]; ok {
			difference[priority]++
		}
		if _, ok := there[scheduling.PodName(pod)]; ok {
			difference[priority]--
		}
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(difference))) {
		if d := difference[priority]; d != 0 {
			return d
		}
	}
	return 0
}
