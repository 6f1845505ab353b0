package scheduling

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// ties plans where pods go that are tied to each other: first how many to each site,
// by the planner, then, as a problem of the engine in which every part is pinned to its
// site, onto which machines.
type ties struct {
	*unitBook
	present  [][]model.Presence // by bin
	planner  topology.Problem
	units    []int            // by planner class, the unit
	classOf  []int            // by unit, the planner class; -1 for units that nothing ties
	scale    int64            // how much wishes per host are relaxed; 0 drops them
	rows     []model.Bits     // by template, offers outside foreign zones; nil for all
	roaming  map[int]bool     // kins that no longer keep away from foreign zones
	away     map[int]bool     // whether kins can keep away; filled when asked
	stated   int              // counts what is changed of the problem beside costs and limits
	replayed *replayed        // see replay
	begun    *topology.Result // the plan of sites to begin with, if it was worked out before
}

// tied reports whether anything ties pods to each other or to what they would like.
func (c *compiler) tied() bool { return len(c.bonds.list) > 1 || len(c.keepers) > 0 }

// newTies works out what ties the pods of a compiled problem.
func newTies(c *compiler) *ties { return newTiesWithout(c, nil) }

// newTiesWithout is newTies with pods given up from the start: so many of some classes.
func newTiesWithout(c *compiler, gone map[int]int64) *ties { return newTiesFollowing(c, gone, false) }

// newTiesFollowing is newTiesWithout where pods that follow others may be piled on few.
func newTiesFollowing(c *compiler, gone map[int]int64, piled bool) *ties {
	l := c.land()
	t := &ties{unitBook: &unitBook{kinBook: &kinBook{ruleBook: newRuleBook(l), index: map[string]int{}}}}
	for _, class := range c.planned {
		t.enter(member{group: class.group, bonds: class.bonds, among: class.among, n: 1})
	}
	t.keep()
	t.present = t.count()
	t.roaming = map[int]bool{}
	t.gone, t.piled = gone, piled
	t.slacken(t.present)
	t.form()
	t.rows = t.stayAway()
	return t
}

// form makes units and states the planner's problem of them.
func (t *ties) form() {
	t.unitBook.units = nil
	t.build()
	for i := range t.unitBook.units {
		if u := &t.unitBook.units[i]; u.kin < 0 {
			u.kin = t.kin(t.members(u.portions), nil)
		}
	}
	t.plan()
}

// plan states the planner's problem.
func (t *ties) plan() {
	for _, k := range t.list {
		if k.part == nil {
			t.link(k)
		}
	}
	t.stated++
	t.begun = nil
	c := t.land.compiler
	priced := c.solver.Preferences == PreferencesPrice
	t.units, t.away = nil, map[int]bool{}
	t.planner = topology.Problem{Dims: c.model.Dims, Rules: t.planned(), Priced: priced}
	for i := range t.planner.Rules {
		t.planner.Rules[i].Weight = t.worth(t.planner.Rules[i].Weight)
	}
	t.planner.Bins = t.land.roomBook().roomsOf(c)
	t.classOf = make([]int, len(t.unitBook.units))
	t.planner.Classes = make([]topology.Class, 0, len(t.unitBook.units))
	for i := range t.unitBook.units {
		u := &t.unitBook.units[i]
		k := t.list[u.kin]
		t.classOf[i] = -1
		if k.plain || t.hopeless[u.portions[0].class] {
			continue
		}
		t.classOf[i] = len(t.units)
		t.units = append(t.units, i)
		request := t.request(u.portions)
		class := topology.Class{Count: u.count, Priority: t.priority(u), Request: request, Links: k.rules}
		costs := t.costs(k, request)
		class.Sites = make([]topology.Site, k.part.sites)
		for site := range class.Sites {
			class.Sites[site] = t.site(k, site, costs[site], request)
		}
		t.planner.Classes = append(t.planner.Classes, class)
	}
}

