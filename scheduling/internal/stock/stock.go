package stock

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Stock is the catalogs once some steps are done. Its parts are replaced, never changed.
type Stock struct {
	// All is the catalog of NodePools that have none of their own. Pools are the catalogs of the others, by name.
	All   *instancetypes.Catalog
	Pools map[string]*instancetypes.Catalog

	problem   *scheduling.Problem
	nodePools map[string]*scheduling.NodePool
}

// New is the stock of a problem.
func New(p *scheduling.Problem) Stock {
	s := Stock{All: p.Catalog, Pools: p.PoolCatalogs, problem: p, nodePools: map[string]*scheduling.NodePool{}}
	for _, pool := range p.NodePools {
		s.nodePools[pool.Name] = pool
	}
	return s
}

// of is the catalog of a NodePool.
func (s *Stock) of(pool string) *instancetypes.Catalog {
	if own, ok := s.Pools[pool]; ok {
		return own
	}
	return s.All
}

// catalogs are all that anything is on sale in.
func (s *Stock) catalogs() []*instancetypes.Catalog {
	return append([]*instancetypes.Catalog{s.All}, slices.Collect(maps.Values(s.Pools))...)
}

// Changed is a stock in which some offerings are changed. The function changes one, and reports whether it did.
func (s Stock) Changed(change func(*instancetypes.InstanceType, *offerings.Offering) bool) (Stock, error) {
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
	out := s
	out.Pools = maps.Clone(s.Pools)
	var err error
	if out.All, err = renew(s.All); err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Pools)) {
		if out.Pools[name], err = renew(s.Pools[name]); err != nil {
			return s, err
		}
	}
	return out, nil
}

// Draws returns what a node that a NodePool launches from an offering takes of a reservation: its ID, "" for none, and the
// amount. pool is "" for a node without one.
func (s *Stock) Draws(pool string, key offerings.Key) (id string, amount int64) {
	return instancetypes.Draws(s.of(pool), key)
}

// Reserve takes amounts from reservations, by ID, or gives them back where they are below 0. It adds the new counts to
// a delta.
func (s *Stock) Reserve(used map[string]int64, d *scheduling.Delta) error {
	maps.DeleteFunc(used, func(_ string, n int64) bool { return n == 0 })
	if len(used) == 0 {
		return nil
	}
	var err error
	*s, err = s.Changed(func(_ *instancetypes.InstanceType, o *offerings.Offering) bool {
		n := used[o.ReservationID]
		if !o.Counted() || n == 0 {
			return false
		}
		o.ReservationCount = max(o.ReservationCount-n, 0)
		return true
	})
	d.Catalog, d.PoolCatalogs = s.All, s.Pools
	return err
}
