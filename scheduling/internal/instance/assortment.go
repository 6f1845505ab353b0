package instance

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Assortment is what may be bought for some groups, as it was worked out last. It is not
// changed any more: who takes it copies what grows.
type Assortment struct {
	// What it depends on.
	signatures []string // of the groups
	names      []corev1.ResourceName
	daemons    []*offers.Daemon
	pools      []*scheduling.NodePool
	shops      map[string]*instancetypes.Catalog
	stock      *offers.Offer // the first of the offers
	cautious   bool
	tied       bool
	asked      *offers.Questions
	onSale
	options engineOptions // of the packing without sites
	// What was asked for since; nil until then.
	offerGroups *offerGroups
	buyable     []offers.TemplateOffer
	byDomain    []*DomainOffers // one for each label
	sold        *SoldMachines
}

// onSale is what may be bought, and the tables that number it.
type onSale struct {
	Templates []*offers.Template
	unchecked map[string]bool // well-known keys that pools require and no type defines
	Offered   []offers.TemplateOffers
	Rooms     *offers.RoomTable
	Columns   *offers.RowTable
}

// copied is the same to grow: with what templates remember for themselves, and tables of its own.
func (s onSale) copied() onSale {
	templates := make([]*offers.Template, len(s.Templates))
	for i, t := range s.Templates {
		own := *t
		templates[i] = &own
	}
	s.Templates, s.Offered = templates, slices.Clone(s.Offered)
	s.Rooms, s.Columns = s.Rooms.Fork(), s.Columns.Fork()
	return s
}

// DomainOffers are the offers that a bound looks at domain by domain, where a label says which that is; last stand those without.
type DomainOffers struct {
	Key     string
	Domains []string
	Kept    [][]offers.TemplateOffer
	// plain are those that no cheaper one makes pointless, with the room that pods find.
	Plain [][]offers.TemplateOffer
}

// SoldMachines is everything on sale but reservations, the cheapest first. Machines with as much room for the same
// pods at the same price stand there once.
type SoldMachines struct {
	Kinds []SoldKind
	List  []SoldMachine
}

// SoldKind is a room on sale, and the groups of pods that may be there, by their numbers in the assortment's tables.
type SoldKind struct{ Room, Column int }

// SoldMachine is a kind, by its number, at a price in nano-USD per hour.
type SoldMachine struct {
	Kind  int
	Price int64
}

// buildAssortment works out what may be bought, unless it is known. Where pods have
// volumes, it depends on more than is worth comparing.
func buildAssortment(c *Instance) {
	known := c.Memory.assortment
	plain := c.Classes.Volumes == nil && len(c.Offers.Offers) > 0
	asked := questions(c)
	if plain && known.suits(c, asked) {
		c.onSale, c.assorted = known.onSale.copied(), known
		c.unsited = newUnsited(c, &known.options)
		return
	}
	buildTemplates(c, asked)
	buildOffers(c)
	c.unsited = newUnsited(c, nil)
	if plain {
		c.assorted = newAssortment(c, asked)
		c.Memory.assortment = c.assorted
	}
}

// suits reports whether the assortment is what would be worked out.
func (a *Assortment) suits(c *Instance, asked *offers.Questions) bool {
	return a != nil && a.cautious == c.Cautious && a.tied == c.Tied() && a.stock == &c.Offers.Offers[0] &&
		slices.Equal(a.pools, c.Problem.NodePools) && maps.Equal(a.shops, c.Problem.PoolCatalogs) && slices.Equal(a.names, c.Table.Names) &&
		slices.Equal(a.signatures, c.Classes.Signatures) && sameDaemons(a.daemons, c.Daemons) &&
		same(a.asked, asked)
}

// same reports whether the same is asked of labels, the groups aside.
func same(q, o *offers.Questions) bool {
	return maps.EqualFunc(q.ByKey, o.ByKey, func(a, b []offers.Question) bool {
		return slices.EqualFunc(a, b, func(x, y offers.Question) bool { return x.Daemon == y.Daemon && x.Equal(y.Requirement) })
	}) && maps.Equal(q.Apart, o.Apart) && maps.Equal(q.Levels.Wanted, o.Levels.Wanted) && maps.Equal(q.Levels.Spread, o.Levels.Spread) &&
		maps.EqualFunc(q.Levels.Taken, o.Levels.Taken, slices.Equal)
}

// sameDaemons reports whether daemons take the same everywhere.
func sameDaemons(a, b []*offers.Daemon) bool {
	return slices.EqualFunc(a, b, func(a, b *offers.Daemon) bool {
		return a.Set == b.Set && slices.Equal(a.Requests, b.Requests) && slices.Equal(a.Constraint.Ports, b.Constraint.Ports)
	})
}

