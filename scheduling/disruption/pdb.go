package disruption

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// guard is a PodDisruptionBudget as plans see it.
type guard struct {
	name      string // namespace/name
	selector  labels.Selector
	unhealthy bool // pods that are not ready may always go
	allowed   int  // how many pods may be away at once
}

// guards are the PodDisruptionBudgets of a cluster, to be found by pod.
type guards struct {
	list []*guard
	// named holds, by namespace, the budgets that ask for one value of a label, under one
	// such label; open the others.
	named map[string]map[labelPair][]*guard
	open  map[string][]*guard
}

// labelPair is a label with its value.
type labelPair struct{ key, value string }

// newGuards reads valid budgets. The pods are all that count for them.
func newGuards(budgets []*policyv1.PodDisruptionBudget, pods []*corev1.Pod) *guards {
	g := &guards{named: map[string]map[labelPair][]*guard{}, open: map[string][]*guard{}}
	sorted := slices.Clone(budgets)
	slices.SortFunc(sorted, func(a, b *policyv1.PodDisruptionBudget) int {
		return strings.Compare(budgetName(a), budgetName(b))
	})
	counted := make(map[*guard]*headcount, len(sorted))
	for _, b := range sorted {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			continue // refused by validation
		}
		policy := b.Spec.UnhealthyPodEvictionPolicy
		x := &guard{name: budgetName(b), selector: selector, unhealthy: policy != nil && *policy == policyv1.AlwaysAllow}
		g.list = append(g.list, x)
		g.file(namespaceOf(b.Namespace), b.Spec.Selector, x)
		if !observed(b) {
			counted[x] = &headcount{spec: &b.Spec}
			continue
		}
		x.allowed = max(0, int(b.Status.DisruptionsAllowed))
	}
	if len(counted) > 0 {
		for _, pod := range pods {
			for _, x := range g.of(pod) {
				if n := counted[x]; n != nil {
					n.add(pod)
				}
			}
		}
		for x, n := range counted {
			x.allowed = n.allowed()
		}
	}
	return g
}

// budgetName names a PodDisruptionBudget.
func budgetName(b *policyv1.PodDisruptionBudget) string {
	return namespaceOf(b.Namespace) + "/" + b.Name
}

// file puts a budget where the pods that it is about look for it.
func (g *guards) file(namespace string, s *metav1.LabelSelector, x *guard) {
	if s == nil {
		return // it is about no pod
	}
	if len(s.MatchLabels) == 0 {
		g.open[namespace] = append(g.open[namespace], x)
		return
	}
	var least labelPair
	for key, value := range s.MatchLabels {
		if least.key == "" || key < least.key {
			least = labelPair{key, value}
		}
	}
	if g.named[namespace] == nil {
		g.named[namespace] = map[labelPair][]*guard{}
	}
	g.named[namespace][least] = append(g.named[namespace][least], x)
}

// of returns the budgets that are about a pod, by name.
func (g *guards) of(pod *corev1.Pod) []*guard {
	namespace := namespaceOf(pod.Namespace)
	open, named := g.open[namespace], g.named[namespace]
	if len(open) == 0 && len(named) == 0 {
		return nil
	}
	var out []*guard
	set := labels.Set(pod.Labels)
	for _, x := range open {
		if x.selector.Matches(set) {
			out = append(out, x)
		}
	}
	if len(named) > 0 {
		for key, value := range pod.Labels {
			for _, x := range named[labelPair{key, value}] {
				if x.selector.Matches(set) {
					out = append(out, x)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b *guard) int { return strings.Compare(a.name, b.name) })
	return out
}

// charges returns the budgets that count the eviction of a pod: none for one that they let
// go whenever it is not ready.
func (g *guards) charges(pod *corev1.Pod) []*guard {
	found := g.of(pod)
	if len(found) == 1 && found[0].unhealthy && unready(pod) {
		return nil
	}
	return found
}

// unready reports whether a pod is known not to be ready.
func unready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}
