package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// siteRounds is how often sites are planned anew because what the planner took for
// possible was not: room, limits or reservations were used up by others.
const siteRounds = 8

// dearestWish is how much dearer, as a factor, wishes about single machines may make a
// plan before they are relaxed.
const dearestWish = 2

// solve plans sites and machines in turn.
func (t *ties) solve(params pack.Params) (*compiler, pack.Outcome) {
	if t.wishesPerHost() {
		t.relax(params)
	}
	e, outcome := t.rounds(params)
	e, outcome = t.concede(e, outcome, params)
	return t.reprice(e, outcome, params)
}

// relax finds out how far wishes per host have to be relaxed: as little as is needed
// for the plan to place as many pods and to cost at most twice as much as without
// them, or, where wishes have a price, no more than they are worth.
func (t *ties) relax(params pack.Params) {
	params.Work = 0
	t.scale = 0
	e, plain := t.rounds(params)
	placed, cost := sum(e.placed(plain.Solution)), price(e, plain.Solution)
	most := cost * dearestWish
	if t.land.solver.Preferences == PreferencesPrice {
		most = cost
		for i := range t.unitBook.units {
			u := &t.unitBook.units[i]
			for _, m := range t.list[u.kin].crowds {
				if k := t.crowds[m.Crowd]; k.weight > 0 && m.Holds {
					most += t.land.solver.PreferencePrice * offerings.Price(k.weight*u.count) / unsatisfiedWeight
				}
			}
		}
	}
	largest := int64(1)
	for i := range t.unitBook.units {
		largest = max(largest, t.unitBook.units[i].count)
	}
	for t.scale = 1; t.scale <= largest; t.scale *= 2 {
		e, outcome := t.rounds(params)
		if sum(e.placed(outcome.Solution)) >= placed && price(e, outcome.Solution) <= most {
			return
		}
	}
	t.scale = 0
}

func sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// rounds plans sites, packs machines, and does both again as long as the planner can
// learn from what did not fit.
func (t *ties) rounds(params pack.Params) (*compiler, pack.Outcome) {
	t.forget()
	var best *compiler
	var result pack.Outcome
	most := int64(-1)
	for range siteRounds {
		e := t.split(topology.Plan(&t.planner))
		outcome := pack.Search(e.model, params)
		if n := sum(e.placed(outcome.Solution)) - e.unbound(outcome.Solution); n > most {
			best, result, most = e, outcome, n
		}
		learnt := t.learn(e, outcome.Solution)
		if t.shrink(e, outcome.Solution) {
			learnt = true
		}
		if !learnt || outcome.Late {
			break
		}
	}
	return best, result
}

// unbound counts the pods of a solution that would not bind.
func (c *compiler) unbound(s model.Solution) int64 {
	t := c.ties
	counts := make([][]int64, len(t.planner.Classes))
	for i := range counts {
		counts[i] = make([]int64, len(t.planner.Classes[i].Sites))
	}
	for i := range c.parts {
		if p := &c.parts[i]; p.pinned {
			counts[t.classOf[p.unit]][p.site] += p.count - s.Unplaced[i]
		}
	}
	lost := int64(0)
	bound := topology.Replay(&t.planner, counts, t.opened(c, s))
	for i := range counts {
		size := int64(0)
		for _, p := range t.unitBook.units[t.units[i]].portions {
			size += p.n
		}
		for site, n := range counts[i] {
			lost += (n - bound[i][site]) * size
		}
	}
	return lost
}

// forget lifts the limits that earlier rounds have set.
func (t *ties) forget() {
	for i := range t.planner.Classes {
		for s := range t.planner.Classes[i].Sites {
			t.planner.Classes[i].Sites[s].Limit = -1
		}
	}
}

// learn limits the sites at which parts were left out to what found a place there, and
// counts domains that machines of other pods have opened. It reports whether that
// could change anything.
func (t *ties) learn(e *compiler, s model.Solution) bool {
	news := false
	for i := range e.parts {
		p := &e.parts[i]
		if left := s.Unplaced[i]; p.pinned && left > 0 {
			site := &t.planner.Classes[t.classOf[p.unit]].Sites[p.site]
			if site.Limit < 0 || site.Limit > p.count-left {
				site.Limit = p.count - left
				news = true
			}
		} else if kin := t.unitBook.units[p.unit].kin; left > 0 && e.seats[p.seat].rows != nil && !t.roaming[kin] {
			t.roaming[kin], news = true, true
		}
	}
	for r, domains := range t.opened(e, s) {
		counted := t.countedDomains(r)
		for _, d := range domains {
			if len(counted) > 0 && !counted[d] {
				t.planner.Rules[r].Domains[d].Eligible = true
				t.rules[r].domains[d].Eligible = true
				news = true
			}
		}
	}
	return news
}

