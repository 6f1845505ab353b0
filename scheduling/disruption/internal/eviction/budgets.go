package eviction

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Budget is a PodDisruptionBudget with the number of disruptions that it allows.
type Budget struct {
	Name                string // namespace/name
	Allowed             int    // how many pods may be away at once
	alwaysAllowsUnready bool   // unhealthyPodEvictionPolicy is AlwaysAllow
}

// Budgets are the PodDisruptionBudgets of a cluster, by name.
type Budgets struct {
	list    []*Budget
	targets *podspec.Targets // their selectors, under the same numbers
}

// NewBudgets reads valid budgets. The pods are all pods that they may count, pending ones included.
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

// BudgetName is the name of a PodDisruptionBudget, as namespace/name.
func BudgetName(b *policyv1.PodDisruptionBudget) string {
	return podspec.OrDefault(b.Namespace) + "/" + b.Name
}

// of are the budgets whose selector matches a pod, by name.
func (g *Budgets) of(pod *corev1.Pod) []*Budget {
	return lo.Map(g.targets.Sets[g.targets.Matched(podspec.NamespaceOf(pod), pod.Labels)], func(n int32, _ int) *Budget { return g.list[n] })
}

// Charges are the budgets that count the eviction of a pod. A single budget that always allows the eviction of pods
// that are not ready does not count these. None counts virtual pods.
func (g *Budgets) Charges(pod *corev1.Pod) []*Budget {
	if scheduling.IsVirtual(pod) {
		return nil
	}
	found := g.of(pod)
	if len(found) == 1 && found[0].alwaysAllowsUnready && unready(pod) {
		return nil
	}
	return found
}

// unready reports whether a pod has the condition not to be ready.
func unready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

// observed reports whether the status of a budget is for its current specification.
func observed(b *policyv1.PodDisruptionBudget) bool {
	s := &b.Status
	return s.ObservedGeneration >= b.Generation &&
		(s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0)
}

// podCount counts the pods of a budget whose controller has not done so.
type podCount struct {
	spec            *policyv1.PodDisruptionBudgetSpec
	expected, ready int
}

// add counts a pod unless it has ended or is virtual.
func (n *podCount) add(pod *corev1.Pod) {
	if lifecycle.Ended(pod) || scheduling.IsVirtual(pod) {
		return
	}
	n.expected++
	if pod.DeletionTimestamp == nil && healthy(pod) {
		n.ready++
	}
}

// healthy reports whether a pod counts as ready: by its condition or, without one, because it has a node and is not
// pending.
func healthy(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodPending
}

// allowed is how many of the pods may be away: the ready pods beyond the number that must be ready. Percentages are
// of all counted pods, rounded up, as in the disruption controller.
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
		return 0 // a budget without either allows no disruption
	}
	return max(0, n.ready-desired)
}

// AllowOne are budgets of a cluster, changed so that each that allows no disruption of the held pods allows one. Of several
// budgets of a pod, all but the first by name are left out. The pods are all that budgets count. Changes are described in
// words, by object.
func (g *Budgets) AllowOne(budgets []*policyv1.PodDisruptionBudget, held, pods []*corev1.Pod, now time.Time, changes map[string]string) []*policyv1.PodDisruptionBudget {
	none, second := map[string]bool{}, map[string]bool{}
	for _, pod := range held {
		if !Evictable(pod, now) {
			continue
		}
		for i, b := range g.Charges(pod) {
			if i > 0 {
				second[b.Name] = true
			} else if b.Allowed == 0 {
				none[b.Name] = true
			}
		}
	}
	out := []*policyv1.PodDisruptionBudget{}
	for _, b := range budgets {
		name := BudgetName(b)
		switch object := "poddisruptionbudget/" + name; {
		case second[name]:
			changes[object] = "merge it into the other PodDisruptionBudget of its pods, because the eviction API supports one for each pod"
			continue
		case none[name]:
			if own, to := Allowing(b, pods); own != nil {
				b, changes[object] = own, to
			}
		}
		out = append(out, b)
	}
	return out
}

// Allowing is a copy of a budget that allows no disruption, changed so that it allows one, and the change in a few
// words, with the way without downtime first. If the budget only holds because pods are not ready, it then allows the
// eviction of these, otherwise of any one. It is nil if no change of the budget helps.
func Allowing(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (changed *policyv1.PodDisruptionBudget, to string) {
	if b == nil {
		return nil, ""
	}
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
		return changed, "repair the pods that are not ready, or set spec.unhealthyPodEvictionPolicy to AlwaysAllow"
	}
	to = "set spec.maxUnavailable to 1"
	if b.Spec.MinAvailable != nil {
		to = "replace spec.minAvailable by maxUnavailable: 1"
	}
	if n.expected == 1 {
		to = "run 2 replicas, and " + to + " (with 1 replica: brief downtime)"
	}
	changed.Spec.MinAvailable, changed.Spec.MaxUnavailable = nil, &one
	changed.Status = policyv1.PodDisruptionBudgetStatus{} // so that the pods are counted
	return changed, to
}

// Scaled reads a count or a percentage of a number, rounded up. It reports false for negative numbers and anything
// else.
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
