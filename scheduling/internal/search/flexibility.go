package search

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// leavesChoice reports whether a machine that bought at a place of its template would
// have as much choice as spot machines need.
func (d *decoder) leavesChoice(m *machine, at int) bool {
	if !offers.On(d.in.Solver.Flexibility) || !d.offerAt(m, at).Spot() {
		return true
	}
	c := offers.NewChoices(d.in.Solver.Flexibility)
	for i := range d.packing.Lists[m.template] {
		o := d.offerAt(m, i)
		if !o.Spot() || !d.holds(m, i) || i != at && !d.ledger.CouldSwap(d.buys(m), d.sale(m.template, i)) {
			continue
		}
		if c.Add(o) && c.Enough() {
			return true
		}
	}
	return false
}

// inflexible reports whether there are spot offers among the places of a machine, but
// not as many as it takes.
func (d *decoder) inflexible(m *machine, places []int) bool {
	if !offers.On(d.in.Solver.Flexibility) {
		return false
	}
	c, spot := offers.NewChoices(d.in.Solver.Flexibility), false
	for _, at := range places {
		if o := d.offerAt(m, at); o.Spot() {
			spot = true
			c.Add(o)
		}
	}
	return spot && !c.Enough()
}
