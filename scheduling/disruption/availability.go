package disruption

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// availability is what is on sale once some steps are done. Its parts are replaced, never changed.
type availability struct {
	all   *instancetypes.Catalog
	pools map[string]*instancetypes.Catalog
}

func newAvailability(p *scheduling.Problem) availability {
	return availability{all: p.Catalog, pools: p.PoolCatalogs}
}

// reserve takes machines off what reservations have left, or gives them back where the
// number is below 0, and says so in a change.
func (k *availability) reserve(used map[string]int, d *scheduling.Delta) error {
	maps.DeleteFunc(used, func(_ string, n int) bool { return n == 0 })
	if len(used) == 0 {
		return nil
	}
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{nil: nil}
	renew := func(old *instancetypes.Catalog) (*instancetypes.Catalog, error) {
		if made, ok := known[old]; ok {
			return made, nil
		}
		made, err := reserved(old, used)
		known[old] = made
		return made, err
	}
	all, err := renew(k.all)
	if err != nil {
		return err
	}
	pools := maps.Clone(k.pools)
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		if pools[name], err = renew(pools[name]); err != nil {
			return err
		}
	}
	k.all, k.pools = all, pools
	d.Catalog, d.PoolCatalogs = all, pools
	return nil
}

// covers reports whether reservations have the machines that launches take from them. Where
// offerings differ in what they say of one, the least counts, as it does for the solver.
func (k *availability) covers(launches []scheduling.Launch) bool {
	wanted := map[string]int{}
	for i := range launches {
		if id := launches[i].Options[0].ReservationID; id != "" {
			wanted[id]++
		}
	}
	if len(wanted) == 0 {
		return true
	}
	left := map[string]int{}
	for _, c := range append([]*instancetypes.Catalog{k.all}, slices.Collect(maps.Values(k.pools))...) {
		for t := range c.All() {
			for _, o := range t.Offerings {
				if o.CapacityType != offerings.Reserved {
					continue
				}
				if n, ok := left[o.ReservationID]; !ok || o.ReservationCount < n {
					left[o.ReservationID] = o.ReservationCount
				}
			}
		}
	}
	for id, n := range wanted {
		if n > left[id] {
			return false
		}
	}
	return true
}

// reserved is a catalog in which reservations have fewer machines left.
func reserved(c *instancetypes.Catalog, used map[string]int) (*instancetypes.Catalog, error) {
	var changes []instancetypes.OfferingChange
	for t := range c.All() {
		for _, o := range t.Offerings {
			if o.CapacityType != offerings.Reserved || used[o.ReservationID] == 0 {
				continue
			}
			o.ReservationCount = max(o.ReservationCount-used[o.ReservationID], 0)
			changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
		}
	}
	if len(changes) == 0 {
		return c, nil
	}
	return c.WithOfferings(changes...)
}
