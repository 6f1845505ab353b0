package disruption

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// backOnSale makes nodes that are gone to be had again, in a problem of buying afresh: they
// could as well have stayed. Reservations have their machines back, and offerings that
// nodes were bought at are on sale.
func backOnSale(p *scheduling.Problem, nodes []*corev1.Node) error {
	had, lent := map[offerings.Key]bool{}, map[string]int{}
	for _, node := range nodes {
		key := instancetypes.OfferingOf(node)
		had[key] = true
		if key.ReservationID != "" {
			lent[key.ReservationID]++
		}
	}
	p.Unavailable = unmarked(p.Unavailable, had, p.Now)
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{nil: nil}
	again := func(old *instancetypes.Catalog) (*instancetypes.Catalog, error) {
		if made, ok := known[old]; ok {
			return made, nil
		}
		made, err := restocked(old, had, lent)
		known[old] = made
		return made, err
	}
	var err error
	if p.Catalog, err = again(p.Catalog); err != nil {
		return err
	}
	pools := make(map[string]*instancetypes.Catalog, len(p.PoolCatalogs))
	for name, old := range p.PoolCatalogs {
		if pools[name], err = again(old); err != nil {
			return err
		}
	}
	p.PoolCatalogs = pools
	return nil
}

// buysBack is the planner's solver, which may buy what some nodes are, whatever it may
// buy otherwise: they could as well have stayed.
func (f *state) buysBack(loose map[string]bool) scheduling.Policy {
	solver, had := f.planner.Policy, map[offerings.Key]bool{}
	for name := range loose {
		had[instancetypes.OfferingOf(f.at[name].node)] = true
	}
	was := f.planner.Policy
	solver.NoSpot, solver.Size = false, scheduling.NodeSize{}
	solver.Filters = []instancetypes.Filter{func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		return offers.Allows(was, t, o) || had[keyAt(t, &o)]
	}}
	return solver
}

// keyAt names an offering of a type.
func keyAt(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Key {
	return offerings.Key{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID}
}

// unmarked is the record of what failed lately without marks that cover any of some
// offerings.
func unmarked(u *offerings.Unavailable, had map[offerings.Key]bool, now time.Time) *offerings.Unavailable {
	covers := func(mark offerings.Key) bool {
		for key := range had {
			if (mark.InstanceType == "" || mark.InstanceType == key.InstanceType) && (mark.Zone == "" || mark.Zone == key.Zone) &&
				(mark.CapacityType == "" || mark.CapacityType == key.CapacityType) && (mark.ReservationID == "" || mark.ReservationID == key.ReservationID) {
				return true
			}
		}
		return false
	}
	if u.Len() == 0 || !slices.ContainsFunc(u.Keys(), covers) {
		return u
	}
	out := &offerings.Unavailable{}
	for key, until := range u.All() {
		if !covers(key) {
			out.Mark(key, now, until.Sub(now))
		}
	}
	return out
}

// restocked is a catalog in which offerings are on sale, and reservations have machines back.
func restocked(c *instancetypes.Catalog, had map[offerings.Key]bool, lent map[string]int) (*instancetypes.Catalog, error) {
	var changes []instancetypes.OfferingChange
	for t := range c.All() {
		for _, o := range t.Offerings {
			onSale := had[keyAt(t, &o)]
			more := 0
			if o.CapacityType == offerings.Reserved {
				more = lent[o.ReservationID]
			}
			if more == 0 && (!onSale || !o.Unavailable) {
				continue
			}
			o.Unavailable = o.Unavailable && !onSale
			o.ReservationCount += more
			changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
		}
	}
	if len(changes) == 0 {
		return c, nil
	}
	return c.WithOfferings(changes...)
}
