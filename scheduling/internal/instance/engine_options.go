package instance

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// engineOptions are the options of a packing, as the engine takes them, with the tables to which they refer by number.
type engineOptions struct {
	options []model.Option
	bought  []offers.OfferRef // by option, the offer it stands for
	floors  []model.Floor
	supply  []int64
	passes  []model.Pass
}

// optionReader builds the engine's options of a packing from the offers in its feasible sets.
type optionReader struct {
	in       *Instance
	packing  *Packing
	softs    []model.Bits // by template, the feasible sets that do not tolerate a PreferNoSchedule taint of its NodePool
	supplies *offers.Supplies
	usable   *usableOffers // nil where no part has a site
	out      engineOptions
}

// newOptionReader is a reader of the options of a packing. rows are, by template and feasible set, the offers that it may
// use; softs are narrowed by [dropMootPreferences].
func newOptionReader(p *Packing, rows [][]model.Bits, softs []model.Bits, r *usableOffers) *optionReader {
	dropMootPreferences(p, rows, softs)
	return &optionReader{in: p.In, packing: p, softs: softs, supplies: newSupplies(p.In), usable: r}
}

// read returns the options without dominated ones.
func (x *optionReader) read() *engineOptions {
	ranks := x.in.WeightRank()
	for ti, v := range x.in.Templates {
		x.addOptions(ti, ranks[v.Number])
	}
	x.out.supply = x.supplies.Counts
	x.out.options, x.out.bought = withoutDominated(x.out.options, x.out.bought)
	x.out.passes = passes(x.out.options)
	return &x.out
}

// feasibleRows returns, by template and feasible set, the offers that it may use, nil for none, and by template the feasible sets that
// do not tolerate a PreferNoSchedule taint of its NodePool.
func feasibleRows(c *Instance, sets []FeasibleSet) (rows [][]model.Bits, softs []model.Bits) {
	rows, softs = make([][]model.Bits, len(c.Templates)), make([]model.Bits, len(c.Templates))
	for ti := range c.Templates {
		rows[ti], softs[ti] = make([]model.Bits, len(sets)), model.NewBits(len(sets))
		for i := range sets {
			s := &sets[i]
			if s.NoNew {
				continue
			}
			if rows[ti][i] = feasibleRow(&c.Offered[ti], s, ti); rows[ti][i] != nil && slices.ContainsFunc(s.Groups, c.Offered[ti].Soft.Has) {
				softs[ti].Set(i)
			}
		}
	}
	return rows, softs
}

// feasibleRow is the offers of template ti in a feasible set: the intersection of the rows of its groups and of its own;
// nil for none. A row is copied before it is narrowed, because x owns it.
func feasibleRow(x *offers.TemplateOffers, s *FeasibleSet, ti int) model.Bits {
	row, others := x.Rows[s.Groups[0]], s.Groups[1:]
	if s.Sold != nil {
		row, others = s.Sold[ti], nil
	}
	shared := true
	narrow := func(with model.Bits) {
		if row == nil || with == nil {
			row = nil
			return
		}
		if shared {
			row, shared = row.Clone(), false
		}
		row.And(with)
	}
	for _, g := range others {
		narrow(x.Rows[g])
	}
	if s.Rows != nil {
		narrow(s.Rows[ti])
	}
	return row
}

// dropMootPreferences clears a feasible set's preference against taints where every NodePool that it may use has a
// PreferNoSchedule taint which it does not tolerate, because then no choice can honour the preference.
func dropMootPreferences(p *Packing, rows [][]model.Bits, softs []model.Bits) {
	for i := range p.FeasibleSets {
		moot := true
		for ti := range rows {
			moot = moot && (rows[ti][i] == nil || softs[ti].Has(i) || !rows[ti][i].Any() || !p.In.ChoiceIn(p.In.Templates[ti], rows[ti][i]))
		}
		for ti := range rows {
			if moot {
				softs[ti].Clear(i)
			}
		}
	}
}

