package prove

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// buyable lists the offers of every pool with the most room that pods may find there
// and all groups that may be there, whatever is chosen for the labels that the pool
// leaves open. An offer that another one of its pool makes pointless may be missing.
func buyable(in *instance.Instance) []offers.TemplateOffer {
	return in.Buyable(func() []offers.TemplateOffer { return findBuyable(in) })
}

func findBuyable(in *instance.Instance) []offers.TemplateOffer {
	var out, recent []offers.TemplateOffer
	ranks := priceRanks(in)
	turn := make([]int32, len(ranks)) // by rank: number in the list, from 1
	for list := range sold(in) {
		clear(turn)
		for i, o := range list {
			turn[ranks[o.Offer]] = int32(i + 1)
		}
		out, recent = worthwhile(in, out, recent, list, turn)
	}
	return out
}

// sold yields everything that each pool may buy.
func sold(in *instance.Instance) iter.Seq[[]offers.TemplateOffer] {
	return func(yield func([]offers.TemplateOffer) bool) {
		soldApart(in, "")(func(_ *offers.Template, list []offers.TemplateOffer) bool { return yield(list) })
	}
}

// soldApart is sold where templates with different values of a label are told apart, with one of them.
func soldApart(in *instance.Instance, key string) iter.Seq2[*offers.Template, []offers.TemplateOffer] {
	return func(yield func(*offers.Template, []offers.TemplateOffer) bool) {
		done := make([]bool, len(in.Templates))
		for from, v := range in.Templates {
			if done[from] {
				continue
			}
			var alike []int
			value, ok := v.Label(key)
			for ti := from; ti < len(in.Templates) && in.Templates[ti].Number == v.Number; ti++ {
				if other, has := in.Templates[ti].Label(key); other == value && has == ok {
					alike, done[ti] = append(alike, ti), true
				}
			}
			var list []offers.TemplateOffer
			if admits := poolAdmits(in, alike); admits == nil {
				list = append(append(list, in.Offered[from].List...), in.Offered[from].Overfull...)
			} else {
				for _, o := range slices.Sorted(maps.Keys(admits)) {
					list = append(list, offers.TemplateOffer{Offer: o, Column: in.Columns.Number(admits[o])})
				}
			}
			setRooms(in, list, certain(in, from))
			if !yield(v, list) {
				return
			}
		}
	}
}

// priceRanks is the place of every offer in the order of prices; of equally dear ones
// the roomier comes first.
func priceRanks(in *instance.Instance) []int32 {
	all := in.Offers.Offers
	if in.Offers.Ranks != nil && *in.Offers.Ranks != nil {
		return *in.Offers.Ranks
	}
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	dearer := func(a, b int32) int { return cmp.Compare(all[a].Expected, all[b].Expected) }
	if slices.IsSortedFunc(order, dearer) {
		return order // the usual order of options
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &all[a], &all[b]
		return cmp.Or(
			dearer(a, b),
			-slices.Compare(in.Offers.Shapes[x.Shape].Allocatable, in.Offers.Shapes[y.Shape].Allocatable),
			cmp.Compare(a, b),
		)
	})
	ranks := make([]int32, len(all))
	for at, i := range order {
		ranks[i] = int32(at)
	}
	if in.Offers.Ranks != nil {
		*in.Offers.Ranks = ranks
	}
	return ranks
}

// setRooms fills in what room daemons leave.
func setRooms(in *instance.Instance, list []offers.TemplateOffer, daemons []model.Bits) {
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
	byShape := make([]known, len(in.Offers.Shapes))
	for i := range list {
		o := &list[i]
		shape := in.Offers.Offers[o.Offer].Shape
		if len(rows) > 64 {
			o.Room = roomFor(in, shape, daemons, o.Offer)
			continue
		}
		k := known{}
		for d, row := range rows {
			if row.Has(o.Offer) {
				k.daemons |= 1 << d
			}
		}
		if last := byShape[shape]; last.room == 0 || last.daemons != k.daemons {
			k.room = roomFor(in, shape, daemons, o.Offer) + 1
			byShape[shape] = k
		}
		o.Room = byShape[shape].room - 1
	}
}

// worthwhile appends the offers of a list, in the order of their turns, that no
// cheaper one of this list or those before makes pointless by having as much room for
// the same pods. Reservations stay, since there are only so many of them. recent are
// those that may make others pointless, and so after it.
func worthwhile(in *instance.Instance, out, recent, list []offers.TemplateOffer, turn []int32) (kept, after []offers.TemplateOffer) {
	all := in.Offers.Offers
	for _, n := range turn {
		if n == 0 {
			continue
		}
		o := list[n-1]
		if all[o.Offer].Offering.CapacityType == offerings.Reserved {
			out = append(out, o)
			continue
		}
		at := slices.IndexFunc(recent, func(r offers.TemplateOffer) bool {
			return all[r.Offer].Expected <= all[o.Offer].Expected &&
				roomier(in.Rooms.Rooms[r.Room], in.Rooms.Rooms[o.Room]) &&
				(r.Column == o.Column || in.Columns.Rows[r.Column].Contains(in.Columns.Rows[o.Column]))
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

// poolAdmits returns, for each offer of a pool with some of its templates, the groups
// that may be there, or nil where the lists of its only template say so. Ports that
// daemons bind are left out of account, since it may depend on a label whether they
// run.
func poolAdmits(in *instance.Instance, templates []int) map[int]model.Bits {
	var ported []int
	for g, group := range in.Classes.Groups {
		if slices.ContainsFunc(in.Daemons, func(d *offers.Daemon) bool { return podspec.PortsClash(group.Ports, d.Constraint.Ports) }) {
			ported = append(ported, g)
		}
	}
	if len(templates) == 1 && len(ported) == 0 {
		return nil
	}
	admits := map[int]model.Bits{}
	row := func(o int) model.Bits {
		if admits[o] == nil {
			admits[o] = model.NewBits(len(in.Classes.Groups))
		}
		return admits[o]
	}
	for _, ti := range templates {
		for _, o := range slices.Concat(in.Offered[ti].List, in.Offered[ti].Overfull) {
			row(o.Offer).Or(in.Columns.Rows[o.Column])
		}
		for _, g := range ported {
			group := in.Classes.Groups[g]
			if hard, _ := in.Templates[ti].HardTaint(group); hard != nil {
				continue
			}
			in.Offers.Admits(in.Templates[ti], group, false).Each(func(o int) {
				if in.Offers.Offers[o].Launchable {
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
func certain(c *instance.Instance, ti int) []model.Bits {
	rows := make([]model.Bits, len(c.Daemons))
	v := c.Templates[ti]
	for i, d := range c.Daemons {
		sure := true
		d.Constraint.Expressions(func(e *podspec.Expression) {
			_, fixed := v.Labels[e.Key()]
			sure = sure && !v.Open[e.Key()] && (fixed || !requirements.WellKnown().Has(e.Key()) || c.Offers.Defines(e.Key(), v.Catalog))
		})
		if sure {
			rows[i] = c.Offered[ti].Daemons[i]
		}
	}
	return rows
}

// roomFor is the number of the room that daemons leave on a shape, or that of the
// bare shape where they do not fit: a bound may not rest on their keeping pods away.
func roomFor(c *instance.Instance, shape int, daemons []model.Bits, offer int) int {
	if n := instance.Number(c.Rooms, c, shape, daemons, offer); n >= 0 {
		return n
	}
	return instance.Number(c.Rooms, c, shape, nil, offer)
}
