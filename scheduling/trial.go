package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// trial is a plan of sites together with the machines that were found for it.
type trial struct {
	*compiler
	pack.Outcome
	ties  *ties
	bind  int64     // pods that have a place and would bind there
	sites [][]int64 // by planner class and site, the pods that are planned there
}

// newTrial is an outcome for a compiled problem whose parts have their sites.
func newTrial(c *compiler, outcome pack.Outcome) *trial {
	return &trial{compiler: c, Outcome: outcome, ties: tiesOf(c)}
}

// tiesOf are the ties of the pods of a compiled problem; nil where its parts have no sites.
func tiesOf(c *compiler) *ties { return noted[ties](c.notes) }

// try plans sites, then machines.
func (t *ties) try(params pack.Params) trial {
	plan := t.begun
	if t.begun = nil; plan == nil {
		plan = topology.Plan(&t.planner)
	}
	return t.pack(plan, params)
}

// pack finds machines for a plan of sites.
func (t *ties) pack(plan *topology.Result, params pack.Params) trial {
	x := *newTrial(t.split(plan), pack.Outcome{})
	x.sites = plan.Counts
	x.search(params)
	return x
}

// search finds machines for the sites of a trial.
func (x *trial) search(params pack.Params) {
	x.Outcome = x.machinesFor(params)
	if x.Rest != nil && slices.Max(x.Solution.Unplaced) > 0 {
		x.Outcome = x.Rest.Search() // more may find a place
	}
	x.bind = sum(x.placed(x.Solution)) - x.unbound(x.Solution)
}

// completed is a trial with all the work that goes into the search for its machines.
func (x trial) completed() trial {
	if x.Rest != nil {
		x.Outcome = x.Rest.Search()
		x.bind = sum(x.placed(x.Solution)) - x.unbound(x.Solution)
	}
	return x
}

// ration gives what limits and reservations have to others, where a trial leaves out pods
// for lack of it and that lets more pods in.
func (x *trial) ration(params pack.Params) trial {
	if !slices.ContainsFunc(x.Solution.Unplaced, func(n int64) bool { return n > 0 }) {
		return *x
	}
	x.furnish()
	y := *x
	y.Outcome = pack.Ration(x.model, x.Outcome, params)
	if slices.Equal(x.Solution.Unplaced, y.Solution.Unplaced) {
		return *x
	}
	y.bind = sum(y.placed(y.Solution)) - y.unbound(y.Solution)
	if y.score().better(x.score()) {
		return y
	}
	return *x
}

// price is what a trial's machines cost, as the search sees it.
func (x *trial) price() offerings.Price { return offerings.Price(x.model.Cost(x.Solution.Nodes)) }

// spots are the spots of a solution's machines, in their order.
func (c *compiler) spots(s model.Solution) []int {
	out, l := make([]int, len(s.Nodes)), c.sited
	for i := range s.Nodes {
		b := c.bought[s.Nodes[i].Option]
		out[i] = l.spot(b.template, b.offer)
	}
	return out
}

// unbound counts the pods of a solution that would not bind.
func (c *compiler) unbound(s model.Solution) (lost int64) {
	for i, n := range c.surplus(c.placing(s), c.spots(s)) {
		lost += n * size(c.parts[i].portions)
	}
	return lost
}

// placing is how many units of each part a solution places.
func (c *compiler) placing(s model.Solution) func(part int) int64 {
	return func(part int) int64 { return c.parts[part].count - s.Unplaced[part] }
}

// surplus counts, by part, the units that would not bind of those that have a place
// while machines stand at some spots.
func (c *compiler) surplus(placed func(part int) int64, spots []int) map[model.ClassID]int64 {
	return c.surplusAmong(placed, tiesOf(c).domainsOf(spots))
}

// countSites counts, by planner class and site, the units that have a place.
func (c *compiler) countSites(placed func(part int) int64) [][]int64 {
	t := tiesOf(c)
	counts := make([][]int64, len(t.planner.Classes))
	for i := range counts {
		counts[i] = make([]int64, len(t.planner.Classes[i].Sites))
	}
	for i := range c.parts {
		if p := &c.parts[i]; p.pinned {
			counts[t.classOf[p.unit]][p.site] += placed(i)
		}
	}
	return counts
}

// podCount is the number of pods that are planned.
func (c *compiler) podCount() (n int64) {
	for _, class := range c.planned {
		n += int64(len(class.pods))
	}
	return n
}

// size is the number of pods in a unit.
func size(portions []portion) (n int64) {
	for _, p := range portions {
		n += p.n
	}
	return n
}

// domainsOf lists, by rule, the domains of spots that a spread looks at.
func (t *ties) domainsOf(spots []int) [][]int32 {
	out := make([][]int32, len(t.rules))
	for i := range t.rules {
		r := &t.rules[i]
		if r.kind != spreadTie {
			continue
		}
		seen := make([]bool, len(r.domains))
		for _, spot := range spots {
			if at := t.land.axes[r.axis].at[spot]; at >= 0 && t.land.axes[r.filter].at[spot] == 1 {
				seen[at] = true
			}
		}
		for at, ok := range seen {
			if ok {
				out[i] = append(out[i], int32(at))
			}
		}
	}
	return out
}

// spot is the place of an offer of a template.
func (l *land) spot(template, offer int) int {
	spots := l.atlas.spots[template]
	if spots == nil {
		spots = slices.Repeat([]int32{-1}, len(l.offers.offers))
		for i, o := range l.offered[template].list {
			spots[o.offer] = int32(l.first[template] + i)
		}
		l.atlas.spots[template] = spots
	}
	return int(spots[offer])
}
