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

// OfferCache remembers the offers that the groups of a plan may use, with the inputs from which they were worked out. It
// is not changed after it is made; [learn] replaces it. Its user must copy the tables that grow, see [onSale.copied].
type OfferCache struct {
	// The inputs: the offers hold for a plan only where all of them are equal.
	signatures []string // of the groups
	names      []corev1.ResourceName
	daemons    []*offers.Daemon
	pools      []*scheduling.NodePool
	shops      map[string]*instancetypes.Catalog
	stock      *offers.Offer // the first of the offers
	cautious   bool
	hasTerms   bool
	asked      *offers.Questions
	onSale
	options engineOptions // the engine's options of [Instance.Unsited]
	// Results that are worked out at the first use; nil before.
	offerGroups *offerGroups
	buyable     []offers.TemplateOffer
	byDomain    []*DomainOffers // at most one for each label
	sold        *SoldMachines
}

// onSale is the offers of each template, with the tables that number rooms and columns of admitted groups.
type onSale struct {
	Templates []*offers.Template
	unchecked map[string]bool // well-known keys that pools require and no type defines
	Offered   []offers.TemplateOffers
	Rooms     *offers.RoomTable
	Columns   *offers.RowTable
}

// copied is a copy whose tables and templates may grow without changing s.
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

// DomainOffers are the offers that a bound prices domain by domain of a label, e.g. zone by zone. Kept and Plain are
// indexed as Domains; the last list of each is of the offers without the label.
type DomainOffers struct {
	Key     string
	Domains []string
	Kept    [][]offers.TemplateOffer
	// Plain has the room that daemons leave, Kept the most that pods may find whatever values open labels get. Both are
	// without dominated offers.
	Plain [][]offers.TemplateOffer
}

// SoldMachines are the offers on sale without reservations, the cheapest first. Offers with the same room, admitted
// groups and price are one entry.
type SoldMachines struct {
	Kinds []SoldKind
	List  []SoldMachine
}

// SoldKind is a room and a column of admitted groups, by their numbers in the offer cache's Rooms and Columns.
type SoldKind struct{ Room, Column int }

// SoldMachine is a kind, by its index in Kinds, at a price in nano-USD per hour.
type SoldMachine struct {
	Kind  int
	Price int64
}

// buildOfferCache fills templates, offers and the packing without domains, from memory where the inputs are equal. With
// volumes memory is not used, because offers then depend on the zones of each claim.
func buildOfferCache(c *Instance) {
	known := c.Facts.Memory.offerCache
	plain := c.Classes.Volumes == nil && len(c.Offers.Offers) > 0
	asked := questions(c)
	if plain && known.suits(c, asked) {
		c.onSale, c.cached = known.onSale.copied(), known
		c.unsited = newUnsited(c, &known.options)
		return
	}
	buildTemplates(c, asked)
	buildOffers(c)
	c.unsited = newUnsited(c, nil)
	if plain {
		c.cached = newOfferCache(c, asked)
		c.Facts.Memory.offerCache = c.cached
	}
}

// suits reports whether the inputs of the offer cache are equal to those of c, so that it may be used for c.
func (a *OfferCache) suits(c *Instance, asked *offers.Questions) bool {
	return a != nil && a.cautious == c.Cautious && a.hasTerms == c.HasTopologyTerms() && a.stock == &c.Offers.Offers[0] &&
		slices.Equal(a.pools, c.Facts.Problem.NodePools) && maps.Equal(a.shops, c.Facts.Problem.PoolCatalogs) && slices.Equal(a.names, c.Table.Names) &&
		slices.Equal(a.signatures, c.Classes.Signatures) && sameDaemons(a.daemons, c.Daemons) &&
		same(a.asked, asked)
}

// same reports whether two collections ask the same of labels. Groups are not compared, because [OfferCache.suits]
// compares their signatures.
func same(q, o *offers.Questions) bool {
	return maps.EqualFunc(q.ByKey, o.ByKey, func(a, b []offers.Question) bool {
		return slices.EqualFunc(a, b, func(x, y offers.Question) bool { return x.Daemon == y.Daemon && x.Equal(y.Requirement) })
	}) && maps.Equal(q.TopologyKeys, o.TopologyKeys) && maps.Equal(q.Levels.Wanted, o.Levels.Wanted) && maps.Equal(q.Levels.Spread, o.Levels.Spread) &&
		maps.EqualFunc(q.Levels.Taken, o.Levels.Taken, slices.Equal)
}

