package scheduling

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// ledger is what pools and reservations have left once everything is bought.
type ledger struct {
	c        *compiler
	limits   [][]int64
	supply   map[string]int64
	limited  []bool
	capacity map[purchase][]int64
}

func newLedger(c *compiler) *ledger {
	l := &ledger{c: c, supply: map[string]int64{}, capacity: map[purchase][]int64{}}
	for i := range c.model.Pools {
		l.limits = append(l.limits, append([]int64(nil), c.model.Pools[i].Limits...))
		l.limited = append(l.limited, len(c.model.Pools[i].Limits) > 0)
	}
	for _, i := range c.offers.reserved {
		o := c.offers.offers[i].offering
		n, ok := l.supply[o.ReservationID]
		if count := int64(o.ReservationCount); !ok || count < n {
			l.supply[o.ReservationID] = count
		}
	}
	return l
}

// use is what a purchase takes of its pool's limits.
func (l *ledger) use(p purchase) []int64 {
	if u, ok := l.capacity[p]; ok {
		return u
	}
	u := limitUse(limitedResources(l.c.templates[p.template].pool), l.c.offers.shapes[l.c.offers.offers[p.offer].shape].capacity)
	l.capacity[p] = u
	return u
}

// reservation is the reservation that a purchase draws on, "" for none.
func (l *ledger) reservation(p purchase) string {
	if o := l.c.offers.offers[p.offer].offering; o.CapacityType == offerings.Reserved {
		return o.ReservationID
	}
	return ""
}

// spend books n purchases; a negative n gives them back.
func (l *ledger) spend(p purchase, n int64) {
	if id := l.reservation(p); id != "" {
		l.supply[id] -= n
	}
	pool := l.c.templates[p.template].number
	if l.limited[pool] {
		for d, u := range l.use(p) {
			l.limits[pool][d] -= u * n
		}
	}
}

// affords reports whether a further purchase keeps limits and reservations.
func (l *ledger) affords(p purchase) bool {
	if id := l.reservation(p); id != "" && l.supply[id] < 1 {
		return false
	}
	pool := l.c.templates[p.template].number
	if !l.limited[pool] {
		return true
	}
	for d, u := range l.use(p) {
		if left := l.limits[pool][d]; left < 0 || u > left {
			return false
		}
	}
	return true
}

// drained reports whether anything that could be bought of a pool takes from its limits.
func (l *ledger) drained(pool int) bool {
	if !l.limited[pool] {
		return false
	}
	for ti, v := range l.c.templates {
		if v.number != pool {
			continue
		}
		for _, o := range l.c.offered[ti].list {
			p := purchase{template: ti, offer: o.offer}
			if l.affords(p) && slices.ContainsFunc(l.use(p), func(u int64) bool { return u > 0 }) {
				return true
			}
		}
	}
	return false
}

// couldSwap reports whether one purchase could be exchanged for another of the same
// template without overrunning limits or reservations.
func (l *ledger) couldSwap(from, to purchase) bool {
	if id := l.reservation(to); id != "" && id != l.reservation(from) && l.supply[id] < 1 {
		return false
	}
	pool := l.c.templates[to.template].number
	if !l.limited[pool] {
		return true
	}
	old := l.use(from)
	for d, u := range l.use(to) {
		if l.limits[pool][d] < u-old[d] {
			return false
		}
	}
	return true
}

// swap exchanges a booked purchase for another, if that can be.
func (l *ledger) swap(from, to purchase) bool {
	if !l.couldSwap(from, to) {
		return false
	}
	l.spend(from, -1)
	l.spend(to, 1)
	return true
}

// clone returns a ledger that can be written without changing l.
func (l *ledger) clone() *ledger {
	c := *l
	c.limits = nil
	for _, limits := range l.limits {
		c.limits = append(c.limits, slices.Clone(limits))
	}
	c.supply = maps.Clone(l.supply)
	return &c
}
