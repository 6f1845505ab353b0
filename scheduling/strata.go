package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// strata are the offers sorted by what plans of sites make of them: those of a template that
// admit the same groups, and are at the same site however sites are told apart, are taken or
// left together. A search among ties states its offers again and again; this way it looks at
// each stratum, and not at each offer. They are not changed once they are made.
type strata struct {
	sites   []int32    // of the offers' spots, told apart in all ways
	of      [][]int32  // by template and place in its list
	samples []purchase // by stratum, the first of it
	// firsts are, by template, the places of those that no other one of their stratum makes
	// pointless: what may be bought is drawn from them.
	firsts [][]int32
}

// strata are those of the land as it is now.
func (l *land) strata() *strata {
	if l.sorted != nil && l.sortedBy == len(l.axes) {
		return l.sorted
	}
	l.sortedBy = len(l.axes)
	name, axes := axesName(l.axes)
	if s, ok := l.atlas.strata[name]; ok {
		l.sorted = s
		return s
	}
	p := &partition{at: make([]int32, l.onSale), sites: min(l.onSale, 1)}
	for _, a := range axes {
		if sold := (axis{at: a.at[:l.onSale]}); l.onSale > 0 {
			p.tellApart(&sold)
		}
	}
	defer func() { l.atlas.strata[name] = l.sorted }()
	if l.assorted != nil && l.assorted.strata != nil && slices.Equal(l.assorted.strata.sites, p.at) {
		l.sorted = l.assorted.strata
		return l.sorted
	}
	l.sorted = l.newStrata(p.at)
	l.learn(func(a *assortment) { a.strata = l.sorted })
	return l.sorted
}

func (l *land) newStrata(sites []int32) *strata {
	s := &strata{sites: sites, of: make([][]int32, len(l.templates)), firsts: make([][]int32, len(l.templates))}
	supplies := newSupplies(l.compiler)
	for ti := range l.templates {
		list := l.offered[ti].list
		type stratum struct {
			column int
			site   int32
		}
		known := map[stratum]int32{}
		of := make([]int32, len(list))
		var places [][]int32 // by stratum of the template
		from := int32(len(s.samples))
		for at := range list {
			k := stratum{list[at].column, sites[l.first[ti]+at]}
			n, found := known[k]
			if !found {
				n = int32(len(s.samples))
				known[k] = n
				s.samples, places = append(s.samples, purchase{ti, list[at].offer}), append(places, nil)
			}
			of[at], places[n-from] = n, append(places[n-from], int32(at))
		}
		s.of[ti] = of
		for _, some := range places {
			s.firsts[ti] = append(s.firsts[ti], l.pointed(ti, some, supplies)...)
		}
		slices.Sort(s.firsts[ti])
	}
	return s
}

// pointed are those of some places of a template's list, of one stratum, that no other of them
// makes pointless.
func (l *land) pointed(ti int, places []int32, supplies *supplies) []int32 {
	v := l.templates[ti]
	choosy := len(floorKeys(v.set)) > 0 || l.solver.Flexibility.on()
	if choosy && l.cautious || !l.solver.byCost() {
		return places // they may stand for others that come after them
	}
	limited := limitedResources(v.pool)
	options := make([]model.Option, len(places))
	for i, at := range places {
		o := &l.offered[ti].list[at]
		offer := &l.offers.offers[o.offer]
		options[i] = model.Option{
			Room: l.rooms.rooms[o.room], Use: limitUse(limited, l.offers.shapes[offer.shape].capacity),
			Cost: offer.cost, Supply: supplies.number(offer.offering), Floor: -1,
		}
		if choosy {
			options[i].Floor = int32(capacityKind(offer))
		}
	}
	var out []int32
	for _, i := range model.Thin(options, nil) {
		out = append(out, places[i])
	}
	return out
}

// relist is listOffers of all templates for a part of a tied problem: rows are the offers that
// its seats may use, by template.
func (c *compiler) relist(rows [][]model.Bits) *relisted {
	l := c.sited
	s := l.strata()
	columns := make([]int32, len(s.samples))
	for n, x := range s.samples {
		columns[n] = -1
		scratch := c.columns.scratch
		clear(scratch)
		for seat, row := range rows[x.template] {
			if row != nil && row.Has(x.offer) {
				scratch.Set(seat)
			}
		}
		if scratch.Any() {
			columns[n] = int32(c.columns.number(scratch))
		}
	}
	r := l.atlas.relist(s, columns, func() *relisted { return l.newRelisted(s, columns) })
	for ti := range c.offered {
		c.offered[ti].list, c.offered[ti].crowded = r.lists[ti], nil
	}
	return r
}

// relisted is what offers are of use where the strata have some columns, the same for all parts
// that agree on these.
type relisted struct {
	strata        *strata
	columns       []int32 // by stratum, -1 for those of no use
	lists, firsts [][]templateOffer
	kinds         map[kindsKey][]templateOffer // filled when asked
}

// kindsKey is a template, and whether spot offers are told apart from others.
type kindsKey struct {
	template int
	apart    bool
}

// kindsOf are the first of each kind of a template's offers, worked out unless they are known.
func (r *relisted) kindsOf(ti int, apart bool, work func(apart bool) []templateOffer) []templateOffer {
	if r == nil {
		return work(apart)
	}
	out, known := r.kinds[kindsKey{ti, apart}]
	if !known {
		out = work(apart)
		r.kinds[kindsKey{ti, apart}] = out
	}
	return out
}

func (l *land) newRelisted(s *strata, columns []int32) *relisted {
	r := &relisted{strata: s, columns: columns, lists: make([][]templateOffer, len(l.templates)), firsts: make([][]templateOffer, len(l.templates)), kinds: map[kindsKey][]templateOffer{}}
	for ti := range l.templates {
		from, of := l.offered[ti].list, s.of[ti]
		with := func(at int) (templateOffer, bool) {
			column := columns[of[at]]
			return templateOffer{offer: from[at].offer, room: from[at].room, column: int(column)}, column >= 0
		}
		list := make([]templateOffer, 0, len(from))
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
