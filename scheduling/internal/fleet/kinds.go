package fleet

import (
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// kind is a machine on sale.
type kind struct {
	offer   offers.OfferRef
	rank    int32 // by weight of its NodePool, highest weight first
	machine int   // number in the scheduler
	cost    int64
	room    []int64
	admits  []bool // by class
}

// kindTable is the machines on sale. Kinds are numbered as the search comes to consider them, so the table grows, and a
// fleet of an earlier state is brought up to it by extended.
type kindTable struct {
	c         *instance.Instance
	scheduler *binding.Scheduler
	list      []kind // the kinds considered so far
	numbers   map[offers.OfferRef]int
	known     map[offers.OfferRef]*kind    // read so far, also those without a number
	ranks     []int32                      // of NodePools by weight, by template number
	keys      []string                     // topology keys of terms, except the hostname
	sales     map[string][]offers.OfferRef // offers by domain; nil until needed
}

// newKindTable returns a table without kinds.
func newKindTable(c *instance.Instance, scheduler *binding.Scheduler) *kindTable {
	return &kindTable{
		c: c, scheduler: scheduler, ranks: c.WeightRank(), keys: slices.Sorted(maps.Keys(c.TermKeys(nil, false))),
		numbers: map[offers.OfferRef]int{}, known: map[offers.OfferRef]*kind{},
	}
}

// number returns the number of an offer's kind, which it adds if necessary.
func (t *kindTable) number(at offers.OfferRef) int {
	if n, ok := t.numbers[at]; ok {
		return n
	}
	k := *t.of(at)
	k.machine = t.scheduler.Machine(at)
	t.numbers[at] = len(t.list)
	t.list = append(t.list, k)
	return t.numbers[at]
}

// of returns the kind of an offer.
func (t *kindTable) of(at offers.OfferRef) *kind {
	if k, ok := t.known[at]; ok {
		return k
	}
	k := &kind{
		offer: at, rank: t.ranks[t.c.Templates[at.Template].Number], cost: t.c.Offers.Offers[at.Offer].Cost,
		admits: make([]bool, len(t.c.Planned)),
	}
	x := &t.c.Offered[at.Template]
	if i := slices.IndexFunc(x.List, func(o offers.TemplateOffer) bool { return o.Offer == at.Offer }); i >= 0 {
		k.room = t.c.Rooms.Rooms[x.List[i].Room]
	}
	for i, class := range t.c.Planned {
		row := x.Rows[class.Group]
		k.admits[i] = row != nil && row.Has(at.Offer)
	}
	t.known[at] = k
	return k
}

// readSales lists the offers by domain.
func (t *kindTable) readSales() {
	t.sales = map[string][]offers.OfferRef{}
	for ti := range t.c.Offered {
		for _, o := range t.c.Offered[ti].List {
			if at := (offers.OfferRef{Template: ti, Offer: o.Offer}); t.c.Offers.Offers[o.Offer].Launchable {
				d := t.domainName(at)
				t.sales[d] = append(t.sales[d], at)
			}
		}
	}
}

// label returns the value of a topology key on machines of an offer.
func (t *kindTable) label(at offers.OfferRef, key string) string {
	value, _ := t.c.Offers.LabelOf(t.c.Templates[at.Template], at.Offer, key)
	return value
}

// domainName returns the values of all topology keys on machines of an offer, joined.
func (t *kindTable) domainName(at offers.OfferRef) string {
	var out strings.Builder
	for _, key := range t.keys {
		out.WriteString(t.label(at, key) + "\x00")
	}
	return out.String()
}

// newFleet returns a fleet without machines.
func (t *kindTable) newFleet() fleet { return make(fleet, len(t.list)) }

// extended returns the fleet with an entry for each kind that is known by now.
func (t *kindTable) extended(f fleet) fleet { return append(f, make(fleet, len(t.list)-len(f))...) }

// onSale returns the kinds for sale in a domain.
func (t *kindTable) onSale(d *domain) []*kind {
	switch {
	case d.sale != nil:
	case !d.bound:
		for _, at := range t.c.Unsited().Bought {
			d.sale = append(d.sale, t.of(at))
		}
	default:
		if t.sales == nil {
			t.readSales()
		}
		for _, at := range t.sales[d.name] {
			d.sale = append(d.sale, t.of(at))
		}
	}
	return d.sale
}

// unboundedNode returns the node that stands for all machines of a domain; −1 where no machine is for sale
// there.
func (t *kindTable) unboundedNode(d *domain) int {
	if d.unbounded != 0 {
		return d.unbounded
	}
	d.unbounded = -1
	first := -1
	admits := make([]bool, len(t.c.Planned))
	for _, k := range t.onSale(d) {
		if first < 0 {
			first = t.number(k.offer)
		}
		for c, yes := range k.admits {
			admits[c] = admits[c] || yes
		}
	}
	if first >= 0 {
		d.unbounded = t.scheduler.Boundless(t.list[first].machine, admits)
	}
	return d.unbounded
}

// cost is the total cost of machines.
func (t *kindTable) cost(machines []int32) (sum float64) {
	for _, k := range machines {
		sum += float64(t.list[k].cost)
	}
	return sum
}