// addOptions adds one option for each kind of offer of a template: same room, same feasible sets, same reservation, same use of
// limits. The option stands for the first such offer in rank order. A cautious instance has one option for each level of
// [optionReader.worst].
func (x *optionReader) addOptions(ti int, rank int32) {
	c, columns := x.in, x.packing.Columns
	v := c.Templates[ti]
	limited := LimitedResources(v.Pool)
	floors := x.addFloors(ti)
	avoids := map[int]model.Bits{} // by column
	firsts := x.firsts(ti, limited, floors[0] != floors[1])
	x.out.options = slices.Grow(x.out.options, len(firsts))
	x.out.bought = slices.Grow(x.out.bought, len(firsts))
	for _, o := range firsts {
		offer := &c.Offers.Offers[o.Offer]
		floor := floors[offers.CapacityKind(offer)]
		admits := columns.Rows[o.Column]
		avoid, known := avoids[o.Column]
		if !known {
			avoid = admits.Clone()
			avoid.And(x.softs[ti])
			avoids[o.Column] = avoid
		}
		use := LimitUse(limited, c.Offers.Shapes[offer.Shape].Capacity, offer.Offering.Price)
		for _, worst := range x.worst(floor, use) {
			x.out.options = append(x.out.options, model.Option{
				Pool: model.PoolID(v.Number), Room: c.Rooms.Rooms[o.Room], Use: use, Worst: worst,
				Cost: offer.Cost, Price: int64(offer.Offering.Price), Supply: x.supplies.Number(offer.Offering), SupplyUse: offer.Offering.UsePerNode(),
				Admits: admits, Soft: avoid, Weight: rank, Floor: floor,
			})
			x.out.bought = append(x.out.bought, offers.OfferRef{Template: ti, Offer: o.Offer})
		}
	}
}

// firsts are the first offers of each kind of a template, see [kinds].
func (x *optionReader) firsts(ti int, limited []corev1.ResourceName, apart bool) []offers.TemplateOffer {
	r := x.usable
	if r == nil {
		return kinds(x.in, x.packing.Lists[ti], limited, apart, x.supplies)
	}
	key := kindsKey{ti, apart}
	out, known := r.kinds[key]
	if !known {
		out = kinds(x.in, r.firsts[ti], limited, apart, x.supplies)
		r.kinds[key] = out
	}
	return out
}

// kinds returns the first offer of each kind in a list: kinds differ in room, column, reservation and use of it,
// with limited resources also in shape, because limits count capacity, with a limit on prices also in price, and with apart
// also in whether the offer is spot.
func kinds(c *Instance, list []offers.TemplateOffer, limited []corev1.ResourceName, apart bool, supplies *offers.Supplies) (firsts []offers.TemplateOffer) {
	type kind struct {
		room, column int
		supply, spot int32
		use          int64 // of the reservation
		shape        int
		price        offerings.Price
	}
	priced := slices.Contains(limited, scheduling.PriceResource)
	seen := make(map[kind]bool, len(list))
	for _, o := range list {
		offer := &c.Offers.Offers[o.Offer]
		k := kind{room: o.Room, column: o.Column, supply: supplies.Number(offer.Offering), use: offer.Offering.UsePerNode()}
		if len(limited) > 0 {
			k.shape = offer.Shape
		}
		if priced {
			k.price = offer.Offering.Price
		}
		if apart {
			k.spot = int32(offers.CapacityKind(offer))
		}
		if !seen[k] {
			seen[k] = true
			firsts = append(firsts, o)
		}
	}
	return firsts
}