// worth is what the planner makes of the weight of a wish.
func (t *ties) worth(weight int64) int64 {
	s := t.land.solver
	if s.Preferences != PreferencesPrice || weight == 0 {
		return weight
	}
	// A wish that is worth nothing is still no rule that has to hold.
	return max(1, int64(float64(s.PreferencePrice)*float64(weight)/unsatisfiedWeight))
}

// site describes a site to the planner.
func (t *ties) site(k *kin, site int, cost int64, request []int64) topology.Site {
	if k.sites == nil {
		k.sites = t.sitesOf(k)
	}
	s := k.sites[site]
	s.Cost = cost
	fit, n := t.land.roomBook().fits(t.land.compiler, request), 0
	for w, word := range k.seats[site].bins {
		n += bits.OnesCount64(word & fit[w])
	}
	s.Bins = make([]int32, 0, n)
	for w, word := range k.seats[site].bins {
		for word &= fit[w]; word != 0; word &= word - 1 {
			s.Bins = append(s.Bins, int32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return s
}

// sitesOf describes the sites of a kin, as far as they are the same for all its units.
func (t *ties) sitesOf(k *kin) []topology.Site {
	out := make([]topology.Site, k.part.sites)
	for site := range out {
		s := &out[site]
		s.Limit = -1
		s.Domains, s.Counted = t.domainsAt(k.rules, k.part, site)
		for _, w := range k.wishes {
			if k.part.domain(t.land, w.axis, site) != 1 {
				s.Penalty += t.worth(w.weight)
			}
		}
	}
	return out
}

// domainsAt are, by link, the domain of a site and whether pods there are counted.
func (t *ties) domainsAt(links []topology.Link, p *partition, site int) (domains []int32, counted []bool) {
	domains, counted = make([]int32, len(links)), make([]bool, len(links))
	for i, link := range links {
		r := &t.rules[link.Rule]
		domains[i] = p.domain(t.land, r.axis, site)
		counted[i] = r.filter < 0 || p.domain(t.land, r.filter, site) == 1
	}
	return domains, counted
}

// split states the engine's problem for a plan of sites.
func (t *ties) split(r *topology.Result) *compiler {
	base := t.land.compiler
	e := *base
	e.sited = t.land
	e.note(t.snapshot())
	e.model = &model.Problem{Dims: base.model.Dims, BestEffort: base.model.BestEffort, Pools: base.model.Pools}
	e.parts, e.seats, e.bought = make([]part, 0, t.partCount(r)), nil, nil
	e.offered = append([]templateOffers(nil), base.offered...)
	seats := map[[2]int]int{}
	seatAt := func(kin, site int) int {
		at := [2]int{kin, site}
		n, ok := seats[at]
		if !ok {
			n = len(e.seats)
			seats[at] = n
			e.seats = append(e.seats, t.seat(kin, site))
		}
		return n
	}
	closed := -1
	nowhere := func() int {
		if closed < 0 {
			closed = len(e.seats)
			e.seats = append(e.seats, seat{bins: model.NewBits(len(base.nodes)), noNew: true})
		}
		return closed
	}
	for i := range t.unitBook.units {
		u := &t.unitBook.units[i]
		p := part{
			portions: u.portions, request: t.request(u.portions), priority: t.priority(u),
			crowds: t.memberships(t.list[u.kin]), unit: i,
		}
		if t.hopeless[u.portions[0].class] {
			p.seat, p.count = nowhere(), u.count
			e.parts = append(e.parts, p)
			continue
		}
		if t.classOf[i] < 0 {
			p.seat, p.count = seatAt(u.kin, 0), u.count
			e.parts = append(e.parts, p)
			continue
		}
		for site, n := range r.Counts[t.classOf[i]] {
			if n > 0 {
				p.seat, p.site, p.count, p.pinned = seatAt(u.kin, site), site, n, true
				e.parts = append(e.parts, p)
			}
		}
	}
	for _, k := range t.crowds {
		e.model.Crowds = append(e.model.Crowds, model.Crowd{Max: t.crowdMax(k)})
	}
	e.addParts()
	e.addOffers()
	if e.lodging = t.lodge(&e); e.lodging == nil {
		e.seatBins(base, t.present)
	} else if e.near = e.lodging.near; e.lodging.items == nil {
		e.seatNear(base, t.present)
	}
	return &e
}

// partCount is how many parts a plan of sites has at most.
func (t *ties) partCount(r *topology.Result) int {
	n := len(t.unitBook.units) - len(r.Counts)
	for _, counts := range r.Counts {
		for _, pods := range counts {
			n += int(min(pods, 1))
		}
	}
	return n
}

// snapshot is the state of the planning, for those who read it when it has gone on.
func (t *ties) snapshot() *ties {
	c := *t
	c.replayed = nil
	book := *t.unitBook
	book.units = slices.Clone(book.units)
	c.unitBook = &book
	c.planner.Rules = slices.Clone(t.planner.Rules)
	for i := range c.planner.Rules {
		c.planner.Rules[i].Domains = slices.Clone(c.planner.Rules[i].Domains)
	}
	return &c
}

// seat is the seat of a kin at a site.
func (t *ties) seat(n, site int) seat {
	k := t.list[n]
	s := k.seats[site]
	if k.plain {
		if !s.noNew && t.staysAway(n) {
			s.rows = t.rows
		}
		return s
	}
	if !s.noNew && k.part.sites > 1 {
		s.sold = k.market.sold(t.land, &s)
	}
	return s
}

// crowdMax is how many of a crowd may share a machine, relaxed as far as wishes are.
func (t *ties) crowdMax(k crowd) int64 {
	if k.weight == 0 || t.scale <= 1 {
		return k.max
	}
	return max(k.max, 1) * t.scale
}

// memberships are those of a kin in the crowds that count.
func (t *ties) memberships(k *kin) []model.Membership {
	if t.scale > 0 {
		return k.crowds
	}
	var out []model.Membership
	for _, m := range k.crowds {
		if t.crowds[m.Crowd].weight == 0 {
			out = append(out, m)
		}
	}
	return out
}

// wishesPerHost reports whether any wish is about single machines.
func (t *ties) wishesPerHost() bool {
	for i, k := range t.crowds {
		if k.weight > 0 && !t.idle[i] {
			return true
		}
	}
	return false
}

// seatBins states the bins of the base problem as the seats see them.
func (c *compiler) seatBins(base *compiler, present [][]model.Presence) {
	bins := make([]model.Bin, len(base.model.Bins))
	words := len(model.NewBits(len(c.seats)))
	rows := make([]uint64, 2*words*len(bins))
	for i := range bins {
		row := rows[2*words*i : 2*words*(i+1)]
		bins[i] = model.Bin{Room: base.model.Bins[i].Room, Admits: row[:words:words], Soft: row[words:], Present: present[i]}
	}
	opens := make([]model.Bits, len(c.seats))
	for i := range c.seats {
		open, wary := base.binsOf(&c.seats[i], nil, nil)
		opens[i] = open
		open.Each(func(at int) { bins[at].Admits.Set(i) })
		wary.Each(func(at int) { bins[at].Soft.Set(i) })
	}
	c.model.Bins, c.model.Rooms, c.model.Open = bins, base.model.Rooms, opens
}

// binsOf are the bins that will do for a seat, and those of them that its pods would rather
// avoid. Both are written into rows that are not used any more, if there are some.
func (c *compiler) binsOf(s *seat, open, wary model.Bits) (_, _ model.Bits) {
	if open == nil {
		open, wary = model.NewBits(len(c.nodes)), model.NewBits(len(c.nodes))
	}
	clear(open)
	clear(wary)
	switch {
	case s.bins != nil:
		open.Or(s.bins)
	case len(s.groups) > 0:
		open.Or(c.open[s.groups[0]])
	}
	for _, g := range s.groups {
		open.And(c.open[g])
		wary.Or(c.wary[g])
	}
	wary.And(open)
	return open, wary
}
