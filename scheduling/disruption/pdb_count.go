package disruption

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// observed reports whether the status of a budget is that of its specification.
func observed(b *policyv1.PodDisruptionBudget) bool {
	s := &b.Status
	return s.ObservedGeneration >= b.Generation &&
		(s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0)
}

// headcount counts the pods of a budget whose controller has not counted them.
type headcount struct {
	spec            *policyv1.PodDisruptionBudgetSpec
	expected, ready int
}

// add counts a pod.
func (n *headcount) add(pod *corev1.Pod) {
	if ended(pod) {
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
func (n *headcount) allowed() int {
	var desired int
	switch {
	case n.spec.MaxUnavailable != nil:
		away, ok := scaled(n.spec.MaxUnavailable, n.expected)
		if !ok {
			return 0
		}
		desired = max(0, n.expected-away)
	case n.spec.MinAvailable != nil:
		stay, ok := scaled(n.spec.MinAvailable, n.expected)
		if !ok {
			return 0
		}
		desired = stay
	default:
		return 0 // the disruption controller lets none go of what says nothing
	}
	return max(0, n.ready-desired)
}

// scaled reads a count that is not negative or a percentage, which is rounded up.
func scaled(v *intstr.IntOrString, of int) (int, bool) {
	if v.Type == intstr.Int {
		return int(v.IntVal), v.IntVal >= 0
	}
	digits, percent := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !percent || err != nil || n < 0 || strings.HasPrefix(digits, "+") {
		return 0, false
	}
	return int(min((n*int64(of)+99)/100, math.MaxInt32)), true
}
