package instance

import (
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Ledger counts the use of NodePool limits and reservations while launches are booked. Limits are indexed by pool, then
// as the pool's limited resources; Supply is the amount left, by reservation ID. A value may become
// negative, see [Ledger.Gaps].
type Ledger struct {
	c       *Instance
	Limits  [][]int64
	Supply  map[string]int64
	Limited []bool
	// use is [LimitUse] by pool and shape, without prices; nil before the first use. price is, by pool, the index of the
	// limit on prices; -1 for none.
	use   [][][]int64
	price []int
}

// NewLedger returns a ledger without launches: limits are those left by existing nodes.
func NewLedger(c *Instance) *Ledger {
	l := &Ledger{c: c, Supply: map[string]int64{}, use: make([][][]int64, len(c.Limits))}
	for i := range c.Limits {
		l.Limits = append(l.Limits, append([]int64(nil), c.Limits[i].Limits...))
		l.Limited = append(l.Limited, len(c.Limits[i].Limits) > 0)
		l.price = append(l.price, slices.Index(LimitedResources(c.Pools[i]), scheduling.PriceResource))
	}
	for _, i := range c.Offers.Reserved {
		o := c.Offers.Offers[i].Offering
		n, ok := l.Supply[o.ReservationID]
		if !ok || o.ReservationCount < n {
			l.Supply[o.ReservationID] = o.ReservationCount
		}
	}
	return l
}

// Use is the amount that one launch of p uses of its pool's limits. The caller must not change it.
func (l *Ledger) Use(p offers.OfferRef) []int64 {
	t, shape := l.c.Templates[p.Template], l.c.Offers.Offers[p.Offer].Shape
	if l.use[t.Number] == nil {
		l.use[t.Number] = make([][]int64, len(l.c.Offers.Shapes))
	}
	out := &l.use[t.Number][shape]
	if *out == nil {
		*out = LimitUse(LimitedResources(t.Pool), l.c.Offers.Shapes[shape].Capacity, 0)
	}
	if at := l.price[t.Number]; at >= 0 {
		priced := slices.Clone(*out)
		priced[at] = int64(l.c.Offers.Offers[p.Offer].Offering.Price)
		return priced
	}
	return *out
}

// Reservation is the ID of the reservation that a launch of p uses; "" for none.
func (l *Ledger) Reservation(p offers.OfferRef) string {
	return l.c.Offers.Offers[p.Offer].Offering.ReservationID
}

// supplyUse is the amount that a launch of p takes of its reservation.
func (l *Ledger) supplyUse(p offers.OfferRef) int64 {
	return l.c.Offers.Offers[p.Offer].Offering.UsePerNode()
}

// Spend books n launches of p; a negative n cancels them.
func (l *Ledger) Spend(p offers.OfferRef, n int64) {
	if id := l.Reservation(p); id != "" {
		l.Supply[id] -= l.supplyUse(p) * n
	}
	pool := l.c.Templates[p.Template].Number
	if l.Limited[pool] {
		for d, u := range l.Use(p) {
			l.Limits[pool][d] -= u * n
		}
	}
}

// UsedUp is the ID of the reservation of p if too little of it is left for a launch of p; "" otherwise.
func (l *Ledger) UsedUp(p offers.OfferRef) string {
	if id := l.Reservation(p); id != "" && l.Supply[id] < l.supplyUse(p) {
		return id
	}
	return ""
}

// Gaps yields the limits that a further launch of p exceeds: the index among the pool's limited resources, and the
// excess.
func (l *Ledger) Gaps(p offers.OfferRef) iter.Seq2[int, int64] {
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

// Affords reports whether a further launch of p keeps all limits and its reservation.
func (l *Ledger) Affords(p offers.OfferRef) bool {
	for range l.Gaps(p) {
		return false
	}
	return l.UsedUp(p) == ""
}

// Drained reports whether an offer of a pool that can still be launched uses any of the pool's limits. lists are the
// offers that may be launched, by template.
func (l *Ledger) Drained(pool int, lists [][]offers.TemplateOffer) bool {
	if !l.Limited[pool] {
		return false
	}
	for ti, v := range l.c.Templates {
		if v.Number != pool {
			continue
		}
		for _, o := range lists[ti] {
			p := offers.OfferRef{Template: ti, Offer: o.Offer}
			if l.Affords(p) && slices.ContainsFunc(l.Use(p), func(u int64) bool { return u > 0 }) {
				return true
			}
		}
	}
	return false
}

// CouldSwap reports whether a booked launch may be replaced by another of the same template within limits and
// reservations.
func (l *Ledger) CouldSwap(from, to offers.OfferRef) bool {
	if id := l.Reservation(to); id != "" {
		left := l.Supply[id]
		if id == l.Reservation(from) {
			left += l.supplyUse(from)
		}
		if left < l.supplyUse(to) {
			return false
		}
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

// Swap replaces a booked launch by another of the same template; false, without a change, where [Ledger.CouldSwap] is
// false.
func (l *Ledger) Swap(from, to offers.OfferRef) bool {
	if !l.CouldSwap(from, to) {
		return false
	}
	l.Spend(from, -1)
	l.Spend(to, 1)
	return true
}

// Clone returns a copy that can be booked on without changing l.
func (l *Ledger) Clone() *Ledger {
	c := *l
	c.Limits = nil
	for _, limits := range l.Limits {
		c.Limits = append(c.Limits, slices.Clone(limits))
	}
	c.Supply = maps.Clone(l.Supply)
	return &c
}
