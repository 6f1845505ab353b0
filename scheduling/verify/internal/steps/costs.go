package steps

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// costs says how much nodes cost by the catalog, and how much it costs to disrupt them.
type costs struct {
	state   *snapshot.State
	planner *disruption.Planner
}

// priceOf returns the catalog's price of a node's machine, on sale or not, and the expected cost of the node; false
// where the catalog does not have it.
func (c *costs) priceOf(node *corev1.Node) (bare, expected offerings.Price, ok bool) {
	t, o, ok := c.state.Sold(node)
	if !ok {
		return 0, 0, false
	}
	return o.Price, c.state.Policy.Objective(t, o), true
}

// expectedOf returns the expected cost of an option of a launch, its price if the catalog does not have it.
func (c *costs) expectedOf(l *scheduling.Launch, o *scheduling.LaunchOption) offerings.Price {
	if pl := c.state.Pools[l.NodePool]; pl != nil {
		if t, ok := pl.Catalog.Get(o.InstanceType); ok {
			if offering, ok := snapshot.FindOffering(t, o.Zone, o.CapacityType, o.ReservationID); ok {
				return c.state.Policy.Objective(t, offering)
			}
		}
	}
	return o.Price
}

// podCost returns the disruption cost of evicting the pod: Karpenter's formula where the planner has none, 0 for a virtual pod.
func (c *costs) podCost(pod *corev1.Pod) float64 {
	if scheduling.IsVirtual(pod) {
		return 0
	}
	var cost float64
	if of := c.planner.PodCost; of != nil {
		cost = of(pod)
	} else {
		cost = disruption.PodDisruptionCost(pod)
	}
	if math.IsNaN(cost) {
		return 0
	}
	return min(max(cost, 0), math.MaxFloat32)
}

// nodeCost returns the disruption cost of a node without pods, 1 by default.
func (c *costs) nodeCost() float64 {
	if n := c.planner.NodeCost; n != 0 {
		return n
	}
	return 1
}

// removal returns the disruption cost of removing the node with its pods.
func (c *costs) removal(s *clusterNode) float64 {
	if s.removal == nil {
		cost := c.nodeCost()
		for _, pod := range s.pods {
			if reschedulable(pod) {
				cost += c.podCost(pod)
			}
		}
		s.removal = &cost
	}
	return *s.removal
}
