package scheduling

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// member is what decides where pods of one class may be: their group, their bonds,
// and the targets that they are among.
type member struct {
	group, bonds, among int
	n                   int64 // pods in one unit
}

// kin is what ties and node constraints make of units: those with the same kin may be
// in the same places.
type kin struct {
	members []member
	// hosts, where it is set, are the only bins that will do, and nothing is bought.
	hosts model.Bits
	rules []topology.Link // by rule, ascending
	// crowds are the memberships of one unit.
	crowds []model.Membership
	wishes []wish
	part   *partition
	bins   model.Bits      // that admit the kin
	seats  []seat          // by site
	sites  []topology.Site // what the planner is told of them, costs and bins aside; nil until then
	market *market
	plain  bool // no rule and no wish concerns it
}

// wish is a preferred term of node affinity: what it weighs and where it is granted.
type wish struct {
	weight int64
	axis   int
}

// seat is a site for a kin: what the engine takes for a group.
type seat struct {
	groups []int      // whose node constraints all hold
	part   *partition // nil for everywhere
	site   int
	bins   model.Bits   // that will do; nil for all that admit the groups
	reach  int          // number of these bins, the same for the same bins, from 1
	rows   []model.Bits // by template, offers that will do; nil for all
	sold   []model.Bits // by template, those that suit the groups, too; nil where that is not known
	noNew  bool
}

// kinBook numbers the kins.
type kinBook struct {
	*ruleBook
	list  []*kin
	index map[string]int
}

// kin returns the number of the kin with the given members.
func (b *kinBook) kin(members []member, hosts model.Bits) int {
	var name []byte
	for _, m := range members {
		for _, v := range []int64{int64(m.group), int64(m.bonds), int64(m.among), m.n} {
			name = binary.AppendVarint(name, v)
		}
	}
	if hosts != nil {
		name = append(name, ';')
	}
	name = hosts.Append(name)
	if n, ok := b.index[string(name)]; ok {
		return n
	}
	n := len(b.list)
	b.index[string(name)] = n
	b.list = append(b.list, &kin{members: members, hosts: hosts})
	return n
}

// enter numbers the rules and crowds that a member is held to.
func (b *kinBook) enter(m member) {
	bonds := b.land.bonds.list[m.bonds]
	for _, t := range bonds.ties {
		switch {
		case !t.perHost():
			b.rule(t, m.group, bonds)
		case t.kind != affinityTie:
			b.crowd(t, b.land.bonds.targets.has(m.among, t.target))
		}
	}
}

