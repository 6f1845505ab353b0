package search

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// placeUnplaced looks for machines for unplaced pods within the rest of limits and reservations, now that
// every machine has chosen its offer: because machines were exchanged for some of a better rank, more may be left
// than the search could count on.
func (d *decoder) placeUnplaced(machines []machine) []machine {
	for c := range d.packing.Model.Classes {
		id := model.ClassID(c)
		for d.solution.Unplaced[c] > 0 {
			if n := d.join(machines, id); n > 0 {
				d.solution.Unplaced[c] -= n
				continue
			}
			m, ok := d.oneMore(id)
			if !ok {
				break
			}
			d.solution.Unplaced[c] -= m.items[0].N
			machines = append(machines, m)
		}
	}
	return machines
}

// mostPlacingRounds is how often unplaced pods are looked at: a machine launched for some can take the
// choice from other machines, whose pods are then unplaced again.
const mostPlacingRounds = 3

// removeInflexible gives back machines whose options fall short of their pool's minValues even
// though the solve was cautious; their pods are unplaced again.
func (d *decoder) removeInflexible(machines []machine) []machine {
	if !d.in.Cautious {
		return machines
	}
	return slices.DeleteFunc(machines, func(m machine) bool {
		if m.places = d.options(&m); !d.sales.tooFew(&m) {
			return false
		}
		d.ledger.Spend(d.sales.buys(&m), -1)
		for _, it := range m.items {
			d.solution.Unplaced[it.Class] += it.N
		}
		return true
	})
}

// shared reports whether a further machine of a NodePool could take from its limits the room that
// the minValues of those already bought count on.
func (d *decoder) shared(v *offers.Template) bool {
	floors := d.in.Facts.Solver.MinValues != scheduling.MinValuesBestEffort && len(offers.FloorKeys(v.Set)) > 0
	return (floors || offers.On(d.in.Facts.Solver.Flexibility)) && d.ledger.Drained(v.Number, d.packing.Lists)
}

// launch launches one machine for up to n pods of a class, unless that leaves it too few
// options for its pool's minValues or the class may not even be alone.
func (d *decoder) launch(ti, at int, id model.ClassID, n int64) (machine, bool) {
	if d.sales.excludes(nil, id) {
		return machine{}, false
	}
	m := machine{template: ti, first: at, count: 1}
	p := d.sales.sale(ti, at)
	n = d.sales.capacity(id, n, d.in.Rooms.Rooms[d.packing.Lists[ti][at].Room])
	d.ledger.Spend(p, 1)
	fits := func(n int64) bool {
		m.items = []model.Item{{Class: id, N: n}}
		d.sales.weigh(&m)
		m.places = d.options(&m)
		return !d.sales.tooFew(&m)
	}
	if fits(n) {
		return m, true
	}
	// The fewer pods, the more choice.
	least, most := int64(0), n
	for most-least > 1 {
		if half := (least + most) / 2; fits(half) {
			least = half
		} else {
			most = half
		}
	}
	if least == 0 {
		d.ledger.Spend(p, -1)
		return machine{}, false
	}
	return m, fits(least)
}

// join adds one pod of a class to a machine that has room for it, and returns how
// many it added.
func (d *decoder) join(machines []machine, id model.ClassID) int64 {
	class := &d.packing.Model.Classes[id]
	for i := range machines {
		m := &machines[i]
		if d.sales.excludes(m.items, id) {
			continue
		}
		with := *m
		with.load = slices.Clone(m.load)
		for r, n := range class.Request {
			with.load[r] = podspec.Plus(with.load[r], n)
		}
		with.groups = m.groups.Clone()
		with.groups.Set(int(class.Group))
		if !d.sales.holds(&with, m.first) {
			continue
		}
		with.items = slices.Clone(m.items)
		if at := slices.IndexFunc(with.items, func(it model.Item) bool { return it.Class == id }); at >= 0 {
			with.items[at].N++
		} else {
			with.items = append(with.items, model.Item{Class: id, N: 1})
			slices.SortFunc(with.items, func(a, b model.Item) int { return cmp.Compare(a.Class, b.Class) })
		}
		if len(offers.FloorKeys(d.in.Templates[m.template].Set)) > 0 || offers.On(d.in.Facts.Solver.Flexibility) {
			if with.places = d.options(&with); d.sales.tooFew(&with) {
				continue
			}
		}
		*m = with
		return 1
	}
	return 0
}

// oneMore buys one more machine for a class, of the pool that ranks first.
func (d *decoder) oneMore(id model.ClassID) (machine, bool) {
	class := &d.packing.Model.Classes[id]
	for _, soft := range []bool{false, true} {
		for ti := range d.in.Templates {
			if d.sales.fallback(ti, class) != soft || d.shared(d.in.Templates[ti]) {
				continue
			}
			one := d.sales.lone(ti, class)
			for at := range d.packing.Lists[ti] {
				if !d.sales.holds(&one, at) || !d.ledger.Affords(d.sales.sale(ti, at)) {
					continue
				}
				if m, ok := d.launch(ti, at, id, d.solution.Unplaced[id]); ok {
					return m, true
				}
			}
		}
	}
	return machine{}, false
}
