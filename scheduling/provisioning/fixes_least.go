package provisioning

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// leastOf returns a change that places the pod, without the parts that it does not need for that.
func (t *fixTrial) leastOf(ctx context.Context, c scheduling.Change) scheduling.Change {
	parts := partsOf(c)
	for i := 0; i < len(parts) && len(parts) > 1 && t.left > 0; {
		rest := slices.Delete(explain.CopyChanges(parts), i, i+1)
		less := offers.Joined(rest, ", and ")
		t.left--
		if t.with(&less) != nil && t.holds(ctx, &less) {
			parts, c = rest, less
		} else {
			i++
		}
	}
	return c
}

// partsOf returns the single changes of a combined change, each with its own text. Changes with the same text are one
// part.
func partsOf(c scheduling.Change) []scheduling.Change {
	own := c.Text
	for i := len(c.And) - 1; i >= 0; i-- {
		before, found := strings.CutSuffix(own, c.And[i].Text)
		if _, where, at := strings.Cut(own, " for "); !found && at && c.Kind == scheduling.ChangeToleration {
			return tolerations(c, where)
		}
		if !found {
			return []scheduling.Change{c}
		}
		if own, found = strings.CutSuffix(before, ", and "); !found {
			if own, found = strings.CutSuffix(before, " and "); !found {
				return []scheduling.Change{c}
			}
		}
	}
	first := c
	first.And, first.Text = nil, own
	out := []scheduling.Change{first}
	for i := range c.And {
		out = append(out, partsOf(c.And[i])...)
	}
	return out
}

// tolerations are the tolerations that a change is made of, which share a text.
func tolerations(c scheduling.Change, where string) (out []scheduling.Change) {
	for _, one := range append([]scheduling.Change{c}, c.And...) {
		taint := corev1.Taint{Key: one.Key, Value: one.To, Effect: corev1.TaintEffect(one.Effect)}
		one.And, one.Text = nil, "add toleration "+taint.ToString()+" for "+where
		out = append(out, one)
	}
	return out
}

// forAll raises the limits and replicas of a change from the need of one pod to the need of all equal pods without a
// place, the pod and others. It leaves the change as it is where not all of them can be placed at once.
func (t *fixTrial) forAll(ctx context.Context, c *scheduling.Change, others []*corev1.Pod) {
	parts := partsOf(*c)
	lifted := explain.CopyChanges(parts)
	some := false
	for i := range lifted {
		if p := &lifted[i]; p.Kind == scheduling.ChangeReplicas || p.Kind == scheduling.ChangeLimit && len(p.And) == 0 {
			p.To, some = boundless, true
		}
	}
	all := offers.Joined(lifted, ", and ")
	if len(others) == 0 || !some || t.left < 2 {
		return
	}
	t.left -= 2
	plan := t.placedWith(ctx, &all, others)
	if plan == nil {
		return
	}
	for i := range parts {
		p := &parts[i]
		key := corev1.ResourceName(p.Key)
		switch {
		case p.Kind == scheduling.ChangeReplicas:
			key = scheduling.NodesResource
		case p.Kind != scheduling.ChangeLimit || len(p.And) > 0:
			continue
		}
		_, pool, _ := strings.Cut(p.Object, "/")
		to := heldBy(&t.session.problem, plan, pool, key)
		p.Text, p.To = strings.Replace(p.Text, " to "+p.To, " to "+to, 1), to
	}
	if raised := offers.Joined(parts, ", and "); t.placedWith(ctx, &raised, others) != nil {
		*c = t.leastOf(ctx, raised) // with more room another part may be needless
	}
}

// boundless is a limit that no use reaches.
const boundless = "1E"

// placedWith returns the plan in which the pod and the equal pods of others are placed once a change is made; nil if
// not all of them are.
func (t *fixTrial) placedWith(ctx context.Context, c *scheduling.Change, others []*corev1.Pod) *scheduling.Plan {
	next := t.with(c)
	if next == nil {
		return nil
	}
	x, err := next.waits()
	if err != nil {
		return nil
	}
	var more []*corev1.Pod
	for _, pod := range others {
		same := pod.DeepCopy()
		same.Spec = *next.pod.Spec.DeepCopy()
		more = append(more, same)
	}
	if x.Apply(scheduling.Delta{Pods: more}) != nil {
		return nil
	}
	plan, err := x.Place(ctx, scheduling.EffortFast)
	if err != nil || withPlace(plan) < 1+len(next.affinePods)+len(more) {
		return nil
	}
	return plan
}

// heldBy returns the amount of a resource that the nodes of a NodePool have together, with the nodes that a plan
// launches.
func heldBy(p *scheduling.Problem, plan *scheduling.Plan, pool string, name corev1.ResourceName) string {
	var sum resource.Quantity
	one := *resource.NewQuantity(1, resource.DecimalSI)
	for _, node := range p.Nodes {
		if node.Labels[scheduling.NodePoolLabel] == pool && !podspec.Going(node) {
			if name == scheduling.NodesResource {
				sum.Add(one)
			} else {
				sum.Add(podspec.Quantity(name, instance.NodeLimitUse(p, pool, []corev1.ResourceName{name}, node)[0]))
			}
		}
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		if l.NodePool != pool {
			continue
		}
		catalog := p.CatalogOf(pool)
		it, _ := catalog.Get(l.Options[0].InstanceType)
		switch o, ok := catalog.Lookup(l.Options[0].Key()); {
		case name == scheduling.NodesResource:
			sum.Add(one)
		case ok:
			sum.Add(offers.CapacityOf(it, &o, name))
		}
	}
	return offers.LimitText(name, sum)
}
