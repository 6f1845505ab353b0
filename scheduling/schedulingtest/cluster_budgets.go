package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// countBudgets writes the status of every PodDisruptionBudget as the disruption
// controller would, counting the pods that run as those that are wanted.
func countBudgets(c *disruption.Cluster) {
	type label struct{ namespace, key, value string }
	spaces, labelled := make(map[string][]*corev1.Pod), make(map[label][]*corev1.Pod)
	for _, pod := range c.Running {
		spaces[pod.Namespace] = append(spaces[pod.Namespace], pod)
		for key, value := range pod.Labels {
			at := label{pod.Namespace, key, value}
			labelled[at] = append(labelled[at], pod)
		}
	}
	for _, b := range c.PodDisruptionBudgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || b.Spec.Selector == nil {
			continue
		}
		pods := spaces[b.Namespace]
		for key, value := range b.Spec.Selector.MatchLabels {
			// Thousands of budgets over a hundred thousand pods: look at those with the label.
			pods = labelled[label{b.Namespace, key, value}]
			break
		}
		tally(b, selected(pods, selector))
	}
}

// selected are the pods that count for a budget.
func selected(pods []*corev1.Pod, selector labels.Selector) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if done := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; !done && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out
}

// tally fills the status in for the pods that a budget is about.
func tally(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) {
	healthy := 0
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && ready(pod) {
			healthy++
		}
	}
	// Shares are rounded up, of both.
	desired := 0
	switch {
	case b.Spec.MaxUnavailable != nil:
		n, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, len(pods), true)
		desired = max(len(pods)-n, 0)
	case b.Spec.MinAvailable != nil:
		desired, _ = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, len(pods), true)
	}
	b.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: b.Generation,
		DisruptionsAllowed: int32(max(healthy-desired, 0)),
		CurrentHealthy:     int32(healthy),
		DesiredHealthy:     int32(desired),
		ExpectedPods:       int32(len(pods)),
	}
}

func ready(pod *corev1.Pod) bool {
	for _, cond := range pod.Status.Conditions {
		if cond.Type == corev1.PodReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}
