package scheduling

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// buyable lists the offers of every pool with the most room that pods may find there
// and all groups that may be there, whatever is chosen for the labels that the pool
// leaves open. An offer that another one of its pool makes pointless may be missing.
func (pr *prover) buyable() []templateOffer {
	if pr.assorted != nil && pr.assorted.buyable != nil {
		return pr.assorted.buyable
	}
	var out, recent []templateOffer
	ranks := pr.priceRanks()
	turn := make([]int32, len(ranks)) // by rank: number in the list, from 1
	for list := range pr.sold() {
		clear(turn)
		for i, o := range list {
			turn[ranks[o.offer]] = int32(i + 1)
		}
		out, recent = pr.worthwhile(out, recent, list, turn)
	}
	pr.learn(func(a *assortment) { a.buyable = out })
	return out
}

// sold yields everything that each pool may buy.
func (pr *prover) sold() iter.Seq[[]templateOffer] {
	return func(yield func([]templateOffer) bool) {
		for from := 0; from < len(pr.templates); {
			to := from + 1
			for to < len(pr.templates) && pr.templates[to].number == pr.templates[from].number {
				to++
			}
			var list []templateOffer
			if admits := pr.poolAdmits(from, to); admits == nil {
				list = append(append(list, pr.offered[from].list...), pr.offered[from].crowded...)
			} else {
				for _, o := range slices.Sorted(maps.Keys(admits)) {
					list = append(list, templateOffer{offer: o, column: pr.columns.number(admits[o])})
				}
			}
			pr.setRooms(list, pr.certain(from))
			if !yield(list) {
				return
			}
			from = to
		}
	}
}

// priceRanks is the place of every offer in the order of prices; of equally dear ones
// the roomier comes first.
func (pr *prover) priceRanks() []int32 {
	all := pr.offers.offers
	if pr.offers.ranks != nil && *pr.offers.ranks != nil {
		return *pr.offers.ranks
	}
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	dearer := func(a, b int32) int { return cmp.Compare(all[a].expected, all[b].expected) }
	if slices.IsSortedFunc(order, dearer) {
		return order // the usual order of options
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &all[a], &all[b]
		return cmp.Or(
			dearer(a, b),
			-slices.Compare(pr.offers.shapes[x.shape].allocatable, pr.offers.shapes[y.shape].allocatable),
			cmp.Compare(a, b),
		)
	})
	ranks := make([]int32, len(all))
	for at, i := range order {
		ranks[i] = int32(at)
	}
	if pr.offers.ranks != nil {
		*pr.offers.ranks = ranks
	}
	return ranks
}

// setRooms fills in what room daemons leave.
func (pr *prover) setRooms(list []templateOffer, daemons []model.Bits) {
	var rows []model.Bits
	for _, row := range daemons {
		if row.Any() {
			rows = append(rows, row)
		}
	}
	// Most offers of a shape run the same daemons, and so have the same room.
	type known struct {
		daemons uint64
		room    int // from 1
	}
	byShape := make([]known, len(pr.offers.shapes))
	for i := range list {
		o := &list[i]
		shape := pr.offers.offers[o.offer].shape
		if len(rows) > 64 {
			o.room = pr.roomFor(shape, daemons, o.offer)
			continue
		}
		k := known{}
		for d, row := range rows {
			if row.Has(o.offer) {
				k.daemons |= 1 << d
			}
		}
		if last := byShape[shape]; last.room == 0 || last.daemons != k.daemons {
			k.room = pr.roomFor(shape, daemons, o.offer) + 1
			byShape[shape] = k
		}
		o.room = byShape[shape].room - 1
	}
}

// worthwhile appends the offers of a list, in the order of their turns, that no
// cheaper one of this list or those before makes pointless by having as much room for
// the same pods. Reservations stay, since there are only so many of them. recent are
// those that may make others pointless, and so after it.
func (pr *prover) worthwhile(out, recent, list []templateOffer, turn []int32) (kept, after []templateOffer) {
	all := pr.offers.offers
	for _, n := range turn {
		if n == 0 {
			continue
		}
		o := list[n-1]
		if all[o.offer].offering.CapacityType == offerings.Reserved {
			out = append(out, o)
			continue
		}
		at := slices.IndexFunc(recent, func(r templateOffer) bool {
			return all[r.offer].expected <= all[o.offer].expected &&
				roomier(pr.rooms.rooms[r.room], pr.rooms.rooms[o.room]) &&
				(r.column == o.column || pr.columns.rows[r.column].Contains(pr.columns.rows[o.column]))
		})
		if at < 0 {
			out, recent = append(out, o), append(recent, o)
			continue
		}
		// What did so once is likely to do so again: it moves halfway up.
		recent[at], recent[at/2] = recent[at/2], recent[at]
	}
	return out, recent
}

// roomier reports whether one room has at least what the other has.
func roomier(a, b []int64) bool {
	for d, n := range b {
		if a[d] < n {
			return false
		}
	}
	return true
}

// poolAdmits returns, for each offer of a pool with the given templates, the groups
// that may be there, or nil where the lists of its only template say so. Ports that
// daemons bind are left out of account, since it may depend on a label whether they
// run.
func (pr *prover) poolAdmits(from, to int) map[int]model.Bits {
	var ported []int
	for g, group := range pr.compiler.classes.groups {
		if slices.ContainsFunc(pr.daemons, func(d *daemon) bool { return portsClash(group.ports, d.constraint.ports) }) {
			ported = append(ported, g)
		}
	}
	if to-from == 1 && len(ported) == 0 {
		return nil
	}
	admits := map[int]model.Bits{}
	row := func(o int) model.Bits {
		if admits[o] == nil {
			admits[o] = model.NewBits(pr.model.Groups)
		}
		return admits[o]
	}
	for ti := from; ti < to; ti++ {
		for _, o := range slices.Concat(pr.offered[ti].list, pr.offered[ti].crowded) {
			row(o.offer).Or(pr.columns.rows[o.column])
		}
		for _, g := range ported {
			group := pr.compiler.classes.groups[g]
			if hard, _ := pr.templates[ti].hardTaint(group); hard != nil {
				continue
			}
			pr.offers.admits(pr.templates[ti], group, false).Each(func(o int) {
				if pr.offers.offers[o].launchable {
					row(o).Set(g)
				}
			})
		}
	}
	return admits
}

// certain are the rows of the daemons of a template that run whatever value is chosen
// for the labels that its pool leaves open and whatever the provider sets; the others
// are nil. Counting fewer daemons keeps the bound valid.
func (c *compiler) certain(ti int) []model.Bits {
	rows := make([]model.Bits, len(c.daemons))
	v := c.templates[ti]
	for i, d := range c.daemons {
		sure := true
		d.constraint.expressions(func(e *expression) {
			_, fixed := v.labels[e.Key()]
			sure = sure && !v.open[e.Key()] && (fixed || !requirements.WellKnown().Has(e.Key()) || c.offers.defines(e.Key(), v.catalog))
		})
		if sure {
			rows[i] = c.offered[ti].daemons[i]
		}
	}
	return rows
}

// roomFor is the number of the room that daemons leave on a shape, or that of the
// bare shape where they do not fit: a bound may not rest on their keeping pods away.
func (c *compiler) roomFor(shape int, daemons []model.Bits, offer int) int {
	if n := c.rooms.number(c, shape, daemons, offer); n >= 0 {
		return n
	}
	return c.rooms.number(c, shape, nil, offer)
}
