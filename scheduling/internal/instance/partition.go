package instance

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// locationCache is what has been worked out of a location index and holds for the next plan, too, whatever pods that
// is for: in what spots differ, which sites that makes of them, and what may be bought there. It
// lasts while the same is on sale for the same constraints, nodes stay the same, and limits leave
// as much. What is in it is not changed, but for what it is asked for and does not know yet.
type locationCache struct {
	nodes   []*corev1.Node
	placeOf []int32
	offered []offers.TemplateOffers
	pools   []model.Pool
	// What it knows.
	axes        []*axis
	named       map[string]*axis
	partitions  map[string]*Partition   // by axes
	markets     map[string]*Market      // by partition and groups
	offerGroups map[string]*offerGroups // by axes
	relisted    []*relisted             // the latest last
	spots       map[int][]int32         // by template: by offer, its spot, -1 for none
}

const (
	// mostAxes and mostSums bound how much a location cache remembers from plan to plan: ways in which
	// spots differ or are told apart, and what pods cost at sites.
	mostAxes, mostSums = 64, 1 << 14
	// mostRelisted is how many lists of what is on sale it remembers.
	mostRelisted = 8
)

// openLocationCache is the cache that is remembered, or an empty one.
func openLocationCache(l *LocationIndex) *locationCache {
	a := l.In.Memory.locationCache
	if l.In.assorted == nil || len(l.In.assorted.Offered) == 0 {
		return newLocationCache()
	}
	if a != nil && &a.offered[0] == &l.In.assorted.Offered[0] && !a.full() && slices.Equal(a.nodes, l.Country.nodes) &&
		slices.Equal(a.placeOf, l.PlaceOf) && slices.EqualFunc(a.pools, l.In.Limits, samePool) {
		return a
	}
	a = newLocationCache()
	a.nodes, a.placeOf, a.offered, a.pools = l.Country.nodes, l.PlaceOf, l.In.assorted.Offered, l.In.Limits
	l.In.Memory.locationCache = a
	return a
}

func newLocationCache() *locationCache {
	return &locationCache{named: map[string]*axis{}, partitions: map[string]*Partition{}, markets: map[string]*Market{}, offerGroups: map[string]*offerGroups{}, spots: map[int][]int32{}}
}

// samePool reports whether two pools have as much left.
func samePool(a, b model.Pool) bool { return slices.Equal(a.Limits, b.Limits) }

// full reports whether there is more in the location cache than is worth remembering.
func (a *locationCache) full() bool {
	sums := 0
	for _, m := range a.markets {
		sums += len(m.Costs) + len(m.Alone)
	}
	return len(a.axes) > mostAxes || len(a.named) > mostAxes || len(a.partitions) > mostAxes || sums > mostSums
}

// fork is a location cache that may learn more without changing a.
func (a *locationCache) fork() *locationCache {
	if a == nil {
		return nil
	}
	c := newLocationCache()
	c.nodes, c.placeOf, c.offered, c.pools = a.nodes, a.placeOf, a.offered, a.pools
	c.axes = slices.Clip(a.axes)
	for _, r := range a.relisted {
		own := *r
		own.kinds = maps.Clone(r.kinds)
		c.relisted = append(c.relisted, &own)
	}
	c.named, c.offerGroups, c.spots = maps.Clone(a.named), maps.Clone(a.offerGroups), maps.Clone(a.spots)
	for name, p := range a.partitions {
		own := *p
		own.rows = slices.Clone(p.rows)
		c.partitions[name] = &own
	}
	for name, m := range a.markets {
		c.markets[name] = newMarket(m.Rooms)
	}
	return c
}

// axis is the axis of a name, drawn unless it is known; one that says the same as another is that
// one.
func (a *locationCache) axis(name string, draw func() axis) *axis {
	if x, ok := a.named[name]; ok {
		return x
	}
	drawn := draw()
	drawn.Flat = !slices.ContainsFunc(drawn.At, func(v int32) bool { return v != drawn.At[0] })
	n := slices.IndexFunc(a.axes, func(x *axis) bool { return slices.Equal(drawn.At, x.At) && slices.Equal(drawn.Values, x.Values) })
	if n < 0 {
		n = len(a.axes)
		drawn.id = n
		a.axes = append(a.axes, &drawn)
	}
	a.named[name] = a.axes[n]
	return a.axes[n]
}

