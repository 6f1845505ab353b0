package eviction

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Budget is a PodDisruptionBudget as plans see it.
type Budget struct {
	Name                string // namespace/name
	Allowed             int    // how many pods may be away at once
	alwaysAllowsUnready bool   // pods that are not ready may always go
}

// Budgets are the PodDisruptionBudgets of a cluster, by name, to be found by pod.
type Budgets struct {
	list    []*Budget
	targets *podspec.Targets // what they select, under the same numbers
}

// NewBudgets reads valid budgets. The pods are all that count for them.
func NewBudgets(budgets []*policyv1.PodDisruptionBudget, pods []*corev1.Pod) *Budgets {
	g := &Budgets{targets: podspec.NewTargets()}
	sorted := slices.Clone(budgets)
	slices.SortFunc(sorted, func(a, b *policyv1.PodDisruptionBudget) int {
		return strings.Compare(BudgetName(a), BudgetName(b))
	})
	counted := make(map[*Budget]*podCount, len(sorted))
	for _, b := range sorted {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			continue // refused by validation
		}
		rule := b.Spec.UnhealthyPodEvictionPolicy
		x := &Budget{Name: BudgetName(b), alwaysAllowsUnready: rule != nil && *rule == policyv1.AlwaysAllow}
		g.list = append(g.list, x)
		g.targets.Add(x.Name, func() podspec.Target {
			return podspec.Target{Selectors: []podspec.PodSelector{{Namespaces: map[string]bool{podspec.OrDefault(b.Namespace): true}, Labels: selector}}}
		})
		if !observed(b) {
			counted[x] = &podCount{spec: &b.Spec}
			continue
		}
		x.Allowed = max(0, int(b.Status.DisruptionsAllowed))
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
			x.Allowed = n.allowed()
		}
	}
	return g
}

// BudgetName names a PodDisruptionBudget.
func BudgetName(b *policyv1.PodDisruptionBudget) string {
	return podspec.OrDefault(b.Namespace) + "/" + b.Name
}

// of returns the budgets that are about a pod, by name.
func (g *Budgets) of(pod *corev1.Pod) []*Budget {
	return lo.Map(g.targets.Sets[g.targets.Matched(podspec.NamespaceOf(pod), pod.Labels)], func(n int32, _ int) *Budget { return g.list[n] })
}

// Charges returns the budgets that count the eviction of a pod: none for one that they let
// go whenever it is not ready.
func (g *Budgets) Charges(pod *corev1.Pod) []*Budget {
	found := g.of(pod)
	if len(found) == 1 && found[0].alwaysAllowsUnready && unready(pod) {
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

// observed reports whether the status of a budget is that of its specification.
func observed(b *policyv1.PodDisruptionBudget) bool {
	s := &b.Status
	return s.ObservedGeneration >= b.Generation &&
		(s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0)
}

// podCount counts the pods of a budget whose controller has not counted them.
type podCount struct {
	spec            *policyv1.PodDisruptionBudgetSpec
	expected, ready int
}

// add counts a pod.
func (n *podCount) add(pod *corev1.Pod) {
	if podspec.Terminal(pod) {
		return
	}
	n.expected++
	if pod.DeletionTimestamp == nil && healthy(pod) {
		n.ready++
	}
}

// healthy reports whether a pod is taken to be ready: it says so, or has a node and says
// nothing to the contrary.
func healthy(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodPending
}

// allowed is how many of the pods may be away: those that are ready beyond the number
// that has to be. Percentages are of the pods that there should be, and rounded up, as the
// disruption controller does it.
func (n *podCount) allowed() int {
	var desired int
	switch {
	case n.spec.MaxUnavailable != nil:
		away, ok := Scaled(n.spec.MaxUnavailable, n.expected)
		if !ok {
			return 0
		}
		desired = max(0, n.expected-away)
	case n.spec.MinAvailable != nil:
		stay, ok := Scaled(n.spec.MinAvailable, n.expected)
		if !ok {
			return 0
		}
		desired = stay
	default:
		return 0 // the disruption controller lets none go of what says nothing
	}
	return max(0, n.ready-desired)
}

// Allowing is a budget that lets none of its pods go, changed so that it lets one go, and the change in a few words:
// one of those that are not ready, where they are what it lets none go for, else any one. It is nil where no change of
// the budget does.
func Allowing(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (changed *policyv1.PodDisruptionBudget, to string) {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil, ""
	}
	n := podCount{spec: &b.Spec}
	for _, pod := range pods {
		if podspec.NamespaceOf(pod) == podspec.OrDefault(b.Namespace) && selector.Matches(labels.Set(pod.Labels)) {
			n.add(pod)
		}
	}
	n.ready = n.expected
	changed = b.DeepCopy()
	always, one := policyv1.AlwaysAllow, intstr.FromInt32(1)
	if rule := b.Spec.UnhealthyPodEvictionPolicy; n.allowed() > 0 {
		if rule != nil && *rule == always {
			return nil, ""
		}
		changed.Spec.UnhealthyPodEvictionPolicy = &always
		return changed, "set spec.unhealthyPodEvictionPolicy to AlwaysAllow"
	}
	to = "set spec.maxUnavailable to 1"
	if b.Spec.MinAvailable != nil {
		to = "replace spec.minAvailable by maxUnavailable: 1"
	}
	if n.expected == 1 {
		to += ", which lets its only pod be away for a while"
	}
	changed.Spec.MinAvailable, changed.Spec.MaxUnavailable = nil, &one
	changed.Status = policyv1.PodDisruptionBudgetStatus{} // its controller has not seen it
	return changed, to
}

// Scaled reads a count that is not negative or a percentage of something, which is rounded up. It
// reports false for anything else.
func Scaled(v *intstr.IntOrString, of int) (int, bool) {
	if v.Type == intstr.Int {
		return int(max(0, v.IntVal)), v.IntVal >= 0
	}
	digits, percent := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !percent || err != nil || n < 0 || strings.HasPrefix(digits, "+") {
		return 0, false
	}
	return int(min((n*int64(of)+99)/100, math.MaxInt32)), true
}
