package disruption

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// boughtAt is the offering that a node was bought at, on sale or not, and its type; nil where
// the catalog does not tell. A node of a reservation is that of its own reservation.
func boughtAt(node *corev1.Node, catalog *instancetypes.Catalog) (*instancetypes.InstanceType, *offerings.Offering) {
	key := instancetypes.OfferingOf(node)
	if key.CapacityType != offerings.Reserved {
		key.ReservationID = ""
	}
	return listed(catalog, key)
}

// listed is an offering of a catalog, and its type; nil where there is none.
func listed(catalog *instancetypes.Catalog, key offerings.Key) (*instancetypes.InstanceType, *offerings.Offering) {
	o, ok := catalog.Lookup(key)
	if !ok {
		return nil, nil
	}
	t, _ := catalog.Get(key.InstanceType)
	return t, &o
}

// costs is the expected price of an option of a launch, see [scheduling.Policy.ExpectedPrice].
func (f *state) costs(l *scheduling.Launch, x *scheduling.Option) offerings.Price {
	solver := &f.planner.Policy
	if solver.Interruption != (scheduling.Interruption{}) {
		if t, o := listed(f.problem.CatalogOf(l.NodePool), x.Key()); t != nil {
			return solver.ExpectedPrice(t, o)
		}
	}
	return clampPrice(x.Price, solver.NodeOverhead)
}

// costOf is the expected price of what a launch buys, its first option.
func (f *state) costOf(l *scheduling.Launch) offerings.Price {
	if len(l.Options) == 0 {
		return clampPrice(l.Price, f.planner.Policy.NodeOverhead)
	}
	return f.costs(l, &l.Options[0])
}

// spent is what launches are expected to cost, by their first options.
func (f *state) spent(launches []scheduling.Launch) offerings.Price {
	var sum offerings.Price
	for i := range launches {
		sum = clampPrice(sum, f.costOf(&launches[i]))
	}
	return sum
}

// clampPrice adds prices and stops at the largest one.
func clampPrice(a, b offerings.Price) offerings.Price {
	sum, _ := a.Plus(b)
	return sum
}

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
func (f *state) podCost(pod *corev1.Pod) float64 {
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
func (f *state) removal(movers []*corev1.Pod) float64 {
	cost := f.nodeCost
	for _, pod := range movers {
		cost += f.podCost(pod)
	}
	return cost
}
