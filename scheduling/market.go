package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// prover collects what the placed pods need and what could hold any of them. Limits,
// weights and minValues are left out: a plan that ignores them is never dearer. Where
// it cannot tell it counts a machine as larger and as open to more pods than it is,
// which only lowers the bound.
type prover struct {
	*compiler
	placed []int64
	// classes are the classes of the market: those of the plan that differ in
	// priority alone count as one.
	classes [][]model.ClassID
	input   bound.Input
	market  bound.Market
	users   map[int]model.Bits // of the market's classes, by column
}

func (c *compiler) newProver(placed []int64) *prover {
	pr := &prover{compiler: c, placed: placed, users: map[int]model.Bits{}}
	pr.input.Dims, pr.market.Dims = c.model.Dims, c.model.Dims
	pr.addClasses()
	if len(pr.classes) > 0 {
		pr.addOffers()
		pr.addNodes()
	}
	return pr
}

func (pr *prover) addClasses() {
	index := map[string]int{}
	for i, n := range pr.placed {
		if n <= 0 {
			continue
		}
		class := &pr.model.Classes[i]
		request := pr.unattached(class.Request)
		b := pr.appendGroup(nil, int(class.Group))
		for _, q := range request {
			b = binary.AppendVarint(b, q)
		}
		at, known := index[string(b)]
		if !known {
			at = len(pr.classes)
			index[string(b)] = at
			pr.classes = append(pr.classes, nil)
			pr.market.Classes = append(pr.market.Classes, bound.Class{Size: request, PerNode: class.PerNode})
		}
		pr.classes[at] = append(pr.classes[at], model.ClassID(i))
		pr.market.Classes[at].Count += n
	}
	for i := range pr.market.Classes {
		pr.input.Items = append(pr.input.Items, bound.Item{Size: pr.market.Classes[i].Size, Count: pr.market.Classes[i].Count})
	}
}

// admitted are the market's classes of the groups in a column.
func (pr *prover) admitted(column int) model.Bits {
	if row, ok := pr.users[column]; ok {
		return row
	}
	row := model.NewBits(len(pr.classes))
	for i, ids := range pr.classes {
		if pr.columns.rows[column].Has(int(pr.model.Classes[ids[0]].Group)) {
			row.Set(i)
		}
	}
	pr.users[column] = row
	return row
}

// usable reports whether any class could sit alone in the room.
func (pr *prover) usable(room []int64, users model.Bits) bool {
	found := false
	users.Each(func(i int) { found = found || model.Fits(room, pr.market.Classes[i].Size) })
	return found
}

// addOffers adds what may be bought. Of offers with equal room for the same pods the
// cheapest stands for all.
func (pr *prover) addOffers() {
	type machine struct{ room, column int }
	type reservation struct {
		machine
		id    string
		price int64
	}
	cheapest := map[machine]int{}
	reserved := map[reservation]bool{}
	left := pr.reservations()
	numbers := map[string]int{} // of the market's supplies
	for _, o := range pr.buyable() {
		x := &pr.offers.offers[o.offer]
		price, room, k := int64(x.offering.Price), pr.rooms.rooms[o.room], machine{o.room, o.column}
		if x.offering.CapacityType == offerings.Reserved {
			id := x.offering.ReservationID
			r := reservation{k, id, price}
			if users := pr.admitted(o.column); !reserved[r] && pr.usable(room, users) {
				reserved[r] = true
				pr.input.Free = append(pr.input.Free, bound.Bin{Cap: room, Price: price, Count: left[id]})
				at, ok := numbers[id]
				if !ok {
					at = len(pr.market.Supplies)
					numbers[id] = at
					pr.market.Supplies = append(pr.market.Supplies, bound.Supply{Count: left[id]})
				}
				s := &pr.market.Supplies[at]
				s.Members = append(s.Members, bound.Choice{Cap: room, Price: price, Users: users})
			}
			continue
		}
		if at, ok := cheapest[k]; ok {
			if at >= 0 {
				pr.market.Options[at].Price = min(pr.market.Options[at].Price, price)
			}
			continue
		}
		users := pr.admitted(o.column)
		if !pr.usable(room, users) {
			cheapest[k] = -1
			continue
		}
		cheapest[k] = len(pr.market.Options)
		pr.market.Options = append(pr.market.Options, bound.Choice{Cap: room, Price: price, Users: users})
	}
	for _, o := range pr.market.Options {
		pr.input.Options = append(pr.input.Options, bound.Option{Cap: o.Cap, Price: o.Price})
	}
}

// reservations are how many machines each has left: the least that any offering says
// which some pool's catalog has.
func (pr *prover) reservations() map[string]int64 {
	left := map[string]int64{}
	for _, pool := range pr.problem.NodePools {
		span := pr.offers.spans[pr.problem.catalogOf(pool.Name)]
		for i := span[0]; i < span[1]; i++ {
			o := pr.offers.offers[i].offering
			if o.CapacityType != offerings.Reserved {
				continue
			}
			if n, known := left[o.ReservationID]; !known || int64(o.ReservationCount) < n {
				left[o.ReservationID] = int64(o.ReservationCount)
			}
		}
	}
	return left
}

// addNodes adds the free room of running nodes.
func (pr *prover) addNodes() {
	for i := range pr.nodes {
		users := pr.admitted(pr.columns.number(pr.nodes[i].suits))
		if !users.Any() {
			continue
		}
		room := pr.nodes[i].room
		pr.input.Free = append(pr.input.Free, bound.Bin{Cap: room, Count: 1})
		pr.market.Supplies = append(pr.market.Supplies, bound.Supply{Count: 1, Members: []bound.Choice{{Cap: room, Users: users}}})
	}
}

// buyable lists the offers of every pool with the most room that pods may find there
// and all groups that may be there, whatever is chosen for the labels that the pool
// leaves open.
func (pr *prover) buyable() []templateOffer {
	var out []templateOffer
	for from := 0; from < len(pr.templates); {
		to := from + 1
		for to < len(pr.templates) && pr.templates[to].number == pr.templates[from].number {
			to++
		}
		daemons := pr.certain(from)
		admits := pr.poolAdmits(from, to)
		at := len(out)
		if admits == nil {
			out = append(append(out, pr.offered[from].list...), pr.offered[from].crowded...)
		} else {
			for _, o := range sortedKeys(admits) {
				out = append(out, templateOffer{offer: o, column: pr.columns.number(admits[o])})
			}
		}
		for i := range out[at:] {
			o := &out[at+i]
			o.room = pr.roomFor(pr.offers.offers[o.offer].shape, daemons, o.offer)
		}
		from = to
	}
	return out
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
