package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// tolerationFix names the tolerations that are missing for some taints.
func tolerationFix(group *podspec.Constraint, taints []corev1.Taint, object, where string) scheduling.Change {
	var changes []scheduling.Change
	var texts []string
	for i := range taints {
		t := &taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || podspec.Tolerates(group.Tolerations, t) {
			continue
		}
		changes = append(changes, scheduling.Change{
			Kind: scheduling.ChangeToleration, Object: object, Key: t.Key, To: t.Value, Effect: string(t.Effect),
			Text: "add toleration " + taintText(t) + " for " + where,
		})
		texts = append(texts, taintText(t))
	}
	if len(changes) < 2 {
		return changes[0]
	}
	c := changes[0]
	c.Text = fmt.Sprintf("add tolerations %s for %s", strings.Join(texts, " and "), where)
	c.And = slices.Clone(changes[1:])
	return c
}

// nodeTaintFix proposes a change for a node with taints that pods do not tolerate. Taints that mark the state of the node,
// e.g. node.kubernetes.io/unschedulable, go when the node is uncordoned or repaired, so no toleration is proposed for them.
func nodeTaintFix(group *podspec.Constraint, taints []corev1.Taint, node string) scheduling.Change {
	var changes []scheduling.Change
	var others []corev1.Taint
	for i := range taints {
		t := &taints[i]
		switch {
		case t.Effect == corev1.TaintEffectPreferNoSchedule || podspec.Tolerates(group.Tolerations, t):
		case !podspec.TellsCondition(t):
			others = append(others, *t)
		default:
			c := scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/" + node, Key: t.Key, Text: "uncordon node " + node}
			if t.Key != corev1.TaintNodeUnschedulable {
				c.Text = fmt.Sprintf("repair node %s, or wait until it no longer has the taint %s", node, t.Key)
			}
			if !slices.ContainsFunc(changes, func(have scheduling.Change) bool { return have.Key == c.Key }) {
				changes = append(changes, c)
			}
		}
	}
	if len(others) > 0 {
		changes = append(changes, tolerationFix(group, others, "Node/"+node, "node "+node))
	}
	return offers.Joined(changes, ", and ")
}

// applyToleration lets the pod tolerate a taint.
func applyToleration(t *Trial, c *scheduling.Change) bool {
	t.Pod.Spec.Tolerations = append(t.Pod.Spec.Tolerations, corev1.Toleration{
		Key: c.Key, Operator: corev1.TolerationOpEqual, Value: c.To, Effect: corev1.TaintEffect(c.Effect),
	})
	return true
}

// applyTaint takes the taints of a key off a node, and uncordons it if the taint is that of a cordon.
func applyTaint(t *Trial, c *scheduling.Change) bool {
	i := slices.IndexFunc(t.Problem.Nodes, func(n *corev1.Node) bool { return n.Name == nameOf(c.Object) })
	if i < 0 {
		return false
	}
	n := t.Problem.Nodes[i].DeepCopy()
	found := drop(&n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == c.Key })
	if c.Key == corev1.TaintNodeUnschedulable {
		found = found || n.Spec.Unschedulable
		n.Spec.Unschedulable = false
	}
	return found && t.Update(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
}