// link works out which rules, crowds and wishes concern a kin.
func (b *kinBook) link(k *kin) {
	rules := map[int]*topology.Link{}
	crowds := map[int]*model.Membership{}
	rule := func(n int) *topology.Link {
		if rules[n] == nil {
			rules[n] = &topology.Link{Rule: int32(n)}
		}
		return rules[n]
	}
	crowd := func(n int) *model.Membership {
		if crowds[n] == nil {
			crowds[n] = &model.Membership{Crowd: int32(n)}
		}
		return crowds[n]
	}
	for _, m := range k.members {
		bonds := b.land.bonds.list[m.bonds]
		for _, t := range bonds.ties {
			switch {
			case !t.perHost():
				rule(b.rule(t, m.group, bonds)).Holds = true
			case t.kind != affinityTie:
				crowd(b.crowd(t, b.land.bonds.targets.has(m.among, t.target))).Holds = true
			}
		}
		for _, target := range b.land.bonds.targets.sets[m.among] {
			for _, n := range b.byTarget[int(target)] {
				rule(n).Counts += m.n
			}
			for _, n := range b.crowdsBy[int(target)] {
				crowd(n).Weight += m.n
			}
		}
		for i := range bonds.wishes {
			w := &bonds.wishes[i]
			k.wishes = append(k.wishes, wish{weight: w.weight, axis: b.land.wishAxis(&w.term)})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(rules)) {
		if b.vacuous(n) {
			continue
		}
		b.within(k, rules[n])
		k.rules = append(k.rules, *rules[n])
	}
	for _, n := range slices.Sorted(maps.Keys(crowds)) {
		if b.idle[n] {
			continue
		}
		k.crowds = append(k.crowds, *crowds[n])
	}
	k.wishes = slices.DeleteFunc(k.wishes, func(w wish) bool { return b.land.axes[w.axis].flat })
	k.plain = len(k.rules) == 0 && len(k.wishes) == 0
	var axes []int
	for _, link := range k.rules {
		axes = append(axes, b.rules[link.Rule].axis)
		if f := b.rules[link.Rule].filter; f >= 0 {
			axes = append(axes, f)
		}
	}
	for _, w := range k.wishes {
		axes = append(axes, w.axis)
	}
	k.part = b.land.partition(axes)
	k.bins = b.binsFor(k)
	k.seats = make([]seat, k.part.sites)
	var groups []int
	for _, m := range k.members {
		groups = append(groups, m.group)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if k.hosts == nil {
		k.market = b.marketOf(k, groups)
	}
	for site := range k.seats {
		bins := b.binsAt(k, site)
		k.seats[site] = seat{groups: groups, part: k.part, site: site, bins: bins, reach: b.land.reach(bins), noNew: k.hosts != nil}
	}
}

// within settles what pods of one unit are to each other for an affinity: a pod that
// leads the unit is there before those who follow it and satisfies them; one that
// follows is not, and no help to those it waits for.
func (b *kinBook) within(k *kin, link *topology.Link) {
	r := &b.rules[link.Rule]
	if r.kind != affinityTie || !link.Holds || link.Counts == 0 || len(k.members) == 1 {
		return
	}
	targets := b.land.bonds.targets
	led, selfless := false, false
	for _, m := range k.members {
		holds, follows := false, false
		for _, t := range b.land.bonds.list[m.bonds].ties {
			if t.kind == affinityTie && t.weight == 0 {
				follows = follows || t.perHost()
				holds = holds || !t.perHost() && t.target == r.target && t.key == r.key
			}
		}
		counted := targets.has(m.among, r.target)
		led = led || counted && !follows && !holds
		selfless = selfless || holds && !counted
	}
	switch {
	case led:
		link.Holds = false
	case selfless:
		link.Counts = 0
	}
}

// binsFor are the bins whose nodes admit a kin, the other pods on them considered.
func (b *kinBook) binsFor(k *kin) model.Bits {
	l := b.land
	bins := model.NewBits(len(l.nodes))
	needsHost := false
	for _, m := range k.members {
		for _, t := range l.bonds.list[m.bonds].ties {
			needsHost = needsHost || t.perHost() && t.weight == 0 && t.kind != antiTie && !t.share
		}
	}
	for i, m := range k.members {
		if i == 0 {
			bins.Or(l.open[m.group])
		} else {
			bins.And(l.open[m.group])
		}
		for _, target := range l.bonds.targets.sets[m.among] {
			if off := b.keptOff[int(target)]; off != nil {
				bins.AndNot(off)
			}
		}
	}
	if k.hosts != nil {
		bins.And(k.hosts)
	}
	if needsHost {
		bins.And(l.binsWith(corev1.LabelHostname))
	}
	return bins
}

// binsAt are the bins of a kin that are at a site.
func (b *kinBook) binsAt(k *kin, site int) model.Bits {
	if k.part.sites == 1 {
		return k.bins
	}
	out := k.part.binsAt(b.land, site).Clone()
	out.And(k.bins)
	return out
}

// admits reports whether all groups of a kin are in a column of the base problem.
func (k *kin) admits(column model.Bits) bool {
	for _, m := range k.members {
		if !column.Has(m.group) {
			return false
		}
	}
	return true
}

// costs returns, for each site, what one unit with a request costs on the machine on
// sale there that suits it best, or that none does. Kins with the same constraints and
// the same sites share the answers.
func (b *kinBook) costs(k *kin, request []int64) []int64 {
	if k.hosts != nil {
		return slices.Repeat([]int64{topology.Nowhere}, k.part.sites)
	}
	m := k.market
	name := make([]byte, 0, 3*len(request))
	for _, q := range request {
		name = binary.AppendVarint(name, q)
	}
	if out, ok := m.costs[string(name)]; ok {
		return out
	}
	out := slices.Repeat([]int64{topology.Nowhere}, k.part.sites)
	for _, r := range m.rooms {
		room := b.land.compiler.rooms.rooms[r.room]
		if !model.Fits(room, request) {
			continue
		}
		share := 0.0
		for d, q := range request {
			if q > 0 {
				share = max(share, float64(q)/float64(room[d]))
			}
		}
		if cost := int64(share*float64(r.cost)) + int64(r.rank)*rankCost; out[r.site] == topology.Nowhere || cost < out[r.site] {
			out[r.site] = cost
		}
	}
	m.costs[string(name)] = out
	return out
}

// market is what may be bought at the sites of a partition under some constraints.
type market struct {
	rooms  []siteRoom
	costs  map[string][]int64   // by request
	alone  map[string]int64     // by site, count and request; see ties.alone
	offers map[int][]model.Bits // by site and template, what suits; see sold
}

// sold are, by template, the offers that suit the groups of a seat and are at its site.
func (m *market) sold(l *land, s *seat) []model.Bits {
	out, known := m.offers[s.site]
	if known {
		return out
	}
	out = make([]model.Bits, len(l.templates))
	for ti := range out {
		row := s.part.row(l, ti, s.site)
		for i, g := range s.groups {
			switch of := l.offered[ti].rows[g]; {
			case row == nil:
			case of == nil:
				row = nil
			default:
				if i == 0 {
					row = row.Clone()
				}
				row.And(of)
			}
		}
		out[ti] = row
	}
	m.offers[s.site] = out
	return out
}

// marketOf returns the market of a kin.
func (b *kinBook) marketOf(k *kin, groups []int) *market {
	name := binary.AppendVarint(nil, int64(k.part.id))
	for _, g := range groups {
		name = binary.AppendVarint(name, int64(g))
	}
	markets := b.land.atlas.markets
	m, ok := markets[string(name)]
	if !ok {
		m = newMarket(b.rooms(k))
		markets[string(name)] = m
	}
	return m
}

func newMarket(rooms []siteRoom) *market {
	return &market{rooms: rooms, costs: map[string][]int64{}, alone: map[string]int64{}, offers: map[int][]model.Bits{}}
}

// rankCost is what a pool of lower weight counts for in the choice of a site: more than
// any machine costs.
const rankCost = 1_000_000 * 1_000_000_000

// siteRoom is the cheapest way to have a room at a site from pools of one weight.
type siteRoom struct {
	site, room, rank int
	cost             int64
}

// rooms lists what may be bought for a kin, site by site.
func (b *kinBook) rooms(k *kin) []siteRoom {
	l := b.land
	ranks := l.weightRank()
	rooms, top := len(l.compiler.rooms.rooms), 0
	for _, rank := range ranks {
		top = max(top, int(rank)+1)
	}
	cheapest := make([]int64, k.part.sites*top*rooms) // plus 1, so that 0 is none
	for ti, v := range l.templates {
		suits, choice, spots := map[int]bool{}, l.choiceAt(k, ti), l.spotChoiceAt(k, ti)
		for i, o := range l.offered[ti].list {
			ok, known := suits[o.column]
			if !known {
				ok = k.admits(l.columns.rows[o.column])
				suits[o.column] = ok
			}
			site := int(k.part.at[l.first[ti]+i])
			if !ok || !l.onOffer(ti, o.offer) || len(choice) > 0 && !choice[site] ||
				len(spots) > 0 && !spots[site] && l.offers.offers[o.offer].spot() {
				continue
			}
			have := &cheapest[(site*top+int(ranks[v.number]))*rooms+o.room]
			if cost := l.offers.offers[o.offer].cost; *have == 0 || cost < *have-1 {
				*have = cost + 1
			}
		}
	}
	var out []siteRoom
	for at, cost := range cheapest {
		if cost > 0 {
			out = append(out, siteRoom{at / rooms / top, at % rooms, at / rooms % top, cost - 1})
		}
	}
	return out
}
