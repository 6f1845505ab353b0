package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// machine is one bundle of equal machines of the answer.
type machine struct {
	template int
	first    int // place in the template's offers of what is bought
	bare     int // how many of the first places there are known not to hold its pods
	load     []int64
	groups   model.Bits
	items    []model.Item
	count    int64
	turn     int   // in the diversified ranking
	places   []int // of its options
}

// lone is a machine of a template with one pod of a class, as far as that decides which
// offers hold it.
func (d *decoder) lone(template int, class *model.Class) machine {
	m := machine{template: template, load: class.Request, groups: model.NewBits(d.packing.Model.Groups)}
	m.groups.Set(int(class.Group))
	return m
}

// weigh works out what a machine's pods ask for together, and whom it has to admit.
func (d *decoder) weigh(m *machine) {
	m.load, m.groups, m.bare = make([]int64, d.packing.Model.Dims), model.NewBits(d.packing.Model.Groups), 0
	d.packing.Model.Load(m.load, m.items)
	for _, it := range m.items {
		m.groups.Set(int(d.packing.Model.Classes[it.Class].Group))
	}
}

// sale is the purchase of the offer at a place of a template.
func (d *decoder) sale(template, at int) offers.Purchase {
	return offers.Purchase{Template: template, Offer: d.packing.Lists[template][at].Offer}
}

// buys is what a machine is bought as.
func (d *decoder) buys(m *machine) offers.Purchase { return d.sale(m.template, m.first) }

// spot is where a machine stands.
func (d *decoder) spot(m *machine) int {
	p := d.buys(m)
	return d.ties.locations.Spot(p.Template, p.Offer)
}

// offerAt is the offer at a place of a machine's template.
func (d *decoder) offerAt(m *machine, at int) *offers.Offer {
	return &d.in.Offers.Offers[d.packing.Lists[m.template][at].Offer]
}

// holds reports whether the offer at a place has room for a machine's pods and
// admits them all.
func (d *decoder) holds(m *machine, at int) bool {
	o := &d.packing.Lists[m.template][at]
	return d.packing.Columns.Rows[o.Column].Contains(m.groups) && model.Fits(d.in.Rooms.Rooms[o.Room], m.load) && (!d.whole || d.replaces(m, at))
}

// nearlyAll is the percentage of a machine's room that an option must have that stands for all of
// it: machines of one size differ by what their systems keep.
const nearlyAll = 98

// replaces reports whether the offer at a place does as well as what a machine is bought as, for
// whatever may come there.
func (d *decoder) replaces(m *machine, at int) bool {
	if d.in.Tied() && at != m.first {
		x, y := d.offerAt(m, m.first), d.offerAt(m, at)
		if d.tied == nil {
			d.tied = d.in.TiedKeys(nil, false)
		}
		own, other := x.InstanceType.NodeLabels(*x.Offering), y.InstanceType.NodeLabels(*y.Offering)
		for key := range d.tied {
			if a, b := own[key], other[key]; a != b {
				return false
			}
		}
	}
	other := d.in.Rooms.Rooms[d.packing.Lists[m.template][at].Room]
	for r, n := range d.in.Rooms.Rooms[d.packing.Lists[m.template][m.first].Room] {
		if other[r] < n/100*nearlyAll {
			return false
		}
	}
	return true
}

// giveBack returns machines that hold nothing, and what they took of limits and
// reservations.
func (d *decoder) giveBack(machines []machine) []machine {
	return slices.DeleteFunc(machines, func(m machine) bool {
		if len(m.items) > 0 {
			return false
		}
		d.ledger.Spend(d.buys(&m), -1)
		return true
	})
}