func newAssortment(c *Instance, asked *offers.Questions) *Assortment {
	m := c.unsited.Model
	return &Assortment{
		tied: c.Tied(), asked: asked,
		signatures: c.Classes.Signatures, names: c.Table.Names, daemons: c.Daemons, pools: c.Problem.NodePools, shops: c.Problem.PoolCatalogs,
		stock: &c.Offers.Offers[0], cautious: c.Cautious,
		onSale: c.onSale.copied(), options: engineOptions{
			options: slices.Clip(m.Options), bought: slices.Clip(c.unsited.Bought),
			floors: slices.Clip(m.Floors), supply: slices.Clip(m.Supply), passes: slices.Clip(m.Passes),
		},
	}
}

// Buyable is the list of offers that a bound looks at, worked out unless it is remembered with what may be bought.
func (c *Instance) Buyable(work func() []offers.TemplateOffer) []offers.TemplateOffer {
	if a := c.assorted; a != nil && a.buyable != nil {
		return a.buyable
	}
	out := work()
	learn(c, func(a *Assortment) { a.buyable = out })
	return out
}

// Sold is everything on sale, worked out unless it is remembered with what may be bought.
func (c *Instance) Sold(work func() *SoldMachines) *SoldMachines {
	if a := c.assorted; a != nil && a.sold != nil {
		return a.sold
	}
	out := work()
	learn(c, func(a *Assortment) { a.sold = out })
	return out
}

// OffersByDomain are the offers that a bound looks at domain by domain of a label, worked out unless those of the same domains
// are remembered with what may be bought.
func (c *Instance) OffersByDomain(key string, domains []string, work func() *DomainOffers) *DomainOffers {
	if a := c.assorted; a != nil {
		for _, x := range a.byDomain {
			if x.Key == key && slices.Equal(x.Domains, domains) {
				return x
			}
		}
	}
	out := work()
	learn(c, func(a *Assortment) {
		a.byDomain = append(slices.DeleteFunc(slices.Clone(a.byDomain), func(x *DomainOffers) bool { return x.Key == key }), out)
	})
	return out
}

// learn adds to what is known of the assortment. Rooms and columns that were numbered
// meanwhile go with it.
func learn(c *Instance, add func(*Assortment)) {
	if c.assorted == nil {
		return
	}
	a := *c.assorted
	a.Rooms, a.Columns = c.Rooms.Fork(), c.Columns.Fork()
	add(&a)
	if c.Memory.assortment == c.assorted {
		c.Memory.assortment = &a
	}
	c.assorted = &a
}

// offerGroups are the offers sorted by what plans of sites make of them: those of a template that
// admit the same groups, and are at the same site however sites are told apart, are taken or
// left together. A search among ties states its offers again and again; this way it looks at
// each stratum, and not at each offer. They are not changed once they are made.
type offerGroups struct {
	sites   []int32           // of the offers' spots, told apart in all ways
	of      [][]int32         // by template and place in its list
	samples []offers.Purchase // by stratum, the first of it
	// firsts are, by template, the places of those that no other one of their stratum makes
	// pointless: what may be bought is drawn from them.
	firsts [][]int32
}

// offerGroupsOf are those of the locations as they are now.
func offerGroupsOf(l *LocationIndex) *offerGroups {
	if l.sorted != nil && l.sortedBy == len(l.Axes) {
		return l.sorted
	}
	l.sortedBy = len(l.Axes)
	name, axes := axesName(l.Axes)
	if s, ok := l.LocationCache.offerGroups[name]; ok {
		l.sorted = s
		return s
	}
	p := &Partition{At: make([]int32, l.OnSale), Sites: min(l.OnSale, 1)}
	for _, a := range axes {
		if sold := (axis{At: a.At[:l.OnSale]}); l.OnSale > 0 {
			p.tellApart(&sold)
		}
	}
	defer func() { l.LocationCache.offerGroups[name] = l.sorted }()
	if l.In.assorted != nil && l.In.assorted.offerGroups != nil && slices.Equal(l.In.assorted.offerGroups.sites, p.At) {
		l.sorted = l.In.assorted.offerGroups
		return l.sorted
	}
	l.sorted = newOfferGroups(l, p.At)
	learn(l.In, func(a *Assortment) { a.offerGroups = l.sorted })
	return l.sorted
}

func newOfferGroups(l *LocationIndex, sites []int32) *offerGroups {
	s := &offerGroups{sites: sites, of: make([][]int32, len(l.In.Templates)), firsts: make([][]int32, len(l.In.Templates))}
	supplies := newSupplies(l.In)
	for ti := range l.In.Templates {
		list := l.In.Offered[ti].List
		type stratum struct {
			column int
			site   int32
		}
		known := map[stratum]int32{}
		of := make([]int32, len(list))
		var places [][]int32 // by stratum of the template
		from := int32(len(s.samples))
		for at := range list {
			k := stratum{list[at].Column, sites[l.First[ti]+at]}
			n, found := known[k]
			if !found {
				n = int32(len(s.samples))
				known[k] = n
				s.samples, places = append(s.samples, offers.Purchase{Template: ti, Offer: list[at].Offer}), append(places, nil)
			}
			of[at], places[n-from] = n, append(places[n-from], int32(at))
		}
		s.of[ti] = of
		for _, some := range places {
			s.firsts[ti] = append(s.firsts[ti], pointed(l, ti, some, supplies)...)
		}
		slices.Sort(s.firsts[ti])
	}
	return s
}

