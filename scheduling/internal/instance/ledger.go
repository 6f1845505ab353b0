package instance

import (
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Ledger is what pools and reservations have left once everything is bought.
type Ledger struct {
	c       *Instance
	Limits  [][]int64
	Supply  map[string]int64
	Limited []bool
	// use is, by pool and shape of machine, how much of the pool's limits one machine takes; nil until it is asked for.
	use [][][]int64
}

// NewLedger returns a ledger in which nothing is bought: limits are what running nodes leave of them.
func NewLedger(c *Instance) *Ledger {
	l := &Ledger{c: c, Supply: map[string]int64{}, use: make([][][]int64, len(c.Limits))}
	for i := range c.Limits {
		l.Limits = append(l.Limits, append([]int64(nil), c.Limits[i].Limits...))
		l.Limited = append(l.Limited, len(c.Limits[i].Limits) > 0)
	}
	for _, i := range c.Offers.Reserved {
		o := c.Offers.Offers[i].Offering
		n, ok := l.Supply[o.ReservationID]
		if count := int64(o.ReservationCount); !ok || count < n {
			l.Supply[o.ReservationID] = count
		}
	}
	return l
}

// Use is what a purchase takes of its pool's limits.
func (l *Ledger) Use(p offers.Purchase) []int64 {
	t, shape := l.c.Templates[p.Template], l.c.Offers.Offers[p.Offer].Shape
	if l.use[t.Number] == nil {
		l.use[t.Number] = make([][]int64, len(l.c.Offers.Shapes))
	}
	out := &l.use[t.Number][shape]
	if *out == nil {
		*out = LimitUse(LimitedResources(t.Pool), l.c.Offers.Shapes[shape].Capacity)
	}
	return *out
}

// Reservation is the reservation that a purchase draws on, "" for none.
func (l *Ledger) Reservation(p offers.Purchase) string {
	if o := l.c.Offers.Offers[p.Offer].Offering; o.CapacityType == offerings.Reserved {
		return o.ReservationID
	}
	return ""
}

// Spend books n purchases; a negative n gives them back.
func (l *Ledger) Spend(p offers.Purchase, n int64) {
	if id := l.Reservation(p); id != "" {
		l.Supply[id] -= n
	}
	pool := l.c.Templates[p.Template].Number
	if l.Limited[pool] {
		for d, u := range l.Use(p) {
			l.Limits[pool][d] -= u * n
		}
	}
}

// UsedUp is the reservation that a further purchase would draw on in vain, "" for none.
func (l *Ledger) UsedUp(p offers.Purchase) string {
	if id := l.Reservation(p); id != "" && l.Supply[id] < 1 {
		return id
	}
	return ""
}

// Gaps yields the limits that a further purchase would exceed, by place among the pool's limited
// resources, and by how much.
func (l *Ledger) Gaps(p offers.Purchase) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		pool := l.c.Templates[p.Template].Number
		if !l.Limited[pool] {
			return
		}
		for d, u := range l.Use(p) {
			if left := l.Limits[pool][d]; (left < 0 || u > left) && !yield(d, u-left) {
				return
			}
		}
	}
}

// Affords reports whether a further purchase keeps limits and reservations.
func (l *Ledger) Affords(p offers.Purchase) bool {
	for range l.Gaps(p) {
		return false
	}
	return l.UsedUp(p) == ""
}

// Drained reports whether any offer of a pool that could be bought takes from its limits. lists are the offers that may be
// bought, by template.
func (l *Ledger) Drained(pool int, lists [][]offers.TemplateOffer) bool {
	if !l.Limited[pool] {
		return false
	}
	for ti, v := range l.c.Templates {
		if v.Number != pool {
			continue
		}
		for _, o := range lists[ti] {
			p := offers.Purchase{Template: ti, Offer: o.Offer}
			if l.Affords(p) && slices.ContainsFunc(l.Use(p), func(u int64) bool { return u > 0 }) {
				return true
			}
		}
	}
	return false
}

// CouldSwap reports whether one purchase could be exchanged for another of the same
// template without overrunning limits or reservations.
func (l *Ledger) CouldSwap(from, to offers.Purchase) bool {
	if id := l.Reservation(to); id != "" && id != l.Reservation(from) && l.Supply[id] < 1 {
		return false
	}
	pool := l.c.Templates[to.Template].Number
	if !l.Limited[pool] {
		return true
	}
	old := l.Use(from)
	for d, u := range l.Use(to) {
		if l.Limits[pool][d] < u-old[d] {
			return false
		}
	}
	return true
}

// Swap exchanges a booked purchase for another, if that can be.
func (l *Ledger) Swap(from, to offers.Purchase) bool {
	if !l.CouldSwap(from, to) {
		return false
	}
	l.Spend(from, -1)
	l.Spend(to, 1)
	return true
}

// Clone returns a ledger that can be written without changing l.
func (l *Ledger) Clone() *Ledger {
	c := *l
	c.Limits = nil
	for _, limits := range l.Limits {
		c.Limits = append(c.Limits, slices.Clone(limits))
	}
	c.Supply = maps.Clone(l.Supply)
	return &c
}
