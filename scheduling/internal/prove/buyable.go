package prove

import (
	"iter"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// buyable lists the offers of every NodePool for the bound, each with the most room that pods may find and all groups
// that it may admit, whatever values its open labels get. Dominated offers of a pool are left out, because they do not
// change the bound.
func buyable(in *instance.Instance) []offers.TemplateOffer {
	return in.Buyable(func() []offers.TemplateOffer { return findBuyable(in) })
}

// findBuyable works out the list of [buyable].
func findBuyable(in *instance.Instance) []offers.TemplateOffer {
	var out, recent []offers.TemplateOffer
	ranks := in.Offers.PriceRanks()
	turn := make([]int32, len(ranks)) // by rank, index in the list from 1; 0 for none
	for list := range sold(in) {
		clear(turn)
		for i, o := range list {
			turn[ranks[o.Offer]] = int32(i + 1)
		}
		out, recent = worthwhile(in, out, recent, list, turn)
	}
	return out
}

// sold yields, pool by pool, all offers that a NodePool may launch.
func sold(in *instance.Instance) iter.Seq[[]offers.TemplateOffer] {
	return func(yield func([]offers.TemplateOffer) bool) {
		soldApart(in, "")(func(_ *offers.Template, list []offers.TemplateOffer) bool { return yield(list) })
	}
}

// soldApart is [sold] with the templates of a pool split by their values of a label. It yields one template of each
// value with the offers.
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

// setRooms sets the room that daemons leave on each offer of a list. daemons are rows of offers, by daemon.
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

// worthwhile appends to out the offers of a list that no offer before them dominates, i.e. one that is not dearer, has
// at least as much room and admits at least the same groups. turn is the order by price, as indices from 1. Reservations
// are always kept, because their count is limited. recent are the offers that are compared with; after is recent with
// the new ones.
func worthwhile(in *instance.Instance, out, recent, list []offers.TemplateOffer, turn []int32) (kept, after []offers.TemplateOffer) {
	all := in.Offers.Offers
	for _, n := range turn {
		if n == 0 {
			continue
		}
		o := list[n-1]
		if all[o.Offer].Offering.Counted() {
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
		// An offer that dominates one often dominates the next, so it is tried earlier.
		recent[at], recent[at/2] = recent[at/2], recent[at]
	}
	return out, recent
}

// roomier reports whether room a is at least b in every resource.
func roomier(a, b []int64) bool {
	for d, n := range b {
		if a[d] < n {
			return false
		}
	}
	return true
}

// poolAdmits returns, by offer, the groups that some of a pool's templates admit; nil where the lists of a single
// template are that already. Host ports of daemons are ignored, because an open label may decide whether a daemon runs.
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
			if hard, _ := in.Templates[ti].Untolerated(group); hard != nil {
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

// certain is, by daemon, the offers of a template on which it runs for all values of open labels and of labels that the
// provider sets; nil for other daemons. Fewer daemons leave more room, so the bound stays valid.
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

// roomFor is the number of the room that daemons leave on a shape, or of the whole shape where they do not fit, because
// a bound must not rely on daemons that keep pods off.
func roomFor(c *instance.Instance, shape int, daemons []model.Bits, offer int) int {
	if n := c.RoomNumber(shape, daemons, offer); n >= 0 {
		return n
	}
	return c.RoomNumber(shape, nil, offer)
}
