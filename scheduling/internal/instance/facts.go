package instance

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Facts is what is known of a problem before anything is decided.
type Facts struct {
	Problem  *scheduling.Problem
	Solver   *scheduling.Policy
	Readings *podspec.Readings
	Cluster  *hosts.Cluster
	// spaces counts the pods that run by namespace; where it is nil, they are in problem.
	Spaces map[string]int
	Memory *Memory
	Choice *podspec.VolumeChoice
	// claims are what has been read of volumes, by choice.
	claims map[*podspec.VolumeChoice]*podspec.VolumeIndex
	// terse leaves out reasons and bounds.
	Terse bool
	// together proposes what misses a place by the fewest things besides single changes.
	Together bool
	// judged is set where plans of several efforts are compared.
	Judged bool
	// Brief ends with the first plan that is found, see [pack.Params].
	Brief bool
	// Observer is told how a plan goes; it may be nil.
	Observer scheduling.Observer
}

// Volumes reads the claims of the pods to be placed under a choice, once for each.
func (f *Facts) Volumes(choice *podspec.VolumeChoice) *podspec.VolumeIndex {
	x, ok := f.claims[choice]
	if !ok {
		x = podspec.NewVolumeIndex(f.Problem, f.Cluster.Claimants(), choice)
		if f.claims == nil {
			f.claims = map[*podspec.VolumeChoice]*podspec.VolumeIndex{}
		}
		f.claims[choice] = x
	}
	return x
}

// Under is the same problem with another choice about volumes. Nothing that was worked out under the choice of f is taken
// over, because offers and nodes admit other pods.
func (f *Facts) Under(choice *podspec.VolumeChoice) *Facts {
	out := *f
	out.Choice, out.Memory = choice, NewMemory()
	return &out
}

// NewFacts reads a problem for a solver, or says what is wrong with it.
func NewFacts(p *scheduling.Problem, s *scheduling.Policy) (*Facts, error) {
	r, err := validate.Read(p, s)
	if err != nil {
		return nil, err
	}
	return &Facts{Problem: p, Solver: s, Readings: r, Cluster: hosts.NewCluster(p), Memory: NewMemory()}, nil
}

// Memory is what instances keep for those that come after them. Nothing of it shows in
// a plan: whatever is there stands for what would be worked out anew. What it holds is
// replaced, never changed, but for the columns and rows of its stock, which only grow.
type Memory struct {
	stock *offers.RankedOffers
	// nodeTable is shared among forks: each finds there the rows of nodes that the last fork to plan has worked out, and
	// leaves its own.
	nodeTable *atomic.Pointer[nodeTable]
	// thinned is shared among forks as well.
	thinned           *thinned
	assortment        *Assortment
	selectorIndex     *selectorIndex
	nodeLocations     *nodeLocations
	nodeCompatibility *nodeCompatibility
	locationCache     *locationCache
}

// NewMemory returns a memory of nothing.
func NewMemory() *Memory {
	return &Memory{nodeTable: &atomic.Pointer[nodeTable]{}, thinned: &thinned{}}
}

// Fork returns a memory of its own that remembers the same.
func (m *Memory) Fork() *Memory {
	c := *m
	if m.stock != nil {
		s := *m.stock
		s.Columns, s.Rows, s.Defined = maps.Clone(s.Columns), maps.Clone(s.Rows), maps.Clone(s.Defined)
		c.stock = &s
	}
	c.nodeLocations, c.locationCache = m.nodeLocations.fork(), m.locationCache.fork()
	return &c
}

// OffersOnly returns a memory that shares what is remembered of offers, for a solver that differs in preferences.
func (m *Memory) OffersOnly() *Memory {
	out := NewMemory()
	out.stock, out.thinned = m.stock, m.thinned
	return out
}

// Part lets nodes be remembered apart from forks, because they look different from now on.
func (m *Memory) Part() {
	box := &atomic.Pointer[nodeTable]{}
	box.Store(m.nodeTable.Load())
	m.nodeTable = box
}

// mostRows is how many rows of offers are remembered.
const mostRows = 4_096

// CatalogsOf lists the catalogs of a problem, in an order that the order of pools does
// not show in.
func CatalogsOf(p *scheduling.Problem) []*instancetypes.Catalog {
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
func (m *Memory) restock(p *scheduling.Problem, s *scheduling.Policy) (wait func()) {
	catalogs := CatalogsOf(p)
	if m.stock != nil && slices.Equal(m.stock.Catalogs, catalogs) {
		return func() {}
	}
	var reader sync.WaitGroup
	reader.Go(func() { m.stock = offers.NewRankedOffers(s, catalogs) })
	return reader.Wait
}

// offers returns the offers of a problem for a solver, which is always the same one.
func (m *Memory) offers(p *scheduling.Problem, s *scheduling.Policy, table *podspec.ResourceTable, volumes *podspec.VolumeIndex) *offers.OfferTable {
	m.restock(p, s)()
	k := m.stock
	if len(k.Rows) > mostRows {
		clear(k.Rows)
	}
	t := k.OfferTable
	t.Volumes = volumes
	t.Offers = available(t.Offers, p)
	if volumes == nil && k.Sized != nil && slices.Equal(k.Names, table.Names) {
		t.Shapes, t.Ranks = k.Sized, &k.Ranked
		return &t
	}
	for _, x := range k.Lists {
		t.AddShape(table, x.Allocatable, x.Capacity)
	}
	if volumes == nil {
		k.Sized, k.Names, k.Ranked = t.Shapes, slices.Clone(table.Names), nil
		t.Ranks = &k.Ranked
	}
	return &t
}

// available marks the offers that cannot be had for a while.
func available(all []offers.Offer, p *scheduling.Problem) []offers.Offer {
	byType := map[string][]offerings.Key{}
	for k, until := range p.Unavailable.All() {
		if p.Now.Before(until) {
			byType[k.InstanceType] = append(byType[k.InstanceType], k)
		}
	}
	if len(byType) == 0 {
		return all
	}
	out := slices.Clone(all)
	for i := range out {
		x := &out[i]
		if x.Launchable && (len(byType[""]) > 0 || len(byType[x.InstanceType.Name]) > 0) {
			x.Launchable = !p.Unavailable.Has(x.Offering.Key(x.InstanceType.Name), p.Now)
		}
	}
	return out
}
