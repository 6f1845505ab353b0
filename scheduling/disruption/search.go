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
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

const (
	// enough is how much dearer than the bound, as a share, the nodes that may go may be without a look at
	// machines that waste something.
	enough = 0.025
	// manyNodes is how many nodes a cluster has to have to be searched less thoroughly: from
	// someNodes on, moves are looked for with few questions, each about many nodes.
	manyNodes = 1_000
	someNodes = 300
	// mostImproved is how many of the ends that a search has found are improved. Of two the second may cost as little
	// in the end, and move fewer pods.
	mostImproved = 2
)

// search looks for a cheaper cluster. It works on a copy of the cluster in which moves are
// carried out as they are found, also such as undo a part of earlier ones, and without
// regard to the order in which pods leave: only where it ends counts.
type search struct {
	state  *state
	target *target
	moves  []*Step
	// leave are the nodes that it began to remove together.
	leave []string
	// receiving are nodes that steps before have bought or moved pods to. They stay.
	receiving map[string]bool
}

// ends are the clusters that the search finds, the best first: with no more nodes removed
// than the others have room for, and, where the cluster costs much more than it has to, with all
// nodes removed that may go and, unless the search is fast, with each of the keep sets. The best two are improved. In
// clusters of many nodes it is the first that costs little more than it has to.
func (x *search) ends(ctx context.Context) ([]*search, error) {
	begins := [][]string{nil}
	if !x.near() {
		if !x.state.fast() || x.many() {
			begins = append(begins, x.keepSets(ctx)...)
		}
		begins = append(begins, x.everybody())
	}
	effort := scheduling.EffortFast
	if x.many() {
		effort = x.state.planner.Policy.Effort
	}
	var out []*search
	for i, leave := range begins {
		if i == len(begins)-1 && i > 0 && slices.ContainsFunc(out, (*search).near) {
			break
		}
		y, err := x.without(ctx, leave, effort)
		if err != nil {
			return nil, past(ctx, err)
		}
		out = append(out, y)
		if over(ctx) || x.many() && y.near() {
			break
		}
	}
	byObjective := func(a, b *search) int { return cmp.Compare(x.objective(a), x.objective(b)) }
	slices.SortStableFunc(out, byObjective)
	if best := out[0]; !x.state.fast() && !x.many() && len(best.leave) > 0 && !over(ctx) {
		y, err := x.without(ctx, best.leave, x.state.planner.Policy.Effort)
		if err != nil {
			return nil, past(ctx, err)
		}
		if byObjective(y, best) < 0 {
			out[0] = y
		}
	}
	out = slices.CompactFunc(out, func(a, b *search) bool { return byObjective(a, b) == 0 && a.state.price() == b.state.price() })
	for _, y := range out[:min(len(out), mostImproved)] {
		err := y.improve(ctx)
		if err == nil && !x.many() {
			var kept *search
			if kept, err = x.keepExchanged(ctx, y); kept != y {
				out = append(out, kept)
			}
		}
		if err != nil {
			return nil, past(ctx, err)
		}
	}
	slices.SortStableFunc(out, byObjective)
	return out, nil
}

// without is the cluster that the search ends in if it begins with the removal of some nodes, for whose pods machines
// are looked for with an effort.
func (x *search) without(ctx context.Context, leave []string, effort scheduling.Effort) (*search, error) {
	y := x.scratch()
	y.leave = leave
	err := y.drainAll(ctx, leave, effort)
	if err == nil {
		err = y.fillRoom(ctx)
	}
	return y, err
}

// mostKept is how many nodes are looked at, each by itself, that are exchanged for others of their offering.
const mostKept = 4

// keepExchanged is the cluster that a search has found, or one that is as good and keeps nodes for which the search
// bought others of the same offering: their pods would move for nothing.
func (x *search) keepExchanged(ctx context.Context, y *search) (*search, error) {
	for again := true; again && !over(ctx); {
		again = false
		step := combined(y.moves, y.state.rebooked)
		same := x.state.exchanged(step)
		sets := lo.Chunk(same[:min(len(same), mostKept)], 1)
		if len(same) > 1 {
			sets = slices.Insert(sets, 0, same)
		}
		for _, keep := range sets {
			leave, _ := lo.Difference(step.Drain, keep)
			z, err := x.without(ctx, leave, scheduling.EffortFast)
			if err != nil {
				return nil, err
			}
			fewer := len(combined(z.moves, z.state.rebooked).Drain) < len(step.Drain) // so that this ends
			if fewer && z.state.price() <= y.state.price() && x.objective(z) <= x.objective(y) {
				y, again = z, true
				break
			}
		}
	}
	return y, nil
}

