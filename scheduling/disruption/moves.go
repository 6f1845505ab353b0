package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// wasteThresholds are shares of its price that a node must waste to be replaced. Nodes that waste less stay even if
// the cluster is far above its bound, because packing them again would move every pod for a little.
func wasteThresholds() []float64 { return []float64{0.1, 0.04} }

// improve makes moves until none is left, or the cluster is near its bound: the removal of wasteful nodes, all at
// once and few at a time.
func (x *search) improve(ctx context.Context) error {
	for before := -1; before < len(x.moves) && !x.nearBound() && !outOfTime(ctx); {
		before = len(x.moves)
		var last []string
		for _, waste := range wasteThresholds() {
			names := x.wasteful(waste)
			if slices.Equal(names, last) {
				continue // the same nodes were simulated before
			}
			if err := x.drainAll(ctx, names, scheduling.EffortFast); err != nil {
				return err
			}
			last = names
		}
		if !x.coarse() {
			if err := x.replace(ctx); err != nil {
				return unlessDeadline(ctx, err)
			}
		}
		if len(x.moves) > before {
			if err := x.fillRoom(ctx); err != nil {
				return unlessDeadline(ctx, err)
			}
		}
	}
	return nil
}

// tryMove is the move by the outcome of a what-if, nil if it is not admitted.
func (x *search) tryMove(ctx context.Context, q *whatIf) (*Step, error) {
	o, err := simulate(ctx, x.state, q)
	if err != nil {
		return nil, err
	}
	step, _ := admit(x.state, Underutilized, o)
	return step, nil
}

// drainAll removes nodes at once if that saves: their pods go into the capacity of other nodes and onto launches for
// all of them together.
func (x *search) drainAll(ctx context.Context, names []string, effort scheduling.Effort) error {
	if len(names) == 0 || outOfTime(ctx) {
		return nil
	}
	step, err := x.tryMove(ctx, &whatIf{nodes: names, launch: true, effort: effort})
	if err != nil || step == nil {
		return unlessDeadline(ctx, err)
	}
	return x.take(step)
}

// fillRoom removes nodes whose pods fit into the free capacity of others: as many at once as fit by their requests,
// then one by one.
func (x *search) fillRoom(ctx context.Context) error {
	for names := x.drainable(); len(names) > 1 && !outOfTime(ctx); {
		o, err := simulate(ctx, x.state, &whatIf{nodes: names, effort: scheduling.EffortFast})
		if err != nil {
			return err
		}
		if len(o.unschedulable) == 0 {
			if step, cause := admit(x.state, Underutilized, o); cause == nil {
				if err := x.take(step); err != nil {
					return err
				}
			}
			break
		}
		names = o.placeable(names)
	}
	return x.fillRoomEach(ctx)
}

// placeable are those of some nodes whose pods all have another node.
func (o *outcome) placeable(names []string) []string {
	stuck := map[string]bool{}
	for i := range o.unschedulable {
		stuck[o.origin[o.unschedulable[i].Pod]] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return stuck[name] })
}

// drainable are the candidates whose pods fit on other nodes by their requests, the most wasteful first. Nodes that
// would take in these pods stay.
func (x *search) drainable() []string {
	rooms := x.state.rooms(nil)
	stays, out := map[string]bool{}, []string(nil)
	for _, r := range x.byWaste() {
		if stays[r.name] || refusalCause(x.state, r.name) != nil {
			continue
		}
		if into, ok := rooms.Put(x.podSizes(r.name), r.name, true); ok {
			for _, name := range into {
				stays[name] = true
			}
			rooms.Close(r.name)
			out = append(out, r.name)
		}
	}
	return out
}

// mostFailed is how many nodes are simulated one by one without a move in clusters of more than someNodes nodes,
// mostFailedInRow how many in a row if machines may be launched.
const mostFailed, mostFailedInRow = 100, 5

// fillRoomEach removes nodes one by one whose pods fit into the free capacity of others.
func (x *search) fillRoomEach(ctx context.Context) error {
	rooms, vain := x.state.rooms(nil), 0
	for _, r := range x.byWaste() {
		if outOfTime(ctx) || x.coarse() && vain >= mostFailed {
			break
		}
		if refusalCause(x.state, r.name) != nil {
			continue
		}
		if _, ok := rooms.Put(x.podSizes(r.name), r.name, false); !ok {
			continue
		}
		step, err := x.tryMove(ctx, &whatIf{nodes: []string{r.name}, effort: scheduling.EffortFast})
		if err != nil {
			return err
		}
		if step == nil {
			vain++
			continue
		}
		if err := x.take(step); err != nil {
			return err
		}
		rooms = x.state.rooms(nil)
	}
	return nil
}

// podSizes are the requests of the reschedulable pods of a node, as in capacity.
func (x *search) podSizes(name string) [][]int64 {
	var out [][]int64
	for _, pod := range x.state.byName[name].pods {
		if eviction.Reschedulable(pod) {
			out = append(out, x.state.requests.Of(podspec.PodName(pod)))
		}
	}
	return out
}

// refusalCause is the cause for which a node cannot be removed wherever its pods go; nil if there is none.
func refusalCause(f *state, name string) *Cause {
	_, cause := admit(f, Underutilized, &outcome{nodes: []string{name}})
	return cause
}

// groupSizes are how many nodes are replaced together.
func groupSizes() []int { return []int{1, 2, 3, 5, 8, 13} }

// leastShare is the least saving of a replacement, as a share of the price of the removed nodes.
const leastShare = 0.03

// replace makes moves that launch cheaper machines in place of nodes: nodes next to each other in the order of waste,
// until a few in a row have saved nothing. Groups of several sizes are compared by quick plans; only the best is
// planned again with more effort.
func (x *search) replace(ctx context.Context) error {
	vain := 0
	for list := x.byWaste(); len(list) > 0 && vain < mostFailedInRow && !outOfTime(ctx); {
		var best *Step
		taken := 1
		for _, size := range groupSizes() {
			if size > len(list) {
				break
			}
			step, err := x.replacement(ctx, list[:size])
			if err != nil {
				return err
			}
			if step != nil && (best == nil || pricing.Ratio(step.SavingPerHour, step.DisruptionCost) > pricing.Ratio(best.SavingPerHour, best.DisruptionCost)) {
				best, taken = step, size
			}
		}
		vain++
		if best != nil {
			more, err := x.tryMove(ctx, &whatIf{nodes: best.Drain, launch: true, effort: scheduling.EffortFast})
			if err != nil {
				return err
			}
			if more != nil && more.SavingPerHour > best.SavingPerHour {
				best = more
			}
			if err := x.take(best); err != nil {
				return err
			}
			vain = 0
		}
		list = list[taken:]
	}
	return nil
}

// replacement is the move of a group by a quick plan, nil if it saves too little. A group that wastes less than the
// least saving is not simulated, because a move hardly saves more than the waste.
func (x *search) replacement(ctx context.Context, group []rankedCandidate) (*Step, error) {
	var loss, least float64
	q := &whatIf{launch: true, sketch: true}
	for i := range group {
		loss, least = loss+float64(group[i].waste), least+leastShare*float64(group[i].price)
		q.nodes = append(q.nodes, group[i].name)
	}
	if loss < least {
		return nil, nil
	}
	step, err := x.tryMove(ctx, q)
	if step != nil && float64(step.SavingPerHour) < least {
		step = nil
	}
	return step, err
}
