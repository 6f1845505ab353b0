package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// boughtAt is the offering that a node was bought at, on sale or not, and its type; nil where
// the catalog does not tell. A node of a reservation is that of its own reservation.
func boughtAt(node *corev1.Node, catalog *instancetypes.Catalog) (*instancetypes.InstanceType, *offerings.Offering) {
	as := instancetypes.OfferingOf(node)
	t, ok := catalog.Get(as.InstanceType)
	if !ok {
		return nil, nil
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone != as.Zone || o.CapacityType != as.CapacityType {
			continue
		}
		if o.CapacityType != offerings.Reserved || as.ReservationID == "" || o.ReservationID == as.ReservationID {
			return t, o
		}
	}
	return nil, nil
}

// offered is what an option of a launch stands for in the catalog of its pool; nil where that
// does not have it.
func offered(p *scheduling.Problem, pool string, x *scheduling.Option) (*instancetypes.InstanceType, *offerings.Offering) {
	t, ok := catalogOf(p, pool).Get(x.InstanceType)
	if !ok {
		return nil, nil
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone == x.Zone && o.CapacityType == x.CapacityType && o.ReservationID == x.ReservationID {
			return t, o
		}
	}
	return nil, nil
}

// costs is the expected price of an option of a launch, see [scheduling.Solver.ExpectedPrice].
func (f *frame) costs(l *scheduling.Launch, x *scheduling.Option) offerings.Price {
	solver := &f.planner.Solver
	if solver.Interruption != (scheduling.Interruption{}) {
		if t, o := offered(f.problem, l.NodePool, x); t != nil {
			return solver.ExpectedPrice(t, o)
		}
	}
	return clampPrice(x.Price, solver.NodeOverhead)
}

// costOf is the expected price of what a launch buys, its first option.
func (f *frame) costOf(l *scheduling.Launch) offerings.Price {
	if len(l.Options) == 0 {
		return clampPrice(l.Price, f.planner.Solver.NodeOverhead)
	}
	return f.costs(l, &l.Options[0])
}

// spent is what launches are expected to cost, by their first options.
func (f *frame) spent(launches []scheduling.Launch) offerings.Price {
	var sum offerings.Price
	for i := range launches {
		sum = clampPrice(sum, f.costOf(&launches[i]))
	}
	return sum
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
