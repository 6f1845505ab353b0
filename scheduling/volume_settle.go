package scheduling

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// volumeRounds is how many times each question about volumes may be asked anew.
const volumeRounds = 8

// settleVolumes asks what a plan cannot answer itself and its volumes depend on: which
// pod gets a claim that one at a time may use, how much of their attachments machines
// keep for volumes that pods share, in which zone a volume is made that several pods wait
// for, and which of those that are there they get. Each answer is a plan of its own, and the best one is kept. Problems
// without such volumes are not solved again.
func (f *facts) settleVolumes(ctx context.Context, plan *solved) (*solved, error) {
	x := f.volumes(f.choice)
	if x == nil || len(x.sharers(f.problem.Pods)) == 0 {
		return plan, nil
	}
	t := &volumeSettling{facts: *f, best: plan, reasons: map[string]Unschedulable{}}
	for _, ask := range []func(context.Context) error{t.passOn, t.keepFree, t.meet, t.give} {
		if err := ask(ctx); err != nil {
			return nil, err
		}
	}
	t.keepReasons(t.best.Plan)
	return t.best, nil
}

// volumeSettling is the search for what to decide about volumes: the choice of its facts is
// the one that led to the best plan.
type volumeSettling struct {
	facts
	best *solved
	// reasons say of pods that had a claim in vain what kept them out.
	reasons map[string]Unschedulable
}

// sharers lists, by claim, the pods to be placed that use it, where those are several.
func (x *volumeIndex) sharers(pods []*corev1.Pod) map[*claim][]*corev1.Pod {
	out := map[*claim][]*corev1.Pod{}
	for _, pod := range x.users(pods) {
		for _, c := range x.claimsOf(pod) {
			out[c] = append(out[c], pod)
		}
	}
	maps.DeleteFunc(out, func(_ *claim, users []*corev1.Pod) bool { return len(users) < 2 })
	return out
}

func inNameOrder(sharers map[*claim][]*corev1.Pod) []*claim {
	return slices.SortedFunc(maps.Keys(sharers), func(a, b *claim) int { return strings.Compare(a.name, b.name) })
}

// under solves with a choice.
func (t *volumeSettling) under(ctx context.Context, choice *volumeChoice) (*solved, error) {
	f := t.facts
	f.choice, f.memory = choice, newMemory()
	x, err := f.place(ctx)
	if err == nil {
		t.keepReasons(x.Plan)
	}
	return x, err
}

// keepReasons says of pods that let others have their claims why they are left out
// even so.
func (t *volumeSettling) keepReasons(plan *Plan) {
	for pod, at := range plan.left() {
		if reasons, ok := t.reasons[pod]; ok {
			plan.Unschedulable[at] = reasons
		}
	}
}

// compare orders plans, the better first: fewer pods left out, of the highest priority
// first, then the lower price.
func (f *facts) compare(a, b *solved) int {
	return cmp.Or(f.fewerLeft(a.Plan, b.Plan), cmp.Compare(f.solver.objective(&a.Plan.Summary), f.solver.objective(&b.Plan.Summary)))
}

// fewerLeft orders plans by the pods that they leave out alone.
func (f *facts) fewerLeft(a, b *Plan) int {
	priority := make(map[string]int32, len(f.problem.Pods))
	for _, pod := range f.problem.Pods {
		priority[podName(pod)] = priorityOf(pod)
	}
	left := func(plan *Plan) []int32 {
		var out []int32
		for pod := range plan.left() {
			out = append(out, priority[pod])
		}
		slices.SortFunc(out, func(a, b int32) int { return cmp.Compare(b, a) })
		return out
	}
	return slices.Compare(left(a), left(b))
}

// left are the pods that a plan leaves out, with their places in its list.
func (p *Plan) left() map[string]int {
	out := make(map[string]int, len(p.Unschedulable))
	for i := range p.Unschedulable {
		out[p.Unschedulable[i].Pod] = i
	}
	return out
}

// passOn gives claims that one pod at a time may use to the next, where the first is
// left out whatever it may use. So are those that are like it.
func (t *volumeSettling) passOn(ctx context.Context) error {
	plan, choice := t.best, t.choice.clone()
	for range volumeRounds {
		left := plan.left()
		next := choice.clone()
		sharers := t.volumes(choice).sharers(t.problem.Pods)
		for _, c := range inNameOrder(sharers) {
			if !c.once || c.holder == nil || c.holder.Spec.NodeName != "" {
				continue
			}
			at, vain := left[podName(c.holder)]
			if !vain || choice.lets(c.holder) {
				continue
			}
			for _, pod := range sharers[c] {
				if equality.Semantic.DeepEqual(pod.Spec, c.holder.Spec) && maps.Equal(pod.Labels, c.holder.Labels) {
					next.passed[podName(pod)] = true
					reasons := plan.Unschedulable[at]
					reasons.Pod = podName(pod)
					t.reasons[reasons.Pod] = reasons
				}
			}
		}
		if len(next.passed) == len(choice.passed) {
			return nil
		}
		choice = next
		var err error
		if plan, err = t.under(ctx, choice); err != nil {
			return err
		}
		if t.compare(plan, t.best) < 0 {
			t.best, t.choice = plan, choice
		}
	}
	return nil
}

// keepFree keeps more of their attachments for shared volumes, where pods would be
// charged for them one by one otherwise.
func (t *volumeSettling) keepFree(ctx context.Context) error {
	for part := int64(sharedPart / 2); part > 0; part /= 2 {
		charged := false
		for c := range t.volumes(t.choice).sharers(t.problem.Pods) {
			charged = charged || c.charged
		}
		if !charged {
			return nil
		}
		choice := t.choice.clone()
		choice.part = part
		plan, err := t.under(ctx, choice)
		if err != nil {
			return err
		}
		if t.compare(plan, t.best) < 0 {
			t.best, t.choice = plan, choice
		}
	}
	return nil
}
