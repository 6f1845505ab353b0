package scheduling

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// memory is what compilers keep for those that come after them. Nothing of it shows in
// a plan: whatever is there stands for what would be worked out anew. What it holds is
// replaced, never changed, but for the columns and rows of its stock, which only grow.
type memory struct {
	stock *stock
	// roll is shared among forks: each finds there what the last one that planned has
	// worked out for nodes that both have, and leaves what it works out itself.
	roll       *atomic.Pointer[roll]
	assortment *assortment
	guests     *guestBook
	guestLists *guestLists
	country    *country
	kept       *kept
	bench      *bench
	nearest    *nearest
	atlas      *atlas
}

func newMemory() *memory { return &memory{roll: &atomic.Pointer[roll]{}} }

// fork returns a memory of its own that remembers the same.
func (m *memory) fork() *memory {
	c := *m
	if m.stock != nil {
		s := *m.stock
		s.columns, s.rows, s.defined = maps.Clone(s.columns), maps.Clone(s.rows), maps.Clone(s.defined)
		c.stock = &s
	}
	c.country, c.nearest, c.guestLists = m.country.fork(), m.nearest.fork(), m.guestLists.fork()
	c.atlas = m.atlas.fork()
	return &c
}

// part lets nodes be remembered apart from forks, because they look different from now on.
func (m *memory) part() {
	box := &atomic.Pointer[roll]{}
	box.Store(m.roll.Load())
	m.roll = box
}

// stock is the offers of some catalogs in rank order, all that does not depend on pods
// and on what is unavailable for a while.
type stock struct {
	catalogs []*instancetypes.Catalog
	offerTable
	lists []shapeLists // by shape
	// sized is the shapes' room by the resources that were asked for last.
	sized  []shape
	names  []corev1.ResourceName
	ranked []int32 // see offerTable.ranks
}

// shapeLists are what a shape is made of.
type shapeLists struct{ allocatable, capacity corev1.ResourceList }

// mostRows is how many rows of offers are remembered.
const mostRows = 4_096

// catalogsOf lists the catalogs of a problem, in an order that the order of pools does
// not show in.
func catalogsOf(p *Problem) []*instancetypes.Catalog {
	var out []*instancetypes.Catalog
	add := func(c *instancetypes.Catalog) {
		if c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	add(p.Catalog)
	for _, name := range slices.Sorted(maps.Keys(p.PoolCatalogs)) {
		add(p.PoolCatalogs[name])
	}
	return out
}

// restock begins to read the catalogs of a problem, unless they are those that were read
// last. Whoever needs the stock has to wait.
func (m *memory) restock(p *Problem, s *Policy) (wait func()) {
	catalogs := catalogsOf(p)
	if m.stock != nil && slices.Equal(m.stock.catalogs, catalogs) {
		return func() {}
	}
	var reader sync.WaitGroup
	reader.Go(func() { m.stock = newStock(s, catalogs) })
	return reader.Wait
}

// offers returns the offers of a problem for a solver, which is always the same one.
func (m *memory) offers(p *Problem, s *Policy, table *resourceTable, volumes *volumeIndex) *offerTable {
	m.restock(p, s)()
	k := m.stock
	if len(k.rows) > mostRows {
		clear(k.rows)
	}
	t := k.offerTable
	t.volumes = volumes
	t.offers = available(t.offers, p)
	if volumes == nil && k.sized != nil && slices.Equal(k.names, table.names) {
		t.shapes, t.ranks = k.sized, &k.ranked
		return &t
	}
	for _, x := range k.lists {
		t.addShape(table, x.allocatable, x.capacity)
	}
	if volumes == nil {
		k.sized, k.names, k.ranked = t.shapes, slices.Clone(table.names), nil
		t.ranks = &k.ranked
	}
	return &t
}

// available marks the offers that cannot be had for a while.
func available(offers []offer, p *Problem) []offer {
	byType := map[string][]offerings.Key{}
	for k, until := range p.Unavailable.All() {
		if p.Now.Before(until) {
			byType[k.InstanceType] = append(byType[k.InstanceType], k)
		}
	}
	if len(byType) == 0 {
		return offers
	}
	out := slices.Clone(offers)
	for i := range out {
		x := &out[i]
		if x.launchable && (len(byType[""]) > 0 || len(byType[x.instanceType.Name]) > 0) {
			x.launchable = !p.Unavailable.Has(x.offering.Key(x.instanceType.Name), p.Now)
		}
	}
	return out
}
