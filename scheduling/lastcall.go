package scheduling

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// lastCall offers the pods that were left out to what limits and reservations have
// left now that every machine has settled on what it buys: exchanges for a better
// rank can free what the search had no way to count on.
func (d *decoder) lastCall(machines []machine) []machine {
	for c := range d.model.Classes {
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

// join adds one pod of a class to a machine that has room for it, and returns how
// many it added.
func (d *decoder) join(machines []machine, id model.ClassID) int64 {
	class := &d.model.Classes[id]
	for i := range machines {
		m := &machines[i]
		if len(floorKeys(d.templates[m.template].set)) > 0 || d.bars(m.items, id) {
			continue
		}
		with := *m
		with.load = slices.Clone(m.load)
		for r, n := range class.Request {
			with.load[r] += n
		}
		with.groups = m.groups.Clone()
		with.groups.Set(int(class.Group))
		if !d.holds(&with, m.first) {
			continue
		}
		with.items = slices.Clone(m.items)
		if at := slices.IndexFunc(with.items, func(it model.Item) bool { return it.Class == id }); at >= 0 {
			with.items[at].N++
		} else {
			with.items = append(with.items, model.Item{Class: id, N: 1})
			slices.SortFunc(with.items, func(a, b model.Item) int { return cmp.Compare(a.Class, b.Class) })
		}
		*m = with
		return 1
	}
	return 0
}

// bars reports whether pods that are there keep one more of a class away.
func (d *decoder) bars(items []model.Item, id model.ClassID) bool {
	class := &d.model.Classes[id]
	return slices.ContainsFunc(items, func(it model.Item) bool {
		if it.Class == id {
			return class.PerNode > 0 && it.N >= class.PerNode
		}
		_, conflict := slices.BinarySearch(class.Conflicts, it.Class)
		return conflict
	})
}

// fallback reports whether a class would rather avoid a template's pool.
func (d *decoder) fallback(ti int, class *model.Class) bool {
	_, soft := d.templates[ti].hardTaint(d.classes.groups[class.Group])
	return soft
}

// oneMore buys one more machine for a class, of the pool that ranks first.
func (d *decoder) oneMore(id model.ClassID) (machine, bool) {
	class := &d.model.Classes[id]
	for _, soft := range []bool{false, true} {
		for ti, v := range d.templates {
			if d.fallback(ti, class) != soft {
				continue
			}
			floor := len(floorKeys(v.set)) > 0
			m := machine{template: ti, count: 1, groups: model.NewBits(d.model.Groups)}
			m.groups.Set(int(class.Group))
			for at := range d.offered[ti].list {
				m.load = slices.Clone(class.Request)
				p := purchase{template: ti, offer: d.offered[ti].list[at].offer}
				if !d.holds(&m, at) || !d.ledger.affords(p) {
					continue
				}
				n := d.capacity(id, d.rooms.rooms[d.offered[ti].list[at].room])
				for r, q := range class.Request {
					m.load[r] = q * n
				}
				m.first, m.items = at, []model.Item{{Class: id, N: n}}
				d.ledger.spend(p, 1)
				if floor {
					// One pod alone leaves the most choice.
					m.load, m.items = slices.Clone(class.Request), []model.Item{{Class: id, N: 1}}
					if m.places = d.options(&m); d.tooFew(&m) {
						d.ledger.spend(p, -1)
						continue
					}
				}
				return m, true
			}
		}
	}
	return machine{}, false
}

// capacity is how many of the pods left out of a class a room holds.
func (d *decoder) capacity(id model.ClassID, room []int64) int64 {
	class := &d.model.Classes[id]
	n := d.solution.Unplaced[id]
	for r, q := range class.Request {
		if q > 0 {
			n = min(n, room[r]/q)
		}
	}
	if class.PerNode > 0 {
		n = min(n, class.PerNode)
	}
	return max(n, 1)
}
