package prove

import (
	"encoding/binary"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// prover is the bound's instance: the placed pods, and the offers and nodes that could hold them. Limits, weights and
// minValues are relaxed. Where the room or the groups of a machine are not certain, the larger is taken; both only lower
// the bound.
type prover struct {
	in     *instance.Instance
	placed []int64
	// classes are the market's classes as planned classes; planned classes that differ only in priority are one.
	classes [][]model.ClassID
	input   covering.Input
	market  bound.Market
	users   map[int]model.Bits // by column, the market's classes that it admits
	// surrogateResources are counted in the market after the resources. spaces are the rooms of offers with them, by
	// number of the room.
	surrogateResources []surrogateResource
	spaces             map[int][]int64
	// further are per-node limits that are limits of one class each, not surrogate resources. limited is, by planned
	// class, its index in further from 1.
	further []perNodeLimit
	limited []int
	// amongOnce guards among, see [prover.amongPlaced].
	amongOnce sync.Once
	among     map[int32][]byte
}

// newProver is the bound's instance for plans that place the given number of pods of each planned class.
func newProver(c *instance.Instance, placed []int64) *prover {
	pr := &prover{in: c, placed: placed, users: map[int]model.Bits{}, spaces: map[int][]int64{}}
	pr.readLimits()
	pr.input.Dims = c.Dims() + len(pr.surrogateResources)
	pr.market.Dims = pr.input.Dims
	pr.addClasses()
	if len(pr.classes) > 0 {
		pr.sell(newReservedSupplies(pr.in, &pr.market), 0, buyable(pr.in), pr.admitted)
		pr.addNodes()
		pr.market.Everything = pr.everyChoice
		for _, o := range pr.market.Options {
			pr.input.Options = append(pr.input.Options, covering.Option{Cap: o.Cap, Price: o.Price})
		}
		for _, s := range pr.market.Supplies {
			for _, x := range s.Members {
				pr.input.Free = append(pr.input.Free, covering.Bin{Cap: x.Cap, Price: x.Price, Count: s.Most(&x)})
			}
		}
	}
	return pr
}

// readLimits reads the per-node limits. The [maxLimits] that need the most nodes become surrogate resources.
func (pr *prover) readLimits() {
	limits := pr.perNodeLimits()
	n := min(len(limits), maxLimits)
	for i := range limits[:n] {
		findPlaces(pr.in, &limits[i])
		pr.surrogateResources = append(pr.surrogateResources, surrogateResource{limit: &limits[i]})
	}
	pr.limited = make([]int, len(pr.placed))
	if !hostsNamed(pr.in) {
		return
	}
	for _, x := range limits[n:] {
		known := false
		x.members.Each(func(i int) { known = known || pr.limited[i] > 0 })
		if !known && len(pr.further) < maxNamedLimits && alike(pr.in, &x) {
			pr.further = append(pr.further, x)
			x.members.Each(func(i int) { pr.limited[i] = len(pr.further) })
		}
	}
}

// addClasses groups the placed classes by node constraints, requests and limits.
func (pr *prover) addClasses() {
	index := map[string]int{}
	for i, n := range pr.placed {
		if n <= 0 {
			continue
		}
		class := pr.in.Planned[i]
		request := pr.measured(pr.in.Unattached(class.Requests), func(y *surrogateResource) int64 { return y.request(i, class.Requests) })
		b := binary.AppendVarint(pr.in.AppendGroup(nil, class.Group), int64(pr.limited[i]))
		for _, q := range request {
			b = binary.AppendVarint(b, q)
		}
		at, known := index[string(b)]
		if !known {
			at = len(pr.classes)
			index[string(b)] = at
			pr.classes = append(pr.classes, nil)
			perNode := int64(0)
			if len(pr.in.Classes.Groups[class.Group].Ports) > 0 {
				perNode = 1
			}
			if k := pr.limited[i]; k > 0 {
				perNode = pr.further[k-1].perNode(perNode)
			}
			pr.market.Classes = append(pr.market.Classes, bound.Class{Size: request, PerNode: perNode})
		}
		pr.classes[at] = append(pr.classes[at], model.ClassID(i))
		pr.market.Classes[at].Count += n
	}
	for i := range pr.market.Classes {
		pr.input.Items = append(pr.input.Items, covering.Item{Size: pr.market.Classes[i].Size, Count: pr.market.Classes[i].Count})
	}
}

// measured is amounts of resources followed by those of the surrogate resources.
func (pr *prover) measured(amounts []int64, of func(*surrogateResource) int64) []int64 {
	if len(pr.surrogateResources) == 0 {
		return amounts
	}
	out := append(make([]int64, 0, pr.market.Dims), amounts...)
	for i := range pr.surrogateResources {
		out = append(out, of(&pr.surrogateResources[i]))
	}
	return out
}

// space is the room of an offer, by number, with surrogate resources.
func (pr *prover) space(room int) []int64 {
	out, ok := pr.spaces[room]
	if !ok {
		amounts := pr.in.Rooms.Rooms[room]
		out = pr.measured(amounts, func(y *surrogateResource) int64 { return y.room(amounts, onSale) })
		pr.spaces[room] = out
	}
	return out
}

// admitted are the market's classes whose groups are in a column.
func (pr *prover) admitted(column int) model.Bits {
	if row, ok := pr.users[column]; ok {
		return row
	}
	row := model.NewBits(len(pr.classes))
	for i, ids := range pr.classes {
		if pr.in.Columns.Rows[column].Has(pr.in.Planned[ids[0]].Group) {
			row.Set(i)
		}
	}
	pr.users[column] = row
	return row
}

// usable reports whether a pod of one of the classes in users fits into an empty room.
func (pr *prover) usable(room []int64, users model.Bits) bool {
	for i := range pr.market.Classes {
		if users.Has(i) && model.Fits(room, pr.market.Classes[i].Size) {
			return true
		}
	}
	return false
}

// sell adds offers to a market, in a domain or 0. Offers with equal room and groups are one at the cheapest price,
// except reservations, because their count is limited. users are the market's classes of a column.
func (pr *prover) sell(supplies *reservedSupplies, domain int, list []offers.TemplateOffer, users func(column int) model.Bits) {
	type machine struct {
		room, column int
		reservation  string
		price, use   int64 // only for reservations
	}
	known := map[machine]int{}
	for _, o := range list {
		x := &pr.in.Offers.Offers[o.Offer]
		price, k := int64(x.Expected), machine{room: o.Room, column: o.Column}
		if x.Offering.Counted() {
			k.reservation, k.price, k.use = x.Offering.ReservationID, price, x.Offering.UsePerNode()
		}
		options := &supplies.market.Options
		if at, ok := known[k]; ok {
			if at >= 0 {
				(*options)[at].Price = min((*options)[at].Price, price)
			}
			continue
		}
		known[k] = -1
		c := bound.Choice{Cap: pr.space(o.Room), Price: price, Users: users(o.Column), Domain: domain, Use: k.use}
		switch {
		case !pr.usable(c.Cap, pr.admitted(o.Column)):
		case k.reservation != "":
			supplies.add(k.reservation, c)
		default:
			known[k] = len(*options)
			*options = append(*options, c)
		}
	}
}

// reservedSupplies are the reservations in a market.
type reservedSupplies struct {
	market *bound.Market
	at     map[string]int   // by reservation ID, index in the market's Supplies
	left   map[string]int64 // by reservation ID, the amount left
}

// newReservedSupplies is the reservations of an instance, none of them in m yet.
func newReservedSupplies(in *instance.Instance, m *bound.Market) *reservedSupplies {
	return &reservedSupplies{market: m, at: map[string]int{}, left: reservations(in)}
}

// add adds a machine to the choices of a reservation.
func (r *reservedSupplies) add(reservation string, machine bound.Choice) {
	at, ok := r.at[reservation]
	if !ok {
		at = len(r.market.Supplies)
		r.at[reservation] = at
		r.market.Supplies = append(r.market.Supplies, bound.Supply{Name: reservation, Count: r.left[reservation]})
	}
	s := &r.market.Supplies[at]
	s.Members = append(s.Members, machine)
}

// reservations is, by ID, the amount left of each reservation: the least of the counts that the catalogs of
// NodePools state.
func reservations(in *instance.Instance) map[string]int64 {
	left := map[string]int64{}
	for _, pool := range in.Facts.Problem.NodePools {
		span := in.Offers.Spans[in.Facts.Problem.CatalogOf(pool.Name)]
		for _, i := range in.Offers.Reserved {
			if int(i) < span[0] || int(i) >= span[1] {
				continue
			}
			o := in.Offers.Offers[i].Offering
			if n, known := left[o.ReservationID]; !known || o.ReservationCount < n {
				left[o.ReservationID] = o.ReservationCount
			}
		}
	}
	return left
}

// everyChoice lists all offers without reservations by price; of equal prices, dominated ones are left out.
func (pr *prover) everyChoice() []bound.Choice {
	sold := soldOnes(pr.in)
	kinds := make([]bound.Choice, len(sold.Kinds))
	for i, k := range sold.Kinds {
		if room, users := pr.space(k.Room), pr.admitted(k.Column); pr.usable(room, users) {
			kinds[i] = bound.Choice{Cap: room, Users: users}
		}
	}
	out := make([]bound.Choice, 0, len(sold.List))
	for _, x := range sold.List {
		if c := kinds[x.Kind]; c.Cap != nil {
			c.Price = x.Price
			out = append(out, c)
		}
	}
	return out
}
