package disruption

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

const (
	// nearBoundShare is how far above the bound, as a share of it, the price of the disruptable nodes may be without a
	// search for replacements.
	nearBoundShare = 0.025
	// manyNodes is the number of nodes from which steps are final as they are found, someNodes the number above which
	// the search makes few simulations, each of many nodes.
	manyNodes = 1_000
	someNodes = 300
	// mostImproved is how many of the solutions of a search are improved. Two, because the second may cost as little in
	// the end, and move fewer pods.
	mostImproved = 2
)

// search looks for a cheaper cluster. It works on a fork of the state, and makes moves there as they are found. A
// later move may undo a part of an earlier one, and the order of evictions is not checked, because only the cluster
// at the end counts.
type search struct {
	state  *state
	target *rebuildTarget
	moves  []*Step
	// drainFirst are the nodes with whose removal it began.
	drainFirst []string
	// stays are the nodes that it may not remove, because they were no candidates when it began. Its own launches are not
	// among them.
	stays map[string]bool
}

// newSearch begins a search that may remove candidates. It aims at the price of a target.
func newSearch(f *state, target *rebuildTarget, nodes []*candidate) *search {
	stays := f.nodesWhere(func(*candidate) bool { return true })
	for _, s := range nodes {
		delete(stays, s.name)
	}
	return &search{state: f, target: target, stays: stays}
}

// solutions are the clusters that the search ends in, the best first. It begins with no nodes removed but those whose
// pods fit on other nodes; if that is far above the bound, also with all candidates removed and, unless the effort is
// least, with each set of the keep sets. The best two are improved. In large clusters the first that is near the
// bound is enough.
func (x *search) solutions(ctx context.Context) ([]*search, error) {
	begins := [][]string{nil}
	if !x.nearBound() {
		if !x.state.fast() || x.coarse() {
			begins = append(begins, x.keepSets(ctx)...)
		}
		begins = append(begins, x.wasteful(math.Inf(-1)))
	}
	effort := scheduling.EffortFast
	if x.coarse() {
		effort = x.state.planner.Policy.Effort
	}
	var out []*search
	for i, leave := range begins {
		if i == len(begins)-1 && i > 0 && slices.ContainsFunc(out, (*search).nearBound) {
			break
		}
		y, err := x.startWithout(ctx, leave, effort)
		if err != nil {
			return nil, unlessDeadline(ctx, err)
		}
		out = append(out, y)
		if outOfTime(ctx) || x.coarse() && y.nearBound() {
			break
		}
	}
	byObjective := func(a, b *search) int { return cmp.Compare(x.objective(a), x.objective(b)) }
	slices.SortStableFunc(out, byObjective)
	if best := out[0]; !x.state.fast() && !x.coarse() && len(best.drainFirst) > 0 && !outOfTime(ctx) {
		y, err := x.startWithout(ctx, best.drainFirst, x.state.planner.Policy.Effort)
		if err != nil {
			return nil, unlessDeadline(ctx, err)
		}
		if byObjective(y, best) < 0 {
			out[0] = y
		}
	}
	out = slices.CompactFunc(out, func(a, b *search) bool { return byObjective(a, b) == 0 && a.state.price() == b.state.price() })
	for _, y := range out[:min(len(out), mostImproved)] {
		err := y.improve(ctx)
		if err == nil && !x.coarse() {
			var kept *search
			if kept, err = x.keepUnchanged(ctx, y); kept != y {
				out = append(out, kept)
			}
		}
		if err != nil {
			return nil, unlessDeadline(ctx, err)
		}
	}
	slices.SortStableFunc(out, byObjective)
	return out, nil
}

// startWithout is the search that begins with the removal of some nodes and then fills free capacity. The effort is
// for the launches for pods of these nodes.
func (x *search) startWithout(ctx context.Context, leave []string, effort scheduling.Effort) (*search, error) {
	y := x.fork()
	y.drainFirst = leave
	err := y.drainAll(ctx, leave, effort)
	if err == nil {
		err = y.fillRoom(ctx)
	}
	return y, err
}

// mostKept is how many exchanged nodes keepUnchanged tries to keep one by one.
const mostKept = 4

