package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// siteRounds is how often sites are planned anew because what the planner took for
// possible was not: room, limits or reservations were used up by others.
const siteRounds = 8

// dearestWish is how much dearer, as a factor, wishes about single machines may make a
// plan before they are relaxed.
const dearestWish = 2

// solve plans sites and machines in turn.
func (t *ties) solve(params pack.Params) (*compiler, pack.Outcome) {
	x := t.found(params)
	x = x.resign(params)
	x = x.pile(params)
	return x.compiler, x.Outcome
}

// found is the best that is found for all pods.
func (t *ties) found(params pack.Params) trial {
	if t.wishesPerHost() {
		t.relax(params)
	}
	found := t.seek(t.settled(params), params)
	return found.ration(params)
}

// relax finds out how far wishes per host have to be relaxed: as little as is needed
// for the plan to place as many pods and to cost at most twice as much as without
// them, or, where wishes have a price, no more than they are worth.
func (t *ties) relax(params pack.Params) {
	params.Work = 0
	t.scale = 0
	plain := t.rounds(params)
	placed, most := sum(plain.placed(plain.Solution)), plain.price()*dearestWish
	if t.land.solver.Preferences == PreferencesPrice {
		most = plain.price()
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
		x := t.rounds(params)
		if sum(x.placed(x.Solution)) >= placed && x.price() <= most {
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
// learn from what did not fit. It returns the best: the one in which most pods bind, among
// these the best by its score, and among these the first.
func (t *ties) rounds(params pack.Params) (best trial) {
	t.forget()
	best = trial{bind: -1}
	for range siteRounds {
		x := t.try(params)
		if x.bind > best.bind || x.bind >= 0 && x.bind == best.bind && x.score().better(best.score()) {
			best = x
		}
		learnt := t.learn(&x)
		if t.shrink(&x) {
			learnt = true
		}
		if !learnt || x.Late {
			break
		}
	}
	return best
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
func (t *ties) learn(x *trial) bool {
	news := false
	for i := range x.parts {
		p := &x.parts[i]
		if left := x.Solution.Unplaced[i]; p.pinned && left > 0 {
			site := &t.planner.Classes[t.classOf[p.unit]].Sites[p.site]
			if site.Limit < 0 || site.Limit > p.count-left {
				site.Limit = p.count - left
				news = true
			}
		} else if kin := t.unitBook.units[p.unit].kin; left > 0 && x.seats[p.seat].rows != nil && !t.roaming[kin] {
			t.roaming[kin], news = true, true
			t.stated++
		}
	}
	opened := false
	for r, domains := range t.domainsOf(x.spots(x.Solution)) {
		counted := t.countedDomains(r)
		for _, d := range domains {
			if len(counted) > 0 && !counted[d] {
				t.planner.Rules[r].Domains[d].Eligible = true
				t.rules[r].domains[d].Eligible = true
				opened = true
			}
		}
	}
	if opened { // nobody has to keep away from there any more
		t.rows, t.away = t.stayAway(), map[int]bool{}
		t.stated++
	}
	return news || opened
}

// shrink takes pods out of units that found no place, so that those whom others follow
// may find one without them. It reports whether there were any.
func (t *ties) shrink(x *trial) bool {
	placed := make([]int64, len(t.unitBook.units))
	for i := range x.parts {
		placed[x.parts[i].unit] += x.parts[i].count - x.Solution.Unplaced[i]
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
		less := unit{portions: slices.Clone(u.portions), count: left, begins: u.begins}
		p := &less.portions[last]
		gone := (p.n + 3) / 4
		class := p.class
		if p.n -= gone; p.n == 0 {
			less.portions = less.portions[:last]
		}
		hosts := t.list[u.kin].hosts
		less.kin = t.kin(t.members(less.portions), hosts)
		t.unitBook.units = append(t.unitBook.units, less)
		t.follow(class, gone*left, model.NewBits(len(t.land.nodes)))
	}
	if !shrunk {
		return false
	}
	t.unitBook.units = slices.DeleteFunc(t.unitBook.units, func(u unit) bool { return u.count == 0 })
	t.plan()
	return true
}
