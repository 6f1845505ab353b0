package pricing

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Costs are the disruption costs of nodes and pods, in a unit in which a pod of default priority counts 1.
type Costs struct {
	// Node is the cost of removing a node, without its pods.
	Node float64
	// Pod returns the cost of evicting a pod; nil is [PodCost]. NaN and values below 0 count as 0.
	Pod func(*corev1.Pod) float64
}

// The bounds of the disruption cost of a pod, as in Karpenter.
const (
	cheapestPod = -10
	dearestPod  = 10
)

// PodCost is Karpenter's disruption cost of evicting a pod, at least -10 and at most 10; that of nil is 0.
func PodCost(pod *corev1.Pod) float64 {
	if pod == nil {
		return 0
	}
	cost := 1.0
	if n, err := strconv.ParseFloat(pod.Annotations[corev1.PodDeletionCost], 64); err == nil && !math.IsNaN(n) {
		cost += n / (1 << 27)
	}
	if pod.Spec.Priority != nil {
		cost += float64(*pod.Spec.Priority) / (1 << 25)
	}
	return min(max(cost, cheapestPod), dearestPod)
}

// Eviction is the cost of evicting a pod: finite and not negative.
func (c *Costs) Eviction(pod *corev1.Pod) float64 {
	if scheduling.IsVirtual(pod) {
		return 0 // nothing runs in it
	}
	cost := c.Pod
	if cost == nil {
		cost = PodCost
	}
	n := cost(pod)
	if math.IsNaN(n) || n < 0 {
		return 0
	}
	return min(n, math.MaxFloat32) // so that sums stay finite
}

// Removal is the cost of removing a node from which these pods are evicted.
func (c *Costs) Removal(pods []*corev1.Pod) float64 {
	cost := c.Node
	for _, pod := range pods {
		cost += c.Eviction(pod)
	}
	return cost
}