// pointed are those of some places of a template's list, of one stratum, that no other of them
// makes pointless.
func pointed(l *LocationIndex, ti int, places []int32, supplies *offers.Supplies) []int32 {
	v := l.In.Templates[ti]
	choosy := len(offers.FloorKeys(v.Set)) > 0 || offers.On(l.In.Solver.Flexibility)
	if choosy && l.In.Cautious || !offers.ByCost(l.In.Solver) {
		return places // they may stand for others that come after them
	}
	limited := LimitedResources(v.Pool)
	options := make([]model.Option, len(places))
	for i, at := range places {
		o := &l.In.Offered[ti].List[at]
		offer := &l.In.Offers.Offers[o.Offer]
		options[i] = model.Option{
			Room: l.In.Rooms.Rooms[o.Room], Use: LimitUse(limited, l.In.Offers.Shapes[offer.Shape].Capacity),
			Cost: offer.Cost, Supply: supplies.Number(offer.Offering), Floor: -1,
		}
		if choosy {
			options[i].Floor = int32(offers.CapacityKind(offer))
		}
	}
	kept := l.In.Memory.thinned.thin(options)
	out := make([]int32, len(kept))
	for n, i := range kept {
		out[n] = places[i]
	}
	return out
}

// relist lists the offers that some seat may use: rows are those that each seat may use, by template and seat. Columns
// numbers the seats that may use an offer.
func relist(l *LocationIndex, columns *offers.RowTable, rows [][]model.Bits) *relisted {
	s := offerGroupsOf(l)
	of := make([]int32, len(s.samples))
	for n, x := range s.samples {
		of[n] = -1
		scratch := columns.Scratch
		clear(scratch)
		for seat, row := range rows[x.Template] {
			if row != nil && row.Has(x.Offer) {
				scratch.Set(seat)
			}
		}
		if scratch.Any() {
			of[n] = int32(columns.Number(scratch))
		}
	}
	return l.LocationCache.relist(s, of, func() *relisted { return newRelisted(l, s, of) })
}

// relisted is what offers are of use where the offer groups have some columns, the same for all parts
// that agree on these.
type relisted struct {
	offerGroups   *offerGroups
	columns       []int32 // by stratum, -1 for those of no use
	lists, firsts [][]offers.TemplateOffer
	kinds         map[kindsKey][]offers.TemplateOffer // filled when asked
}

// kindsKey is a template, and whether spot offers are told apart from others.
type kindsKey struct {
	template int
	apart    bool
}

func newRelisted(l *LocationIndex, s *offerGroups, columns []int32) *relisted {
	r := &relisted{offerGroups: s, columns: columns, lists: make([][]offers.TemplateOffer, len(l.In.Templates)), firsts: make([][]offers.TemplateOffer, len(l.In.Templates)), kinds: map[kindsKey][]offers.TemplateOffer{}}
	for ti := range l.In.Templates {
		from, of := l.In.Offered[ti].List, s.of[ti]
		with := func(at int) (offers.TemplateOffer, bool) {
			column := columns[of[at]]
			return offers.TemplateOffer{Offer: from[at].Offer, Room: from[at].Room, Column: int(column)}, column >= 0
		}
		list := make([]offers.TemplateOffer, 0, len(from))
		for at := range from {
			if o, ok := with(at); ok {
				list = append(list, o)
			}
		}
		r.lists[ti] = list
		for _, at := range s.firsts[ti] {
			if o, ok := with(int(at)); ok {
				r.firsts[ti] = append(r.firsts[ti], o)
			}
		}
	}
	return r
}

// ChoiceIn reports whether offers that are on sale leave a template the choice that
// its pool's minValues ask for.
func (c *Instance) ChoiceIn(v *offers.Template, row model.Bits) bool {
	if c.Solver.MinValues == scheduling.MinValuesBestEffort {
		return true
	}
	for _, r := range offers.FloorKeys(v.Set) {
		seen := map[string]bool{}
		row.Each(func(o int) {
			if c.Offers.Offers[o].Launchable {
				if value, ok := c.Offers.LabelOf(v, o, r.Key()); ok {
					seen[value] = true
				}
			}
		})
		if len(seen) < r.MinValues() {
			return false
		}
	}
	return true
}
