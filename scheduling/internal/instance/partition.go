package instance

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// locationCache keeps results about a location index from one plan to the next, because they do not depend on the pods:
// axes, partitions and the supply at their sites. It is valid while the offers of the groups, the nodes and the free
// amount of limits are equal. Entries are not changed, except for tables in them that are filled at the first use.
type locationCache struct {
	nodes   []*corev1.Node
	placeOf []int32
	offered []offers.TemplateOffers
	pools   []model.Pool
	// The results.
	axes        []*axis
	named       map[string]*axis
	partitions  map[string]*Partition   // by axes
	markets     map[string]*Market      // by number of partition and groups
	offerGroups map[string]*offerGroups // by axes
	usable      []*usableOffers         // the last one used is not moved; the latest built is last
	locations   map[int][]int32         // by template, then by offer: its location, -1 for none
}

const (
	// mostAxes bounds the axes and the partitions of a location cache, and mostSums the costs in its markets. A full
	// cache is dropped.
	mostAxes, mostSums = 64, 1 << 14
	// mostUsable is the number of usable offers that a location cache keeps.
	mostUsable = 8
)

// openLocationCache is the cache in memory if it is valid for the index, else an empty one.
func openLocationCache(l *LocationIndex) *locationCache {
	a := l.In.Facts.Memory.locationCache
	if l.In.cached == nil || len(l.In.cached.Offered) == 0 {
		return newLocationCache()
	}
	if a != nil && &a.offered[0] == &l.In.cached.Offered[0] && !a.full() && slices.Equal(a.nodes, l.Nodes.nodes) &&
		slices.Equal(a.placeOf, l.PlaceOf) && slices.EqualFunc(a.pools, l.In.Limits, samePool) {
		return a
	}
	a = newLocationCache()
	a.nodes, a.placeOf, a.offered, a.pools = l.Nodes.nodes, l.PlaceOf, l.In.cached.Offered, l.In.Limits
	l.In.Facts.Memory.locationCache = a
	return a
}

// newLocationCache is an empty cache.
func newLocationCache() *locationCache {
	return &locationCache{named: map[string]*axis{}, partitions: map[string]*Partition{}, markets: map[string]*Market{}, offerGroups: map[string]*offerGroups{}, locations: map[int][]int32{}}
}

// samePool reports whether the same amounts of two pools' limits are free.
func samePool(a, b model.Pool) bool { return slices.Equal(a.Limits, b.Limits) }

// full reports whether the cache is above a bound of its size.
func (a *locationCache) full() bool {
	sums := 0
	for _, m := range a.markets {
		sums += len(m.Costs) + len(m.Alone)
	}
	return len(a.axes) > mostAxes || len(a.named) > mostAxes || len(a.partitions) > mostAxes || sums > mostSums
}

// fork is a copy that may be filled without changing a. Costs of markets are not copied.
func (a *locationCache) fork() *locationCache {
	if a == nil {
		return nil
	}
	c := newLocationCache()
	c.nodes, c.placeOf, c.offered, c.pools = a.nodes, a.placeOf, a.offered, a.pools
	c.axes = slices.Clip(a.axes)
	for _, r := range a.usable {
		own := *r
		own.kinds = maps.Clone(r.kinds)
		c.usable = append(c.usable, &own)
	}
	c.named, c.offerGroups, c.locations = maps.Clone(a.named), maps.Clone(a.offerGroups), maps.Clone(a.locations)
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

// axis is the axis with a name. draw builds it at the first call. An axis equal to one with another name is that one, so
// that equal partitions are built once.
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

// axesName is a key for a set of axes, and the set sorted by number. Flat axes are left out, because they tell no locations
// apart.
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

// relist returns the usable offers for the columns of offer groups, from the cache or else from work.
func (a *locationCache) relist(s *offerGroups, columns []int32, work func() *usableOffers) *usableOffers {
	for _, r := range slices.Backward(a.usable) {
		if r.offerGroups == s && slices.Equal(r.columns, columns) {
			return r
		}
	}
	r := work()
	a.usable = append(a.usable[max(0, len(a.usable)+1-mostUsable):], r)
	return r
}

// Partition groups locations into sites: two locations are at one site if they have equal values on all axes of the partition.
type Partition struct {
	id    int // number in the location cache
	axes  []*axis
	At    []int32 // by location, its site
	Sites int
	value [][]int32 // by site and index in axes
	rows  [][]model.Bits
	bins  []model.Bits // by site; nil before the first use
}

// Partition returns the partition by some axes, by their numbers. It is remembered in the location cache.
func (l *LocationIndex) Partition(axes []int) *Partition {
	some := make([]*axis, len(axes))
	for i, n := range axes {
		some[i] = l.Axes[n]
	}
	name, some := axesName(some)
	if p, ok := l.LocationCache.partitions[name]; ok {
		return p
	}
	p := &Partition{id: len(l.LocationCache.partitions), axes: some, At: make([]int32, l.locations()), rows: make([][]model.Bits, len(l.In.Templates))}
	p.Sites = min(len(p.At), 1)
	for _, a := range some {
		p.tellApart(a)
	}
	p.value = make([][]int32, p.Sites)
	for location, site := range p.At {
		if p.value[site] == nil {
			p.value[site] = make([]int32, len(some))
			for i, a := range some {
				p.value[site][i] = a.At[location]
			}
		}
	}
	if p.Sites == 0 { // there are no locations
		p.Sites, p.value = 1, [][]int32{make([]int32, len(some))}
	}
	l.LocationCache.partitions[name] = p
	return p
}

// tellApart splits sites whose locations differ on an axis, and renumbers sites in the order of their first locations.
func (p *Partition) tellApart(a *axis) {
	most := int32(0)
	for _, v := range a.At {
		most = max(most, v+1)
	}
	width := int(most) + 1
	table := make([]int32, min(p.Sites*width, len(p.At))) // by old site and value, the new site, from 1
	wide := map[int]int32{}                               // the same for indices beyond the table
	p.Sites = 0
	for location, v := range a.At {
		at := int(p.At[location])*width + int(v) + 1
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
		p.At[location] = site - 1
	}
}

// BinsAt is the set of bins at a site.
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

// Domain is the value on an axis of all locations at a site; -1 is no value. The axis must be one of the partition or flat.
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

// row is the set of a template's offers at a site; nil for none.
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