// keepUnchanged is a solution as good as the given one, in which fewer nodes are removed only to launch others of the
// same offering, because their pods would move for no saving.
func (x *search) keepUnchanged(ctx context.Context, y *search) (*search, error) {
	for again := true; again && !outOfTime(ctx); {
		again = false
		step := combined(y.moves, y.state)
		same := exchangedForSame(x.state, step)
		sets := lo.Chunk(same[:min(len(same), mostKept)], 1)
		if len(same) > 1 {
			sets = slices.Insert(sets, 0, same)
		}
		for _, keep := range sets {
			leave, _ := lo.Difference(step.Drain, keep)
			z, err := x.startWithout(ctx, leave, scheduling.EffortFast)
			if err != nil {
				return nil, err
			}
			fewer := len(combined(z.moves, z.state).Drain) < len(step.Drain) // so that this ends
			if fewer && z.state.price() <= y.state.price() && x.objective(z) <= x.objective(y) {
				y, again = z, true
				break
			}
		}
	}
	return y, nil
}

// exchangedForSame are nodes that a step removes, for each of which it launches another one of the same offering.
func exchangedForSame(f *state, step *Step) []string {
	bought := map[offerings.Key]int{}
	for i := range step.Launches {
		bought[step.Launches[i].Options[0].Key()]++
	}
	return lo.Filter(step.Drain, func(name string, _ int) bool {
		key := instancetypes.OfferingOf(f.byName[name].node)
		bought[key]--
		return bought[key] >= 0
	})
}

// nearBound reports whether the candidates, and the launches in their place, cost at most nearBoundShare above the
// bound. Nodes that must stay are left out, because a cluster of which most nodes must stay would always be near its
// bound.
func (x *search) nearBound() bool {
	kept := x.target.kept
	return float64(x.state.price()-kept) <= (1+nearBoundShare)*float64(x.target.bound-kept)
}

// coarse reports whether the cluster is too large for a simulation of each node.
func (x *search) coarse() bool { return len(x.state.problem.Nodes) > someNodes }

// disruptionWeight is the price of disruption when solutions are compared: this share of the price of all nodes, if all of
// them were disrupted. It is higher where budgets of pools do not allow all nodes at once.
const (
	disruptionWeight = 0.01
	tightWeight      = 0.05
)

// objective is the price of a solution that began in x, plus the weighted disruption cost of all pods that it moves.
func (x *search) objective(y *search) float64 {
	price, cost, rate := 0.0, 0.0, disruptionWeight
	for _, s := range x.state.nodes {
		if s.pool != nil && !s.removed {
			price, cost = price+float64(s.price), cost+s.cost
		}
	}
	if slices.ContainsFunc(x.state.ordered, func(p *poolState) bool { return x.state.poolAllowance(p, Underutilized) < p.nodes }) {
		rate = tightWeight
	}
	moved, disrupted := map[string]bool{}, 0.0
	for _, m := range y.moves {
		for i := range m.Evictions {
			name := m.Evictions[i].Pod
			if pod := x.state.pods[name]; pod != nil && !moved[name] {
				disrupted += x.state.rules.costs.Eviction(pod)
			}
			moved[name] = true
		}
	}
	return float64(y.state.price()) + rate*price/max(cost, 1e-9)*disrupted
}

// rankedCandidate is a candidate in the order in which the search considers them.
type rankedCandidate struct {
	*candidate
	// waste is the price of the node minus the dual values of its pods.
	waste offerings.Price
}

// byWaste are the candidates, the most wasteful first: by their waste for each unit of disruption cost.
func (x *search) byWaste() []rankedCandidate {
	may, _ := candidatesFor(x.state, Underutilized)
	out := make([]rankedCandidate, 0, len(may))
	for _, s := range may {
		if x.stays[s.name] || len(s.expected) > 0 {
			continue
		}
		r := rankedCandidate{candidate: s, waste: s.price}
		for _, pod := range s.reschedulable {
			r.waste -= x.target.podValues[podspec.PodName(pod)]
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b rankedCandidate) int {
		return cmp.Or(cmp.Compare(pricing.Ratio(b.waste, b.cost), pricing.Ratio(a.waste, a.cost)), cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name))
	})
	return out
}

// wasteful are the names of the candidates that waste at least a share of their price; with a share of -Inf, of all.
func (x *search) wasteful(share float64) []string {
	var out []string
	for _, r := range x.byWaste() {
		if float64(r.waste) >= share*float64(r.price) {
			out = append(out, r.name)
		}
	}
	return out
}

// fork is an independent search that begins where x is now.
func (x *search) fork() *search {
	y := &search{state: x.state.fork(), target: x.target, stays: x.stays}
	y.state.searching = true
	return y
}

// take makes a move in the search's state.
func (x *search) take(step *Step) error {
	if err := x.state.take(step); err != nil {
		return err
	}
	x.moves = append(x.moves, step)
	return nil
}
