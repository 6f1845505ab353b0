package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// budgets are PodDisruptionBudgets that never let a pod go, let none go now because pods are not ready, or
// have no pod.
func budgets(c *disruption.Cluster) (out []Finding) {
	pods := lo.GroupBy(podsOf(&c.Problem), func(p *corev1.Pod) string { return cmp.Or(p.Namespace, "default") })
	for _, b := range c.PodDisruptionBudgets {
		object := "PodDisruptionBudget/" + budgetName(b)
		if _, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil {
			continue // validation tells that
		}
		g := guard(b, pods[cmp.Or(b.Namespace, "default")])
		if g.pods == 0 {
			out = append(out, Finding{
				Severity: Warning, Code: BudgetIdle, Object: object, Field: "spec.selector", Value: metav1.FormatLabelSelector(b.Spec.Selector),
				Message: "selects no pods, so that it protects none", Advice: "correct the selector, or delete it",
			})
			continue
		}
		fix := c.BudgetFix(b)
		if g.allows() || fix == "" {
			continue
		}
		f := Finding{Severity: Error, Code: BudgetBlocks, Object: object, Advice: fix}
		switch {
		case b.Spec.MaxUnavailable != nil:
			f.Field, f.Value = "spec.maxUnavailable", b.Spec.MaxUnavailable.String()
		case b.Spec.MinAvailable != nil:
			f.Field, f.Value = "spec.minAvailable", b.Spec.MinAvailable.String()
		}
		switch {
		case g.allowed(g.pods) > 0:
			f.Severity, f.Code, f.Field, f.Value = Warning, BudgetUnready, "spec.unhealthyPodEvictionPolicy", ""
			f.Message = fmt.Sprintf("blocks the eviction of all of its pods (%d), because %d of them are not ready; not even these can be evicted", g.pods, g.pods-g.ready)
		case g.always():
			f.Message = fmt.Sprintf("never lets a ready one of its pods (%d) be evicted, so that their nodes can be neither drained nor replaced", g.pods)
		default:
			f.Message = fmt.Sprintf("never lets any of its pods (%d) be evicted, so that their nodes can be neither drained nor replaced", g.pods)
		}
		out = append(out, f)
	}
	return out
}

// budgetName is namespace/name.
func budgetName(b *policyv1.PodDisruptionBudget) string {
	return cmp.Or(b.Namespace, "default") + "/" + b.Name
}

// guarded is a PodDisruptionBudget with the number of its pods, and of its ready pods.
type guarded struct {
	spec        policyv1.PodDisruptionBudgetSpec
	pods, ready int
}

// guard counts the pods of a budget among the pods of its namespace.
func guard(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) *guarded {
	g := &guarded{spec: b.Spec}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return g
	}
	for _, pod := range pods {
		if selector.Matches(labels.Set(pod.Labels)) {
			g.pods++
			if !unready(pod) {
				g.ready++
			}
		}
	}
	return g
}

// unready reports whether a pod that has a node is known not to be ready.
func unready(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

// always reports whether pods that are not ready may always go.
func (g *guarded) always() bool {
	return g.spec.UnhealthyPodEvictionPolicy != nil && *g.spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
}

// allows reports whether a pod may be evicted: by the count of ready pods or, if the budget allows it, one that is not ready.
func (g *guarded) allows() bool {
	return g.allowed(g.ready) > 0 || g.always() && g.ready < g.pods
}

// allowed is the number of pods that may be evicted when ready pods are ready, by the disruption
// controller's rules.
func (g *guarded) allowed(ready int) int {
	desired := 0
	switch {
	case g.spec.MaxUnavailable != nil:
		if n, err := intstr.GetScaledValueFromIntOrPercent(g.spec.MaxUnavailable, g.pods, true); err == nil {
			desired = max(0, g.pods-n)
		}
	case g.spec.MinAvailable != nil:
		if n, err := intstr.GetScaledValueFromIntOrPercent(g.spec.MinAvailable, g.pods, true); err == nil {
			desired = n
		}
	}
	return max(0, ready-desired)
}
