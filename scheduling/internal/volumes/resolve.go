package volumes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostRounds bounds the plans that are made for each decision.
const mostRounds = 8

// Solver makes a plan of facts.
type Solver func(context.Context, *instance.Facts) (*scheduling.Plan, error)

// Resolve makes the decisions about shared volumes for a plan, and returns the best plan: the pod that uses a
// ReadWriteOncePod claim, the attachments that nodes reserve for shared volumes, the zone of a volume to provision, and
// the existing volume for a claim. Each decision solves again, and is kept if it leaves fewer pods unplaced or is
// cheaper. Without shared claims it returns plan itself.
func Resolve(ctx context.Context, f *instance.Facts, plan *scheduling.Plan, solve Solver) (*scheduling.Plan, error) {
	x := f.Volumes(f.Choice)
	if x == nil || len(Sharers(x, f.Problem.Pods)) == 0 {
		return plan, nil
	}
	t := &settling{facts: f, choice: f.Choice, solve: solve, best: plan, reasons: map[string]scheduling.Unschedulable{}}
	for _, ask := range []func(context.Context) error{t.passOn, t.keepFree, t.meet, t.give} {
		if err := ask(ctx); err != nil {
			return nil, err
		}
	}
	t.keepReasons(t.best)
	return t.best, nil
}

// settling is the state of [Resolve].
type settling struct {
	facts  *instance.Facts
	solve  Solver
	best   *scheduling.Plan
	choice *podspec.VolumeChoice // the choice of the best plan
	// reasons are why pods that had their claim to themselves were still left unplaced, by namespace/name.
	reasons map[string]scheduling.Unschedulable
}

// Sharers lists the pending pods of each claim that at least two of them use.
func Sharers(x *podspec.VolumeIndex, pods []*corev1.Pod) map[*podspec.Claim][]*corev1.Pod {
	out := map[*podspec.Claim][]*corev1.Pod{}
	for _, pod := range x.Users(pods) {
		for _, c := range x.ClaimsOf(pod) {
			out[c] = append(out[c], pod)
		}
	}
	maps.DeleteFunc(out, func(_ *podspec.Claim, users []*corev1.Pod) bool { return len(users) < 2 })
	return out
}

// inNameOrder is the claims sorted by namespace/name.
func inNameOrder(sharers map[*podspec.Claim][]*corev1.Pod) []*podspec.Claim {
	return slices.SortedFunc(maps.Keys(sharers), func(a, b *podspec.Claim) int { return strings.Compare(a.Name, b.Name) })
}

// under solves with a choice.
func (t *settling) under(ctx context.Context, choice *podspec.VolumeChoice) (*scheduling.Plan, error) {
	plan, err := t.solve(ctx, t.facts.Under(choice))
	if err == nil {
		t.keepReasons(plan)
	}
	return plan, err
}

// keepReasons replaces the reasons of pods that gave up their claims, because they are unplaced even with the claim.
func (t *settling) keepReasons(plan *scheduling.Plan) {
	for pod, at := range Left(plan) {
		if reasons, ok := t.reasons[pod]; ok {
			plan.Unschedulable[at] = reasons
		}
	}
}

// compareFacts orders plans, the better first: fewer unplaced pods, those of the highest priority first, then the lower
// price.
func compareFacts(f *instance.Facts, a, b *scheduling.Plan) int {
	return cmp.Or(CompareLeft(f, a, b), cmp.Compare(offers.Objective(f.Solver, &a.Summary), offers.Objective(f.Solver, &b.Summary)))
}

// CompareLeft orders plans by their unplaced pods alone, as priorities from the highest down.
func CompareLeft(f *instance.Facts, a, b *scheduling.Plan) int {
	priority := make(map[string]int32, len(f.Problem.Pods))
	for _, pod := range f.Problem.Pods {
		priority[podspec.PodName(pod)] = podspec.PriorityOf(pod)
	}
	left := func(plan *scheduling.Plan) []int32 {
		var out []int32
		for pod := range Left(plan) {
			out = append(out, priority[pod])
		}
		slices.SortFunc(out, func(a, b int32) int { return cmp.Compare(b, a) })
		return out
	}
	return slices.Compare(left(a), left(b))
}

// Left are the unplaced pods of a plan, by namespace/name, with their indices in Unschedulable.
func Left(p *scheduling.Plan) map[string]int {
	out := make(map[string]int, len(p.Unschedulable))
	for i := range p.Unschedulable {
		out[p.Unschedulable[i].Pod] = i
	}
	return out
}

// passOn gives a claim that one pod at a time may use to the next pod where the first is left unplaced even with it.
// Pods equal to the first give it up, too, because they would fail for the same reason.
func (t *settling) passOn(ctx context.Context) error {
	plan, choice := t.best, t.choice.Clone()
	for range mostRounds {
		left := Left(plan)
		next := choice.Clone()
		sharers := Sharers(t.facts.Volumes(choice), t.facts.Problem.Pods)
		for _, c := range inNameOrder(sharers) {
			if !c.Once || c.Holder == nil || c.Holder.Spec.NodeName != "" {
				continue
			}
			at, vain := left[podspec.PodName(c.Holder)]
			if !vain || choice.Lets(c.Holder) {
				continue
			}
			for _, pod := range sharers[c] {
				if equality.Semantic.DeepEqual(pod.Spec, c.Holder.Spec) && maps.Equal(pod.Labels, c.Holder.Labels) {
					next.Passed[podspec.PodName(pod)] = true
					reasons := plan.Unschedulable[at]
					reasons.Pod = podspec.PodName(pod)
					t.reasons[reasons.Pod] = reasons
				}
			}
		}
		if len(next.Passed) == len(choice.Passed) {
			return nil
		}
		choice = next
		var err error
		if plan, err = t.under(ctx, choice); err != nil {
			return err
		}
		if compareFacts(t.facts, plan, t.best) < 0 {
			t.best, t.choice = plan, choice
		}
	}
	return nil
}

// keepFree reserves a larger part of the nodes' attachments for shared volumes, where the volumes would otherwise be
// charged to each pod.
func (t *settling) keepFree(ctx context.Context) error {
	for part := int64(podspec.SharedPart / 2); part > 0; part /= 2 {
		charged := false
		for c := range Sharers(t.facts.Volumes(t.choice), t.facts.Problem.Pods) {
			charged = charged || c.Charged
		}
		if !charged {
			return nil
		}
		choice := t.choice.Clone()
		choice.Part = part
		plan, err := t.under(ctx, choice)
		if err != nil {
			return err
		}
		if compareFacts(t.facts, plan, t.best) < 0 {
			t.best, t.choice = plan, choice
		}
	}
	return nil
}

// Unsettled compiles the problem without the chosen zones and volumes, because a bound must hold for every choice of
// them, and returns the number of pods that a plan places, by planned class.
func Unsettled(f *instance.Facts, plan *scheduling.Plan, cautious bool) (*instance.Instance, []int64) {
	open := f.Choice.Clone()
	clear(open.Zones)
	clear(open.Given)
	c := f.Under(open).Compile(cautious)
	left := Left(plan)
	placed := make([]int64, len(c.Planned))
	for i, class := range c.Planned {
		for _, pod := range class.Pods {
			if _, out := left[podspec.PodName(pod)]; !out {
				placed[i]++
			}
		}
	}
	return c, placed
}
