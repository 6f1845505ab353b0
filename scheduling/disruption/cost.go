package disruption

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// bounds of what one pod counts, as Karpenter has them.
const (
	cheapestPod = -10
	dearestPod  = 10
)

// PodDisruptionCost is what evicting a pod costs unless [Planner.PodCost] says otherwise:
// 1 for a pod of no special worth, more for those of high priority or with a high
// controller.kubernetes.io/pod-deletion-cost, less for low ones; at least -10, at most 10.
// It is Karpenter's formula. An annotation that is no number is ignored. Plans count what
// is below 0 as 0.
func PodDisruptionCost(pod *corev1.Pod) float64 {
	cost := 1.0
	if n, err := strconv.ParseFloat(pod.Annotations[corev1.PodDeletionCost], 64); err == nil && !math.IsNaN(n) {
		cost += n / (1 << 27)
	}
	if pod.Spec.Priority != nil {
		cost += float64(*pod.Spec.Priority) / (1 << 25)
	}
	return min(max(cost, cheapestPod), dearestPod)
}

// podCost is what evicting a pod counts in plans.
func (f *frame) podCost(pod *corev1.Pod) float64 {
	cost := f.planner.PodCost
	if cost == nil {
		cost = PodDisruptionCost
	}
	n := cost(pod)
	if math.IsNaN(n) || n < 0 {
		return 0
	}
	return min(n, math.MaxFloat32) // so that sums stay finite
}

// removal is what removing a node with these pods counts.
func (f *frame) removal(movers []*corev1.Pod) float64 {
	cost := f.nodeCost
	for _, pod := range movers {
		cost += f.podCost(pod)
	}
	return cost
}