// sameDaemons reports whether two lists are of the same DaemonSets with equal requests and host ports.
func sameDaemons(a, b []*offers.Daemon) bool {
	return slices.EqualFunc(a, b, func(a, b *offers.Daemon) bool {
		return a.Set == b.Set && slices.Equal(a.Requests, b.Requests) && slices.Equal(a.Constraint.Ports, b.Constraint.Ports)
	})
}

// newOfferCache is an offer cache of copies of the offers of c.
func newOfferCache(c *Instance, asked *offers.Questions) *OfferCache {
	m := c.unsited.Model
	return &OfferCache{
		hasTerms: c.HasTopologyTerms(), asked: asked,
		signatures: c.Classes.Signatures, names: c.Table.Names, daemons: c.Daemons, pools: c.Facts.Problem.NodePools, shops: c.Facts.Problem.PoolCatalogs,
		stock: &c.Offers.Offers[0], cautious: c.Cautious,
		onSale: c.onSale.copied(), options: engineOptions{
			options: slices.Clip(m.Options), bought: slices.Clip(c.unsited.Bought),
			floors: slices.Clip(m.Floors), supply: slices.Clip(m.Supply), passes: slices.Clip(m.Passes),
		},
	}
}

// Buyable is the list of offers that a bound considers, from the offer cache or else from work.
func (c *Instance) Buyable(work func() []offers.TemplateOffer) []offers.TemplateOffer {
	if a := c.cached; a != nil && a.buyable != nil {
		return a.buyable
	}
	out := work()
	learn(c, func(a *OfferCache) { a.buyable = out })
	return out
}

// Sold is the list of machines on sale, from the offer cache or else from work.
func (c *Instance) Sold(work func() *SoldMachines) *SoldMachines {
	if a := c.cached; a != nil && a.sold != nil {
		return a.sold
	}
	out := work()
	learn(c, func(a *OfferCache) { a.sold = out })
	return out
}

// OffersByDomain are the offers of each domain of a label, from the offer cache where it has them for equal domains, or
// else from work.
func (c *Instance) OffersByDomain(key string, domains []string, work func() *DomainOffers) *DomainOffers {
	if a := c.cached; a != nil {
		for _, x := range a.byDomain {
			if x.Key == key && slices.Equal(x.Domains, domains) {
				return x
			}
		}
	}
	out := work()
	learn(c, func(a *OfferCache) {
		a.byDomain = append(slices.DeleteFunc(slices.Clone(a.byDomain), func(x *DomainOffers) bool { return x.Key == key }), out)
	})
	return out
}

// learn replaces the offer cache of c by a copy with one more result, together with the rooms and columns that c has
// numbered since. Without an offer cache it has no effect.
func learn(c *Instance, add func(*OfferCache)) {
	if c.cached == nil {
		return
	}
	a := *c.cached
	a.Rooms, a.Columns = c.Rooms.Fork(), c.Columns.Fork()
	add(&a)
	if c.Facts.Memory.offerCache == c.cached {
		c.Facts.Memory.offerCache = &a
	}
	c.cached = &a
}

// offerGroups divides the offers of each template into groups of offers that admit the same groups and are equal on all axes
// of a location index, so that every choice of sites takes or leaves a group as a whole. A search over domains states
// its options many times; it looks at each group instead of each offer. It is not changed after it is made.
type offerGroups struct {
	sites   []int32           // by location of an offer, its site in the partition by all axes
	of      [][]int32         // by template and index in its list, the offer group
	samples []offers.OfferRef // by offer group, its first offer
	// firsts are, by template, the indices in its list of the offers that no other offer of their group dominates.
	// The engine's options are drawn from them.
	firsts [][]int32
}

// offerGroupsOf returns the offer groups by the axes that the index has now. They are remembered with the location cache and
// the offer cache.
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
	if l.In.cached != nil && l.In.cached.offerGroups != nil && slices.Equal(l.In.cached.offerGroups.sites, p.At) {
		l.sorted = l.In.cached.offerGroups
		return l.sorted
	}
	l.sorted = newOfferGroups(l, p.At)
	learn(l.In, func(a *OfferCache) { a.offerGroups = l.sorted })
	return l.sorted
}

