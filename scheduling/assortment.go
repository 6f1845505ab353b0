package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// assortment is what may be bought for some groups, as it was worked out last. It is not
// changed any more: who takes it copies what grows.
type assortment struct {
	// What it depends on.
	signatures []string // of the groups
	names      []corev1.ResourceName
	daemons    []*daemon
	pools      []*NodePool
	shops      map[string]*instancetypes.Catalog
	stock      *offer // the first of the offers
	cautious   bool
	tied       bool
	asked      *questions
	// What was worked out.
	templates []*template
	unchecked map[string]bool
	offered   []templateOffers
	rooms     *roomTable
	columns   *rowTable
	options   []model.Option
	bought    []purchase
	floors    []model.Floor
	supply    []int64
	passes    []model.Pass
	// What was asked for since; nil until then.
	strata  *strata
	buyable []templateOffer
	zonal   *zonalOffers
	zones   []string // in which anything is on sale, sorted; nil until asked
	notes
}

// zonalOffers are the offers that a bound looks at zone by zone.
type zonalOffers struct {
	zones []string
	kept  [][]templateOffer
	// plain are those that no cheaper one makes pointless, with the room that pods find.
	plain [][]templateOffer
	// of is, by offer, its zone, -1 where nobody may buy.
	of []int
}

// buildAssortment works out what may be bought, unless it is known. Where pods have
// volumes, it depends on more than is worth comparing.
func (c *compiler) buildAssortment() {
	known := c.memory.assortment
	plain := c.classes.volumes == nil && len(c.offers.offers) > 0
	asked := c.questions()
	if plain && known.suits(c, asked) {
		known.take(c)
		return
	}
	c.buildTemplates(asked)
	c.buildOptions()
	if plain {
		c.assorted = newAssortment(c, asked)
		c.memory.assortment = c.assorted
	}
}

// suits reports whether the assortment is what would be worked out.
func (a *assortment) suits(c *compiler, asked *questions) bool {
	return a != nil && a.cautious == c.cautious && a.tied == c.tied() && a.stock == &c.offers.offers[0] &&
		slices.Equal(a.pools, c.problem.NodePools) && maps.Equal(a.shops, c.problem.PoolCatalogs) && slices.Equal(a.names, c.table.names) &&
		slices.Equal(a.signatures, c.classes.signatures) && sameDaemons(a.daemons, c.daemons) &&
		a.asked.same(asked)
}

// same reports whether the same is asked of labels, the groups aside.
func (q *questions) same(o *questions) bool {
	return maps.EqualFunc(q.byKey, o.byKey, func(a, b []question) bool {
		return slices.EqualFunc(a, b, func(x, y question) bool { return x.daemon == y.daemon && x.Equal(y.Requirement) })
	}) && maps.Equal(q.apart, o.apart) && maps.Equal(q.levels.wanted, o.levels.wanted) && maps.Equal(q.levels.spread, o.levels.spread) &&
		maps.EqualFunc(q.levels.taken, o.levels.taken, slices.Equal)
}

// sameDaemons reports whether daemons take the same everywhere.
func sameDaemons(a, b []*daemon) bool {
	return slices.EqualFunc(a, b, func(a, b *daemon) bool {
		return a.set == b.set && slices.Equal(a.requests, b.requests) && slices.Equal(a.constraint.ports, b.constraint.ports)
	})
}

func newAssortment(c *compiler, asked *questions) *assortment {
	return &assortment{
		tied: c.tied(), asked: asked,
		signatures: c.classes.signatures, names: c.table.names, daemons: c.daemons, pools: c.problem.NodePools, shops: c.problem.PoolCatalogs,
		stock: &c.offers.offers[0], cautious: c.cautious,
		templates: copyTemplates(c.templates), unchecked: c.unchecked, offered: slices.Clone(c.offered),
		rooms: c.rooms.clone(), columns: c.columns.clone(), options: slices.Clip(c.model.Options), bought: slices.Clip(c.bought),
		floors: slices.Clip(c.model.Floors), supply: slices.Clip(c.model.Supply), passes: slices.Clip(c.model.Passes),
	}
}

// take hands the assortment to a compiler.
func (a *assortment) take(c *compiler) {
	c.templates, c.unchecked, c.offered = copyTemplates(a.templates), a.unchecked, slices.Clone(a.offered)
	c.assorted = a
	c.rooms, c.columns, c.bought = a.rooms.clone(), a.columns.clone(), a.bought
	c.model.Options, c.model.Floors, c.model.Supply, c.model.Passes = a.options, a.floors, a.supply, a.passes
}

// learn adds to what is known of the assortment. Rooms and columns that were numbered
// meanwhile go with it.
func (c *compiler) learn(add func(*assortment)) {
	if c.assorted == nil {
		return
	}
	a := *c.assorted
	a.rooms, a.columns = c.rooms.clone(), c.columns.clone()
	add(&a)
	if c.memory.assortment == c.assorted {
		c.memory.assortment = &a
	}
	c.assorted = &a
}

// copyTemplates copies what templates remember for themselves.
func copyTemplates(templates []*template) []*template {
	out := make([]*template, len(templates))
	for i, t := range templates {
		own := *t
		out[i] = &own
	}
	return out
}

// clone returns a table that can grow without changing t.
func (t *roomTable) clone() *roomTable {
	lend(&t.shared)
	return &roomTable{rooms: slices.Clip(t.rooms), index: t.index, shared: true}
}

// clone returns a table that can grow without changing t.
func (t *rowTable) clone() *rowTable {
	lend(&t.shared)
	return &rowTable{rows: slices.Clip(t.rows), index: t.index, shared: true, scratch: slices.Clone(t.scratch)}
}

// lend notes that an index has to be copied before it grows. What is shared already may be
// shared by several at the same time.
func lend(shared *bool) {
	if !*shared {
		*shared = true
	}
}

// toGrow is an index that may grow.
func toGrow(index map[string]int, shared *bool) map[string]int {
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
