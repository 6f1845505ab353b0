package compile

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

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
	p := &Partition{id: len(l.LocationCache.partitions), axes: some, At: make([]int32, l.spots()), rows: make([][]model.Bits, len(l.Templates))}
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

// binsAt are the bins at a site.
func (p *Partition) binsAt(l *LocationIndex, site int) model.Bits {
	if p.bins == nil {
		p.bins = make([]model.Bits, p.Sites)
		for i := range p.bins {
			p.bins[i] = model.NewBits(len(l.Nodes))
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
		for i, o := range l.Offered[ti].List {
			at := p.At[l.First[ti]+i]
			if p.rows[ti][at] == nil {
				p.rows[ti][at] = model.NewBits(len(l.Offers.Offers))
			}
			p.rows[ti][at].Set(o.Offer)
		}
	}
	return p.rows[ti][site]
}