// newOfferGroups divides the offers into groups; sites is the site of each location of an offer.
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
		var places [][]int32 // by offer group of the template
		from := int32(len(s.samples))
		for at := range list {
			k := stratum{list[at].Column, sites[l.First[ti]+at]}
			n, found := known[k]
			if !found {
				n = int32(len(s.samples))
				known[k] = n
				s.samples, places = append(s.samples, offers.OfferRef{Template: ti, Offer: list[at].Offer}), append(places, nil)
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

// pointed are the places, indices of one offer group in a template's list, whose offers no other offer of the group dominates.
// All are returned where a dominated offer may still count: for minValues or flexibility of a cautious instance, and
// where offers are not ranked by cost.
func pointed(l *LocationIndex, ti int, places []int32, supplies *offers.Supplies) []int32 {
	v := l.In.Templates[ti]
	choosy := len(offers.FloorKeys(v.Set)) > 0 || offers.On(l.In.Facts.Solver.Flexibility)
	if choosy && l.In.Cautious || !offers.ByCost(l.In.Facts.Solver) {
		return places // because a dominated offer may be a launch's alternative
	}
	limited := LimitedResources(v.Pool)
	options := make([]model.Option, len(places))
	for i, at := range places {
		o := &l.In.Offered[ti].List[at]
		offer := &l.In.Offers.Offers[o.Offer]
		options[i] = model.Option{
			Room: l.In.Rooms.Rooms[o.Room], Use: LimitUse(limited, l.In.Offers.Shapes[offer.Shape].Capacity, offer.Offering.Price),
			Cost: offer.Cost, Supply: supplies.Number(offer.Offering), SupplyUse: offer.Offering.UsePerNode(), Floor: -1,
		}
		if choosy {
			options[i].Floor = int32(offers.CapacityKind(offer))
		}
	}
	kept := l.In.Facts.Memory.pruned.undominated(options)
	out := make([]int32, len(kept))
	for n, i := range kept {
		out[n] = places[i]
	}
	return out
}

// relist lists the offers that are in at least one feasible set. rows are, by template and feasible set, the offers in it;
// columns numbers the collections of feasible sets that have an offer.
func relist(l *LocationIndex, columns *offers.RowTable, rows [][]model.Bits) *usableOffers {
	s := offerGroupsOf(l)
	of := make([]int32, len(s.samples))
	for n, x := range s.samples {
		of[n] = -1
		scratch := columns.Scratch
		clear(scratch)
		for set, row := range rows[x.Template] {
			if row != nil && row.Has(x.Offer) {
				scratch.Set(set)
			}
		}
		if scratch.Any() {
			of[n] = int32(columns.Number(scratch))
		}
	}
	return l.LocationCache.relist(s, of, func() *usableOffers { return newUsableOffers(l, s, of) })
}

// usableOffers lists the offers of each template that are in feasible sets. Packings in which every offer group has the same column
// share it.
type usableOffers struct {
	offerGroups   *offerGroups
	columns       []int32 // by offer group, the column of the feasible sets that have it; -1 for none
	lists, firsts [][]offers.TemplateOffer
	kinds         map[kindsKey][]offers.TemplateOffer // filled at the first use
}

// kindsKey is a template, and whether spot and other offers are different kinds.
type kindsKey struct {
	template int
	apart    bool
}

// newUsableOffers lists the offers of offer groups that have a column.
func newUsableOffers(l *LocationIndex, s *offerGroups, columns []int32) *usableOffers {
	r := &usableOffers{offerGroups: s, columns: columns, lists: make([][]offers.TemplateOffer, len(l.In.Templates)), firsts: make([][]offers.TemplateOffer, len(l.In.Templates)), kinds: map[kindsKey][]offers.TemplateOffer{}}
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

// ChoiceIn reports whether the launchable offers of row satisfy the minValues of a template's NodePool. With
// [scheduling.MinValuesBestEffort] they always do.
func (c *Instance) ChoiceIn(v *offers.Template, row model.Bits) bool {
	if c.Facts.Solver.MinValues == scheduling.MinValuesBestEffort {
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
