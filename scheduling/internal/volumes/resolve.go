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

// mostRounds is how many times each question about volumes may be asked anew.
const mostRounds = 8

// Solver makes a plan of facts.
type Solver func(context.Context, *instance.Facts) (*scheduling.Plan, error)

// Resolve asks what a plan cannot answer itself and its volumes depend on: which
// pod gets a claim that one at a time may use, how much of their attachments machines
// keep for volumes that pods share, in which zone a volume is made that several pods wait
// for, and which of those that are there they get. Each answer is a plan of its own, and the best one is kept. Problems
// without such volumes are not solved again.
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

// settling is the search for what to decide about volumes.
type settling struct {
	facts  *instance.Facts
	solve  Solver
	best   *scheduling.Plan
	choice *podspec.VolumeChoice // under which the best plan was made
	// reasons say of pods that had a claim in vain what kept them out.
	reasons map[string]scheduling.Unschedulable
}

// Sharers lists, by claim, the pods to be placed that use it, where those are several.
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

// keepReasons says of pods that let others have their claims why they are left out
// even so.
func (t *settling) keepReasons(plan *scheduling.Plan) {
	for pod, at := range Left(plan) {
		if reasons, ok := t.reasons[pod]; ok {
			plan.Unschedulable[at] = reasons
		}
	}
}

// compareFacts orders plans, the better first: fewer pods left out, of the highest priority
// first, then the lower price.
func compareFacts(f *instance.Facts, a, b *scheduling.Plan) int {
	return cmp.Or(CompareLeft(f, a, b), cmp.Compare(offers.Objective(f.Solver, &a.Summary), offers.Objective(f.Solver, &b.Summary)))
}

// CompareLeft orders plans by the pods that they leave out alone.
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

// Left are the pods that a plan leaves out, with their places in its list.
func Left(p *scheduling.Plan) map[string]int {
	out := make(map[string]int, len(p.Unschedulable))
	for i := range p.Unschedulable {
		out[p.Unschedulable[i].Pod] = i
	}
	return out
}

// passOn gives claims that one pod at a time may use to the next, where the first is
// left out whatever it may use. So are those that are like it.
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

// keepFree keeps more of their attachments for shared volumes, where pods would be
// charged for them one by one otherwise.
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

// Unsettled compiles the problem as if it were open where volumes are made, which no
// bound may take for granted, and counts by class what a plan places.
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
