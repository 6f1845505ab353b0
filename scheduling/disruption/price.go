package disruption

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// instanceType, zone and capacityType are what a node's labels say that it is, "" where
// they do not.
func instanceType(node *corev1.Node) string {
	return cmp.Or(node.Labels[corev1.LabelInstanceTypeStable], node.Labels[corev1.LabelInstanceType])
}

func zone(node *corev1.Node) string {
	return cmp.Or(node.Labels[corev1.LabelTopologyZone], node.Labels[corev1.LabelFailureDomainBetaZone])
}

func capacityType(node *corev1.Node) offerings.CapacityType {
	return offerings.CapacityType(node.Labels[scheduling.CapacityTypeLabel])
}

// nodePrice is what a node costs: the price of the offering that it was bought at, on sale
// or not, and false where the catalog does not tell. A node of a reservation is that of
// its own reservation.
func nodePrice(node *corev1.Node, catalog *instancetypes.Catalog) (offerings.Price, bool) {
	t, ok := catalog.Get(instanceType(node))
	if !ok {
		return 0, false
	}
	in, by := zone(node), capacityType(node)
	reservation := node.Labels[offerings.ReservationIDLabel]
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone != in || o.CapacityType != by {
			continue
		}
		if by != offerings.Reserved || reservation == "" || o.ReservationID == reservation {
			return o.Price, true
		}
	}
	return 0, false
}

// catalogOf is the catalog that a pool buys from.
func catalogOf(p *scheduling.Problem, pool string) *instancetypes.Catalog {
	if own, ok := p.PoolCatalogs[pool]; ok {
		return own
	}
	return p.Catalog
}

// clampPrice adds prices and stops at the largest one.
func clampPrice(a, b offerings.Price) offerings.Price {
	sum, _ := a.Plus(b)
	return sum
}