// shrink takes pods out of units that found no place, so that those whom others follow
// may find one without them. It reports whether there were any.
func (t *ties) shrink(e *compiler, s model.Solution) bool {
	placed := make([]int64, len(t.unitBook.units))
	for i := range e.parts {
		placed[e.parts[i].unit] += e.parts[i].count - s.Unplaced[i]
	}
	before := len(t.unitBook.units)
	shrunk := false
	for i := range before {
		u := &t.unitBook.units[i]
		left := u.count - placed[i]
		last := len(u.portions) - 1
		if left == 0 || last == 0 && u.portions[0].n == 1 {
			continue
		}
		shrunk = true
		u.count -= left
		less := unit{portions: slices.Clone(u.portions), count: left}
		p := &less.portions[last]
		gone := (p.n + 3) / 4
		class := p.class
		if p.n -= gone; p.n == 0 {
			less.portions = less.portions[:last]
		}
		hosts := t.list[u.kin].hosts
		less.kin = t.kin(t.members(less.portions), hosts)
		t.unitBook.units = append(t.unitBook.units, less)
		t.follow(class, gone*left, model.NewBits(len(t.land.compiler.nodes)))
	}
	if !shrunk {
		return false
	}
	t.unitBook.units = slices.DeleteFunc(t.unitBook.units, func(u unit) bool { return u.count == 0 })
	for _, k := range t.list {
		if k.part == nil {
			t.link(k)
		}
	}
	t.plan()
	return true
}

// opened lists, by rule, the domains in which a solution buys machines that a spread
// looks at.
func (t *ties) opened(e *compiler, s model.Solution) [][]int32 {
	spots := map[int]bool{}
	for i := range s.Nodes {
		b := e.bought[s.Nodes[i].Option]
		spots[t.land.spot(b.template, b.offer)] = true
	}
	return t.domainsOf(spots)
}

// domainsOf lists, by rule, the domains of spots that a spread looks at.
func (t *ties) domainsOf(spots map[int]bool) [][]int32 {
	out := make([][]int32, len(t.rules))
	for i := range t.rules {
		r := &t.rules[i]
		if r.kind != spreadTie {
			continue
		}
		for spot := range spots {
			at := t.land.axes[r.axis].at[spot]
			if at >= 0 && t.land.axes[r.filter].at[spot] == 1 && !slices.Contains(out[i], at) {
				out[i] = append(out[i], at)
			}
		}
		slices.Sort(out[i])
	}
	return out
}

// spot is the place of an offer of a template.
func (l *land) spot(template, offer int) int {
	if l.spotOf == nil {
		l.spotOf = make([]map[int]int, len(l.templates))
	}
	if l.spotOf[template] == nil {
		l.spotOf[template] = map[int]int{}
		for i, o := range l.offered[template].list {
			l.spotOf[template][o.offer] = l.first[template] + i
		}
	}
	return l.spotOf[template][offer]
}

// unbind takes pods off machines and bins that would not bind there in any order: those
// whose rules others, who found no place after all, were to keep. Machines that hold
// less may then be cheaper ones elsewhere, so it goes round until all pods bind.
func (d *decoder) unbind(machines []machine) []machine {
	t := d.ties
	if t == nil || len(t.planner.Classes) == 0 {
		return machines
	}
	for {
		surplus := d.surplus(machines)
		if len(surplus) == 0 {
			return machines
		}
		machines = d.strip(machines, surplus)
		if !d.frozen {
			d.upgrade(machines)
		}
	}
}

// surplus counts, by engine class, the pods that do not bind.
func (d *decoder) surplus(machines []machine) map[model.ClassID]int64 {
	t := d.ties
	counts := make([][]int64, len(t.planner.Classes))
	for i := range counts {
		counts[i] = make([]int64, len(t.planner.Classes[i].Sites))
	}
	note := func(items []model.Item) {
		for _, it := range items {
			if p := &d.parts[it.Class]; p.pinned {
				counts[t.classOf[p.unit]][p.site] += it.N
			}
		}
	}
	spots := map[int]bool{}
	for i := range machines {
		note(machines[i].items)
		spots[t.land.spot(machines[i].template, d.offered[machines[i].template].list[machines[i].first].offer)] = true
	}
	for _, items := range d.solution.Bins {
		note(items)
	}
	bound := topology.Replay(&t.planner, counts, t.domainsOf(spots))
	surplus := map[model.ClassID]int64{}
	for i := range d.parts {
		if p := &d.parts[i]; p.pinned {
			c := t.classOf[p.unit]
			if n := counts[c][p.site] - bound[c][p.site]; n > 0 {
				surplus[model.ClassID(i)] = n
			}
		}
	}
	return surplus
}

// strip takes pods off machines and bins, and gives back what is left empty.
func (d *decoder) strip(machines []machine, surplus map[model.ClassID]int64) []machine {
	less := func(items []model.Item) []model.Item {
		out := slices.Clone(items)
		for i := range out {
			n := min(out[i].N, surplus[out[i].Class])
			out[i].N -= n
			surplus[out[i].Class] -= n
			d.solution.Unplaced[out[i].Class] += n
		}
		return slices.DeleteFunc(out, func(it model.Item) bool { return it.N == 0 })
	}
	for i := range machines {
		m := &machines[i]
		m.items = less(m.items)
		m.load = make([]int64, d.model.Dims)
		d.model.Load(m.load, m.items)
		m.groups = model.NewBits(d.model.Groups)
		for _, it := range m.items {
			m.groups.Set(int(d.model.Classes[it.Class].Group))
		}
	}
	for i, items := range d.solution.Bins {
		d.solution.Bins[i] = less(items)
	}
	return slices.DeleteFunc(machines, func(m machine) bool {
		if len(m.items) > 0 {
			return false
		}
		d.ledger.spend(purchase{template: m.template, offer: d.offered[m.template].list[m.first].offer}, -1)
		return true
	})
}