// axesName names some axes that are not the same everywhere, and lists them without the others in
// an order of their own.
func axesName(axes []*axis) (string, []*axis) {
	axes = slices.DeleteFunc(slices.Clone(axes), func(a *axis) bool { return a.Flat })
	slices.SortFunc(axes, func(a, b *axis) int { return a.id - b.id })
	axes = slices.Compact(axes)
	name := make([]byte, 0, 2*len(axes))
	for _, a := range axes {
		name = binary.AppendVarint(name, int64(a.id))
	}
	return string(name), axes
}

// relist is what offers are of use where offer groups have some columns.
func (a *locationCache) relist(s *offerGroups, columns []int32, work func() *relisted) *relisted {
	for _, r := range slices.Backward(a.relisted) {
		if r.offerGroups == s && slices.Equal(r.columns, columns) {
			return r
		}
	}
	r := work()
	a.relisted = append(a.relisted[max(0, len(a.relisted)+1-mostRelisted):], r)
	return r
}

// Partition puts spots that are alike on some axes into sites.
type Partition struct {
	id    int // in the location cache
	axes  []*axis
	At    []int32 // by spot
	Sites int
	value [][]int32 // by site and place in axes
	rows  [][]model.Bits
	bins  []model.Bits // by site; nil until asked
}

// Partition returns the sites that some axes tell apart.
func (l *LocationIndex) Partition(axes []int) *Partition {
	some := make([]*axis, len(axes))
	for i, n := range axes {
		some[i] = l.Axes[n]
	}
	name, some := axesName(some)
	if p, ok := l.LocationCache.partitions[name]; ok {
		return p
	}
	p := &Partition{id: len(l.LocationCache.partitions), axes: some, At: make([]int32, l.spots()), rows: make([][]model.Bits, len(l.In.Templates))}
	p.Sites = min(len(p.At), 1)
	for _, a := range some {
		p.tellApart(a)
	}
	p.value = make([][]int32, p.Sites)
	for spot, site := range p.At {
		if p.value[site] == nil {
			p.value[site] = make([]int32, len(some))
			for i, a := range some {
				p.value[site][i] = a.At[spot]
			}
		}
	}
	if p.Sites == 0 { // nothing is on sale and nothing runs
		p.Sites, p.value = 1, [][]int32{make([]int32, len(some))}
	}
	l.LocationCache.partitions[name] = p
	return p
}

// tellApart splits sites that differ on an axis, and numbers them in the order of spots.
func (p *Partition) tellApart(a *axis) {
	most := int32(0)
	for _, v := range a.At {
		most = max(most, v+1)
	}
	width := int(most) + 1
	table := make([]int32, min(p.Sites*width, len(p.At))) // by site and value, what becomes of it, from 1
	wide := map[int]int32{}                               // the same for those beyond
	p.Sites = 0
	for spot, v := range a.At {
		at := int(p.At[spot])*width + int(v) + 1
		site := int32(0)
		if at < len(table) {
			site = table[at]
		} else {
			site = wide[at]
		}
		if site == 0 {
			p.Sites++
			if site = int32(p.Sites); at < len(table) {
				table[at] = site
			} else {
				wide[at] = site
			}
		}
		p.At[spot] = site - 1
	}
}

// BinsAt are the bins at a site.
func (p *Partition) BinsAt(l *LocationIndex, site int) model.Bits {
	if p.bins == nil {
		p.bins = make([]model.Bits, p.Sites)
		for i := range p.bins {
			p.bins[i] = model.NewBits(len(l.In.Nodes))
		}
		for bin, n := range l.PlaceOf {
			p.bins[p.At[l.OnSale+int(n)]].Set(bin)
		}
	}
	return p.bins[site]
}

// Domain is the value of an axis at a site.
func (p *Partition) Domain(l *LocationIndex, axis, site int) int32 {
	a := l.Axes[axis]
	if i := slices.Index(p.axes, a); i >= 0 {
		return p.value[site][i]
	}
	if len(a.At) > 0 {
		return a.At[0] // flat
	}
	return -1
}

// row returns the offers of a template that are at a site.
func (p *Partition) row(l *LocationIndex, ti, site int) model.Bits {
	if p.rows[ti] == nil {
		p.rows[ti] = make([]model.Bits, p.Sites)
		for i, o := range l.In.Offered[ti].List {
			at := p.At[l.First[ti]+i]
			if p.rows[ti][at] == nil {
				p.rows[ti][at] = model.NewBits(len(l.In.Offers.Offers))
			}
			p.rows[ti][at].Set(o.Offer)
		}
	}
	return p.rows[ti][site]
}
