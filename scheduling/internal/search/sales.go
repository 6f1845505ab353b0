package search

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// saleReader tells which offers could be bought for machines of a packing, by their places in the lists of templates.
type saleReader struct {
	in       *instance.Instance
	packing  *instance.Packing
	whole    bool             // an offer must have the room of the machine that it replaces, not only that of its pods
	termKeys sets.Set[string] // labels that rules between pods are about; nil until asked
}

// newSaleReader is a reader of the offers of a packing.
func newSaleReader(p *instance.Packing, whole bool) *saleReader {
	return &saleReader{in: p.In, packing: p, whole: whole}
}

// offerAt is the offer at a place of a machine's template.
func (sr *saleReader) offerAt(m *machine, at int) *offers.Offer {
	return &sr.in.Offers.Offers[sr.packing.Lists[m.template][at].Offer]
}

// sale is a machine of the offer at a place of a template.
func (sr *saleReader) sale(template, at int) offers.OfferRef {
	return offers.OfferRef{Template: template, Offer: sr.packing.Lists[template][at].Offer}
}

// holds reports whether the offer at a place has room for a machine's pods and
// admits them all.
func (sr *saleReader) holds(m *machine, at int) bool {
	o := &sr.packing.Lists[m.template][at]
	return sr.packing.Columns.Rows[o.Column].Contains(m.groups) && model.Fits(sr.in.Rooms.Rooms[o.Room], m.load) && (!sr.whole || sr.replaces(m, at))
}

// replaces reports whether the offer at a place does as well as the offer that a machine buys, for
// whatever may come there.
func (sr *saleReader) replaces(m *machine, at int) bool {
	if sr.in.HasTopologyTerms() && at != m.first {
		x, y := sr.offerAt(m, m.first), sr.offerAt(m, at)
		if sr.termKeys == nil {
			sr.termKeys = sr.in.TermKeys(nil, false)
		}
		own, other := x.InstanceType.NodeLabels(*x.Offering), y.InstanceType.NodeLabels(*y.Offering)
		for key := range sr.termKeys {
			if a, b := own[key], other[key]; a != b {
				return false
			}
		}
	}
	other := sr.in.Rooms.Rooms[sr.packing.Lists[m.template][at].Room]
	for r, n := range sr.in.Rooms.Rooms[sr.packing.Lists[m.template][m.first].Room] {
		if other[r] < n/100*nearlyAll {
			return false
		}
	}
	return true
}

// place returns the place of an offer in the list of its template.
func (sr *saleReader) place(planned offers.OfferRef) int {
	return slices.IndexFunc(sr.packing.Lists[planned.Template], func(o offers.TemplateOffer) bool { return o.Offer == planned.Offer })
}

// lone is a machine of a template with one pod of a class, as far as that decides which
// offers hold it.
func (sr *saleReader) lone(template int, class *model.Class) machine {
	m := machine{template: template, load: class.Request, groups: model.NewBits(sr.packing.Model.Groups)}
	m.groups.Set(int(class.Group))
	return m
}

// weigh sums up the requests of a machine's pods, and the feasible sets that it must admit.
func (sr *saleReader) weigh(m *machine) {
	m.load, m.groups, m.bare = make([]int64, sr.packing.Model.Dims), model.NewBits(sr.packing.Model.Groups), 0
	sr.packing.Model.Load(m.load, m.items)
	for _, it := range m.items {
		m.groups.Set(int(sr.packing.Model.Classes[it.Class].Group))
	}
}

// buys returns the offer of a machine.
func (sr *saleReader) buys(m *machine) offers.OfferRef { return sr.sale(m.template, m.first) }

// compareMachines orders machines by NodePool, price, instance type and items.
func (sr *saleReader) compareMachines(a, b machine) int {
	x, y := sr.offerAt(&a, a.first), sr.offerAt(&b, b.first)
	return cmp.Or(
		strings.Compare(sr.in.Templates[a.template].Pool.Name, sr.in.Templates[b.template].Pool.Name),
		cmp.Compare(x.Offering.Price, y.Offering.Price),
		strings.Compare(x.InstanceType.Name, y.InstanceType.Name),
		cmp.Compare(a.first, b.first),
		cmp.Compare(a.template, b.template),
		slices.CompareFunc(a.items, b.items, func(x, y model.Item) int {
			return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(y.N, x.N))
		}),
		cmp.Compare(a.turn, b.turn),
	)
}

// fallback reports whether a class would rather avoid a template's pool.
func (sr *saleReader) fallback(ti int, class *model.Class) bool {
	return slices.ContainsFunc(sr.packing.FeasibleSets[class.Group].Groups, func(g int) bool {
		_, soft := sr.in.Templates[ti].Untolerated(sr.in.Classes.Groups[g])
		return soft
	})
}

// excludes reports whether pods that are there keep one more of a class away.
func (sr *saleReader) excludes(items []model.Item, id model.ClassID) bool {
	return sr.packing.Model.Joining(items, nil, id) == 0
}

// capacity is how many of n pods of a class a room holds.
func (sr *saleReader) capacity(id model.ClassID, n int64, room []int64) int64 {
	class := &sr.packing.Model.Classes[id]
	for r, q := range class.Request {
		if q > 0 {
			n = min(n, room[r]/q)
		}
	}
	return max(min(n, sr.packing.Model.Joining(nil, nil, id)), 1)
}
