package instance

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Facts is a validated problem and policy, with the state of the cluster read from it, before anything is decided.
// Several plans may be made of the same facts, e.g. one for each choice of volumes, see [Facts.Under].
type Facts struct {
	Problem *scheduling.Problem
	// Division says how SpotPolicies divide the pods of Problem; nil without policies.
	Division *spotshare.Division
	Solver   *scheduling.Policy
	Readings *podspec.Readings
	Cluster  *hosts.Cluster
	// Spaces is the number of running pods by namespace. Where it is nil, they are counted from Problem.
	Spaces map[string]int
	Memory *Memory
	Choice *podspec.VolumeChoice
	// claims are the volume indexes that [Facts.Volumes] has built, by choice.
	claims map[*podspec.VolumeChoice]*podspec.VolumeIndex
	// Terse plans carry no reasons for unplaced pods and no lower bound.
	Terse bool
	// Together adds to the suggestions for an unplaced pod the smallest set of changes that together admit it, besides
	// single changes.
	Together bool
	// Brief makes the search end with the first plan that it finds, see [pack.Params].
	Brief bool
	// Observer is told of the progress of a plan. It may be nil.
	Observer scheduling.Observer
}

// Volumes is the index of the claims of the pods to be placed under a choice. It is built once for each choice.
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

// Under is the same problem with another choice of volumes. Its memory is empty, because under another choice offers and
// nodes admit other pods.
func (f *Facts) Under(choice *podspec.VolumeChoice) *Facts {
	out := *f
	out.Choice, out.Memory = choice, NewMemory()
	return &out
}

// Keep is the same problem with only those pending pods that keep selects.
func (f *Facts) Keep(keep func(*corev1.Pod) bool) *Facts {
	p := *f.Problem
	p.Pods = make([]*corev1.Pod, 0, len(p.Pods))
	readings := &podspec.Readings{Table: f.Readings.Table, PodSpecKeys: make([]*podspec.SpecKey, len(f.Readings.PodSpecKeys))}
	for i, pod := range f.Problem.Pods {
		if !keep(pod) {
			continue
		}
		key := f.Readings.Of[i]
		p.Pods, readings.Of = append(p.Pods, pod), append(readings.Of, key)
		if key >= 0 {
			readings.PodSpecKeys[key] = f.Readings.PodSpecKeys[key]
		}
	}
	out := *f
	out.Problem, out.Readings, out.claims = &p, readings, nil
	return &out
}

// NewFacts reads a problem under a policy, with the pods as its SpotPolicies divide them. The error of an invalid problem
// names object, field and value.
func NewFacts(p *scheduling.Problem, s *scheduling.Policy) (*Facts, error) {
	r, err := validate.Read(p, s)
	var division *spotshare.Division
	if err == nil && len(p.SpotPolicies) > 0 {
		division = spotshare.Divide(p)
		p = division.Problem
		r, err = validate.Read(p, s)
	}
	if err != nil {
		return nil, err
	}
	return &Facts{Division: division, Problem: p, Solver: s, Readings: r, Cluster: hosts.NewCluster(p), Memory: NewMemory()}, nil
}

// Memory keeps tables from one plan to the next, because most of a cluster stays as it is. A table is used only where
// its inputs are equal to those of the new plan, so no plan depends on its contents. Tables are replaced, never changed;
// only columns and rows of stock grow.
type Memory struct {
	stock *offers.RankedOffers
	// nodeTable is shared between forks: each fork takes the rows of unchanged nodes from the fork that planned last,
	// and stores its own.
	nodeTable *atomic.Pointer[nodeTable]
	// pruned is shared between forks, too.
	pruned            *prunedOffers
	offerCache        *OfferCache
	selectorIndex     *selectorIndex
	nodeLocations     *nodeLocations
	nodeCompatibility *nodeCompatibility
	locationCache     *locationCache
}

// NewMemory returns an empty memory.
func NewMemory() *Memory {
	return &Memory{nodeTable: &atomic.Pointer[nodeTable]{}, pruned: &prunedOffers{}}
}

// Fork returns a copy with the same tables. A plan with the copy does not change m, except for the tables that forks
// share.
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

// OffersOnly returns a memory with only the tables of offers of m, for a policy that differs in preferences.
func (m *Memory) OffersOnly() *Memory {
	out := NewMemory()
	out.stock, out.pruned = m.stock, m.pruned
	return out
}

// Part gives m a node table of its own, because its nodes differ from those of its forks from now on.
func (m *Memory) Part() {
	box := &atomic.Pointer[nodeTable]{}
	box.Store(m.nodeTable.Load())
	m.nodeTable = box
}

// mostRows is the number of remembered rows of offers above which they are dropped.
const mostRows = 4_096

// CatalogsOf lists the catalogs of a problem once each: the common one, then those of NodePools in the order of the
// NodePools' names. The order of the NodePools in the problem therefore does not matter.
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

// restock starts to rank the offers of a problem's catalogs in a goroutine, unless the catalogs are the ones that were
// ranked last. The caller must call wait before it reads the stock.
func (m *Memory) restock(p *scheduling.Problem, s *scheduling.Policy) (wait func()) {
	catalogs := CatalogsOf(p)
	if m.stock != nil && slices.Equal(m.stock.Catalogs, catalogs) {
		return func() {}
	}
	var reader sync.WaitGroup
	reader.Go(func() { m.stock = offers.NewRankedOffers(s, catalogs) })
	return reader.Wait
}

// offers returns the offers of a problem with shapes numbered by table. The policy must be the same at every call,
// because it ranks the offers. Shapes are remembered only without volumes, because attach limits of volumes are part of
// a shape.
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

// available returns the offers with Launchable cleared for offerings that the problem lists as unavailable at its time.
// all is not changed.
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
