package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// partition puts spots that are alike on some axes into sites.
type partition struct {
	id    int // in the atlas
	axes  []*axis
	at    []int32 // by spot
	sites int
	value [][]int32 // by site and place in axes
	rows  [][]model.Bits
	bins  []model.Bits // by site; nil until asked
}

// partition returns the sites that some axes tell apart.
func (l *land) partition(axes []int) *partition {
	some := make([]*axis, len(axes))
	for i, n := range axes {
		some[i] = l.axes[n]
	}
	name, some := axesName(some)
	if p, ok := l.atlas.partitions[name]; ok {
		return p
	}
	p := &partition{id: len(l.atlas.partitions), axes: some, at: make([]int32, l.spots()), rows: make([][]model.Bits, len(l.templates))}
	p.sites = min(len(p.at), 1)
	for _, a := range some {
		p.tellApart(a)
	}
	p.value = make([][]int32, p.sites)
	for spot, site := range p.at {
		if p.value[site] == nil {
			p.value[site] = make([]int32, len(some))
			for i, a := range some {
				p.value[site][i] = a.at[spot]
			}
		}
	}
	if p.sites == 0 { // nothing is on sale and nothing runs
		p.sites, p.value = 1, [][]int32{make([]int32, len(some))}
	}
	l.atlas.partitions[name] = p
	return p
}

// tellApart splits sites that differ on an axis, and numbers them in the order of spots.
func (p *partition) tellApart(a *axis) {
	most := int32(0)
	for _, v := range a.at {
		most = max(most, v+1)
	}
	width := int(most) + 1
	table := make([]int32, min(p.sites*width, len(p.at))) // by site and value, what becomes of it, from 1
	wide := map[int]int32{}                               // the same for those beyond
	p.sites = 0
	for spot, v := range a.at {
		at := int(p.at[spot])*width + int(v) + 1
		site := int32(0)
		if at < len(table) {
			site = table[at]
		} else {
			site = wide[at]
		}
		if site == 0 {
			p.sites++
			if site = int32(p.sites); at < len(table) {
				table[at] = site
			} else {
				wide[at] = site
			}
		}
		p.at[spot] = site - 1
	}
}

// binsAt are the bins at a site.
func (p *partition) binsAt(l *land, site int) model.Bits {
	if p.bins == nil {
		p.bins = make([]model.Bits, p.sites)
		for i := range p.bins {
			p.bins[i] = model.NewBits(len(l.nodes))
		}
		for bin, n := range l.placeOf {
			p.bins[p.at[l.onSale+int(n)]].Set(bin)
		}
	}
	return p.bins[site]
}

// tells reports whether the sites differ on an axis.
func (p *partition) tells(a *axis) bool { return slices.Contains(p.axes, a) }

// domain is the value of an axis at a site.
func (p *partition) domain(l *land, axis, site int) int32 {
	a := l.axes[axis]
	if i := slices.Index(p.axes, a); i >= 0 {
		return p.value[site][i]
	}
	if len(a.at) > 0 {
		return a.at[0] // flat
	}
	return -1
}

// row returns the offers of a template that are at a site.
func (p *partition) row(l *land, ti, site int) model.Bits {
	if p.rows[ti] == nil {
		p.rows[ti] = make([]model.Bits, p.sites)
		for i, o := range l.offered[ti].list {
			at := p.at[l.first[ti]+i]
			if p.rows[ti][at] == nil {
				p.rows[ti][at] = model.NewBits(len(l.offers.offers))
			}
			p.rows[ti][at].Set(o.offer)
		}
	}
	return p.rows[ti][site]
}