// exchanged are nodes that a step removes, for each of which it launches another one of the same offering.
func (f *state) exchanged(step *Step) []string {
	bought := map[offerings.Key]int{}
	for i := range step.Launches {
		bought[step.Launches[i].Options[0].Key()]++
	}
	return lo.Filter(step.Drain, func(name string, _ int) bool {
		key := instancetypes.OfferingOf(f.at[name].node)
		bought[key]--
		return bought[key] >= 0
	})
}

// near reports whether the nodes that may go, and those bought for them, cost about what they have to. Nodes that
// must stay are left out, because a cluster of which most nodes must stay would always be near its bound.
func (x *search) near() bool {
	kept := x.target.kept
	return float64(x.state.price()-kept) <= (1+enough)*float64(x.target.bound-kept)
}

// fast reports whether as little is looked at as may be.
func (f *state) fast() bool { return f.planner.Policy.Effort == scheduling.EffortFast }

// many reports whether the cluster is too large for moves to be looked for node by node.
func (x *search) many() bool { return len(x.state.problem.Nodes) > someNodes }

// disruptionWeight is what it is worth not to remove nodes, as a share of what they cost by what it
// costs to remove them, where one end of the search is compared with another: more where
// budgets of pools say that few are to go at once.
const (
	disruptionWeight = 0.01
	tightWeight      = 0.05
)

// objective is what the cluster costs where a search that began where x stands has ended, with what
// is disrupted on the way.
func (x *search) objective(y *search) float64 {
	price, cost, rate := 0.0, 0.0, disruptionWeight
	for _, s := range x.state.nodes {
		if s.pool != nil && !s.gone {
			price, cost = price+float64(s.price), cost+s.cost
		}
	}
	if slices.ContainsFunc(x.state.ordered, func(p *poolState) bool { return x.state.room(p, Underutilized) < p.counted }) {
		rate = tightWeight
	}
	moved, disrupted := map[string]bool{}, 0.0
	for _, m := range y.moves {
		for i := range m.Evictions {
			name := m.Evictions[i].Pod
			if pod := x.state.pods[name]; pod != nil && !moved[name] {
				disrupted += x.state.podCost(pod)
			}
			moved[name] = true
		}
	}
	return float64(y.state.price()) + rate*price/max(cost, 1e-9)*disrupted
}

// rank is a node in the order in which the search turns to them.
type rank struct {
	*candidate
	// loss is what the node costs beyond what its pods are worth.
	loss offerings.Price
}

// byWaste lists the nodes that may go, the most wasteful first: by what is lost on a node for
// what it costs to remove it.
func (x *search) byWaste() []rank {
	may, _ := x.state.candidates(Underutilized)
	out := make([]rank, 0, len(may))
	for _, s := range may {
		if x.receiving[s.name] || len(s.expected) > 0 {
			continue
		}
		r := rank{candidate: s, loss: s.price}
		for _, pod := range s.movers {
			r.loss -= x.target.worth[podspec.PodName(pod)]
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b rank) int {
		return cmp.Or(cmp.Compare(ratio(b.loss, b.cost), ratio(a.loss, a.cost)), cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name))
	})
	return out
}

// everybody are the nodes that may go.
func (x *search) everybody() []string { return x.wasteful(math.Inf(-1)) }

// wasteful are the nodes that may go and waste a share of their price.
func (x *search) wasteful(share float64) []string {
	var out []string
	for _, r := range x.byWaste() {
		if float64(r.loss) >= share*float64(r.price) {
			out = append(out, r.name)
		}
	}
	return out
}

// scratch is a search that stands where x does, to try things out.
func (x *search) scratch() *search {
	y := &search{state: x.state.fork(), target: x.target, receiving: x.receiving}
	y.state.searching = true
	return y
}

// take carries a move out in the search's own copy.
func (x *search) take(step *Step) error {
	if err := x.state.take(step); err != nil {
		return err
	}
	x.moves = append(x.moves, step)
	return nil
}
