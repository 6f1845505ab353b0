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

// changed is what is on sale once offerings have changed; change changes one, and says whether it has.
func (k availability) changed(change func(*instancetypes.InstanceType, *offerings.Offering) bool) (availability, error) {
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{nil: nil}
	renew := func(old *instancetypes.Catalog) (*instancetypes.Catalog, error) {
		if made, ok := known[old]; ok {
			return made, nil
		}
		var changes []instancetypes.OfferingChange
		for t := range old.All() {
			for _, o := range t.Offerings {
				if change(t, &o) {
					changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
				}
			}
		}
		known[old] = old
		if len(changes) == 0 {
			return old, nil
		}
		made, err := old.WithOfferings(changes...)
		known[old] = made
		return made, err
	}
	out := availability{pools: maps.Clone(k.pools)}
	var err error
	if out.all, err = renew(k.all); err != nil {
		return k, err
	}
	for _, name := range slices.Sorted(maps.Keys(k.pools)) {
		if out.pools[name], err = renew(k.pools[name]); err != nil {
			return k, err
		}
	}
	return out, nil
}

// reserve takes machines off what reservations have left, or gives them back where the
// number is below 0, and says so in a change.
func (k *availability) reserve(used map[string]int, d *scheduling.Delta) error {
	maps.DeleteFunc(used, func(_ string, n int) bool { return n == 0 })
	if len(used) == 0 {
		return nil
	}
	var err error
	*k, err = k.changed(func(_ *instancetypes.InstanceType, o *offerings.Offering) bool {
		n := used[o.ReservationID]
		if o.CapacityType != offerings.Reserved || n == 0 {
			return false
		}
		o.ReservationCount = max(o.ReservationCount-n, 0)
		return true
	})
	d.Catalog, d.PoolCatalogs = k.all, k.pools
	return err
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
