package compile

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
	// What was worked out.
	templates []*offers.Template
	unchecked map[string]bool
	offered   []offers.TemplateOffers
	rooms     *offers.RoomTable
	columns   *offers.RowTable
	options   []model.Option
	bought    []offers.Purchase
	floors    []model.Floor
	supply    []int64
	passes    []model.Pass
	// What was asked for since; nil until then.
	offerGroups *offerGroups
	Buyable     []offers.TemplateOffer
	Zonal       *ZonalOffers
	Zones       []string // in which anything is on sale, sorted; nil until asked
	Notes
}

// ZonalOffers are the offers that a bound looks at zone by zone.
type ZonalOffers struct {
	Zones []string
	Kept  [][]offers.TemplateOffer
	// plain are those that no cheaper one makes pointless, with the room that pods find.
	Plain [][]offers.TemplateOffer
	// of is, by offer, its zone, -1 where nobody may buy.
	Of []int
}

// buildAssortment works out what may be bought, unless it is known. Where pods have
// volumes, it depends on more than is worth comparing.
func (c *Compiler) buildAssortment() {
	known := c.Memory.assortment
	plain := c.Classes.Volumes == nil && len(c.Offers.Offers) > 0
	asked := c.questions()
	if plain && known.suits(c, asked) {
		known.take(c)
		return
	}
	c.buildTemplates(asked)
	c.buildOptions()
	if plain {
		c.Assorted = newAssortment(c, asked)
		c.Memory.assortment = c.Assorted
	}
}

// suits reports whether the assortment is what would be worked out.
func (a *Assortment) suits(c *Compiler, asked *offers.Questions) bool {
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

func newAssortment(c *Compiler, asked *offers.Questions) *Assortment {
	return &Assortment{
		tied: c.Tied(), asked: asked,
		signatures: c.Classes.Signatures, names: c.Table.Names, daemons: c.Daemons, pools: c.Problem.NodePools, shops: c.Problem.PoolCatalogs,
		stock: &c.Offers.Offers[0], cautious: c.Cautious,
		templates: copyTemplates(c.Templates), unchecked: c.unchecked, offered: slices.Clone(c.Offered),
		rooms: clone(c.Rooms), columns: cloneRowTable(c.Columns), options: slices.Clip(c.Model.Options), bought: slices.Clip(c.Bought),
		floors: slices.Clip(c.Model.Floors), supply: slices.Clip(c.Model.Supply), passes: slices.Clip(c.Model.Passes),
	}
}

// take hands the assortment to a compiler.
func (a *Assortment) take(c *Compiler) {
	c.Templates, c.unchecked, c.Offered = copyTemplates(a.templates), a.unchecked, slices.Clone(a.offered)
	c.Assorted = a
	c.Rooms, c.Columns, c.Bought = clone(a.rooms), cloneRowTable(a.columns), a.bought
	c.Model.Options, c.Model.Floors, c.Model.Supply, c.Model.Passes = a.options, a.floors, a.supply, a.passes
}

// Learn adds to what is known of the assortment. Rooms and columns that were numbered
// meanwhile go with it.
func (c *Compiler) Learn(add func(*Assortment)) {
	if c.Assorted == nil {
		return
	}
	a := *c.Assorted
	a.rooms, a.columns = clone(c.Rooms), cloneRowTable(c.Columns)
	add(&a)
	if c.Memory.assortment == c.Assorted {
		c.Memory.assortment = &a
	}
	c.Assorted = &a
}

// copyTemplates copies what templates remember for themselves.
func copyTemplates(templates []*offers.Template) []*offers.Template {
	out := make([]*offers.Template, len(templates))
	for i, t := range templates {
		own := *t
		out[i] = &own
	}
	return out
}

// clone returns a table that can grow without changing t.
func clone(t *offers.RoomTable) *offers.RoomTable {
	lend(&t.Shared)
	return &offers.RoomTable{Rooms: slices.Clip(t.Rooms), Index: t.Index, Shared: true}
}

// cloneRowTable returns a table that can grow without changing t.
func cloneRowTable(t *offers.RowTable) *offers.RowTable {
	lend(&t.Shared)
	return &offers.RowTable{Rows: slices.Clip(t.Rows), Index: t.Index, Shared: true, Scratch: slices.Clone(t.Scratch)}
}

// lend notes that an index has to be copied before it grows. What is shared already may be
// shared by several at the same time.
func lend(shared *bool) {
	if !*shared {
		*shared = true
	}
}