// addFloor adds the constraint on the choice of instance types for launches of a template, e.g. minValues of 5 instance
// families, and returns its number; -1 where neither minValues nor, with spot, the policy's flexibility asks for a
// choice. Values count only from offers that can be launched and hold the pods, because a value without one is no
// choice.
func (x *optionReader) addFloor(ti int, spot bool) int32 {
	c, v := x.in, x.in.Templates[ti]
	keys := offers.FloorKeys(v.Set)
	var choice []offers.ChoiceKey
	if spot {
		choice = offers.Keys(c.Facts.Solver.Flexibility)
	}
	if len(keys)+len(choice) == 0 {
		return -1
	}
	var floor model.Floor
	numbers := make([]map[string]int32, len(keys)+len(choice))
	for i := range numbers {
		numbers[i] = map[string]int32{}
	}
	seen := map[string]bool{}
	limited := LimitedResources(v.Pool)
	limits := offers.PoolLimits(v.Pool, limited)
	for _, o := range x.packing.Lists[ti] {
		if c.Cautious && c.Offers.Offers[o.Offer].Offering.Counted() {
			continue // because the reservation may be used up when the launch is made
		}
		offer := &c.Offers.Offers[o.Offer]
		use := LimitUse(limited, c.Offers.Shapes[offer.Shape].Capacity, offer.Offering.Price)
		if !model.Fits(limits, use) {
			continue // because one such node exceeds the limits of an empty NodePool
		}
		m := model.FloorMember{Room: c.Rooms.Rooms[o.Room], Admits: x.packing.Columns.Rows[o.Column], Values: make([]int32, len(numbers))}
		if c.Cautious {
			m.Use = use
		}
		b := binary.AppendVarint(nil, int64(o.Room))
		b = binary.AppendVarint(b, int64(o.Column))
		idle := true
		for i := range numbers {
			m.Values[i] = -1
			var value string
			var ok bool
			if i < len(keys) {
				value, ok = c.Offers.LabelOf(v, o.Offer, keys[i].Key())
			} else if ok = c.Offers.Offers[o.Offer].Spot(); ok {
				value = choice[i-len(keys)].Of(&c.Offers.Offers[o.Offer])
			}
			if ok {
				n, known := numbers[i][value]
				if !known {
					n = int32(len(numbers[i]))
					numbers[i][value] = n
				}
				m.Values[i], idle = n, false
			}
			b = binary.AppendVarint(b, int64(m.Values[i]))
		}
		for _, u := range m.Use {
			b = binary.AppendVarint(b, u)
		}
		if !seen[string(b)] && !idle {
			seen[string(b)] = true
			floor.Members = append(floor.Members, m)
		}
	}
	for i, r := range keys {
		floor.Keys = append(floor.Keys, model.FloorKey{Min: r.MinValues(), Values: len(numbers[i])})
	}
	for i, k := range choice {
		floor.Keys = append(floor.Keys, model.FloorKey{Min: k.Least, Values: len(numbers[len(keys)+i]), Strict: true})
	}
	if len(choice) > 0 {
		// Largest rooms first, because the engine stops counting at the minimum.
		slices.SortStableFunc(floor.Members, func(a, b model.FloorMember) int { return slices.Compare(b.Room, a.Room) })
	}
	x.out.floors = append(x.out.floors, floor)
	return int32(len(x.out.floors) - 1)
}

// worst lists, for a cautious instance, levels of the pool's limits to book for a launch, because the cloud may choose
// any option of the launch: enough that every key of the floor reaches its minimum among the values that use the least,
// then the same with one value more, and so on up to [offers.MaxWorst] levels. Without a floor, without limits, or where
// the instance is not cautious, the only level is nil.
func (x *optionReader) worst(floor int32, use []int64) [][]int64 {
	if !x.in.Cautious || floor < 0 || len(use) == 0 {
		return [][]int64{nil}
	}
	f := &x.out.floors[floor]
	var levels [][]int64
	for extra := range offers.MaxWorst {
		worst := slices.Clone(use)
		for k, key := range f.Keys {
			least := offers.LeastUse(f, k)
			for _, u := range least[:min(key.Min+extra, len(least))] {
				for d, n := range u {
					worst[d] = max(worst[d], n)
				}
			}
		}
		if len(levels) == 0 || !slices.Equal(levels[len(levels)-1], worst) {
			levels = append(levels, worst)
		}
	}
	return levels
}

// addFloors adds the floors of a template and returns their numbers: index 0 for offers that are not spot, 1 for spot.
// They are the same unless the policy asks for flexibility of spot.
func (x *optionReader) addFloors(ti int) [2]int32 {
	floor := x.addFloor(ti, false)
	if !offers.On(x.in.Facts.Solver.Flexibility) {
		return [2]int32{floor, floor}
	}
	return [2]int32{floor, x.addFloor(ti, true)}
}
