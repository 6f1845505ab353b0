package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// wastes are the shares of its price that a machine has to waste to be replaced: what wastes
// little stays unless the cluster is still too dear. Packing machines anew always finds a
// little, and would move every pod for it.
func wastes() []float64 { return []float64{0.1, 0.04} }

// improve looks for moves until there are none, as long as the cluster is too dear: nodes that
// waste much go, all at once and few at a time.
func (x *search) improve(ctx context.Context) error {
	for before := -1; before < len(x.moves) && !x.near() && !over(ctx); {
		before = len(x.moves)
		var last []string
		for _, waste := range wastes() {
			names := x.wasteful(waste)
			if slices.Equal(names, last) {
				continue // the answer is known
			}
			if err := x.drainAll(ctx, names, scheduling.EffortFast); err != nil {
				return err
			}
			last = names
		}
		if !x.many() {
			if err := x.replace(ctx); err != nil {
				return past(ctx, err)
			}
		}
		if len(x.moves) > before {
			if err := x.fillRoom(ctx); err != nil {
				return past(ctx, err)
			}
		}
	}
	return nil
}

// tried is the move that answers a what-if, nil if it must not be.
func (x *search) tried(ctx context.Context, q *question) (*Step, error) {
	o, err := x.state.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	step, _ := x.state.admit(Underutilized, o)
	return step, nil
}

// drainAll moves the pods of nodes at once, into room on the others and onto what is bought for all of
// them together, if that pays.
func (x *search) drainAll(ctx context.Context, names []string, effort scheduling.Effort) error {
	if len(names) == 0 || over(ctx) {
		return nil
	}
	step, err := x.tried(ctx, &question{nodes: names, buy: true, effort: effort})
	if err != nil || step == nil {
		return past(ctx, err)
	}
	return x.take(step)
}

// fillRoom drains nodes into the room that the others have: as many as find room by their
// size at once, then one by one.
func (x *search) fillRoom(ctx context.Context) error {
	for names := x.likely(); len(names) > 1 && !over(ctx); {
		o, err := x.state.ask(ctx, &question{nodes: names, effort: scheduling.EffortFast})
		if err != nil {
			return err
		}
		if len(o.stuck) == 0 {
			if step, cause := x.state.admit(Underutilized, o); cause == nil {
				if err := x.take(step); err != nil {
					return err
				}
			}
			break
		}
		names = o.unstuck(names)
	}
	return x.fillRoomEach(ctx)
}

// unstuck are those of some nodes all of whose pods have a place.
func (o *outcome) unstuck(names []string) []string {
	stuck := map[string]bool{}
	for i := range o.stuck {
		stuck[o.origin[o.stuck[i].Pod]] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return stuck[name] })
}

// likely are the nodes whose pods find room on the others by their size alone, the most
// wasteful first. Nodes that would take in pods stay.
func (x *search) likely() []string {
	rooms := x.state.open(nil)
	stays, out := map[string]bool{}, []string(nil)
	for _, r := range x.byWaste() {
		if stays[r.name] || x.state.dismisses(r.name) != nil {
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

// mostInVain is how many nodes are looked at in vain, each by itself, in clusters of some nodes, and fewInVain how many
// are in a row where others may be bought in their place.
const mostInVain, fewInVain = 100, 5

// fillRoomEach drains nodes one by one into the room that the others have.
func (x *search) fillRoomEach(ctx context.Context) error {
	rooms, vain := x.state.open(nil), 0
	for _, r := range x.byWaste() {
		if over(ctx) || x.many() && vain >= mostInVain {
			break
		}
		if x.state.dismisses(r.name) != nil {
			continue
		}
		if _, ok := rooms.Put(x.podSizes(r.name), r.name, false); !ok {
			continue
		}
		step, err := x.tried(ctx, &question{nodes: []string{r.name}, effort: scheduling.EffortFast})
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
		rooms = x.state.open(nil)
	}
	return nil
}

// podSizes are those of the pods of a node that have to live on.
func (x *search) podSizes(name string) [][]int64 {
	var out [][]int64
	for _, pod := range x.state.at[name].pods {
		if eviction.Reschedulable(pod) {
			out = append(out, x.state.capacity.sizes[podspec.PodName(pod)])
		}
	}
	return out
}

// dismisses says why a node cannot go whatever becomes of its pods.
func (f *state) dismisses(name string) *Cause {
	_, cause := f.admit(Underutilized, &outcome{nodes: []string{name}})
	return cause
}

// groupSizes are how many nodes are replaced together.
func groupSizes() []int { return []int{1, 2, 3, 5, 8, 13} }

// leastShare is the share of the price of nodes that a replacement has to save.
const leastShare = 0.03

// replace looks for nodes that cost less when others are bought in their place: those next to each other
// in the order of what they waste, until a few in a row have saved nothing. Groups of several sizes are
// compared by sketches; only the best is asked about again, with more effort.
func (x *search) replace(ctx context.Context) error {
	vain := 0
	for list := x.byWaste(); len(list) > 0 && vain < fewInVain && !over(ctx); {
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
			if step != nil && (best == nil || ratio(step.SavingPerHour, step.DisruptionCost) > ratio(best.SavingPerHour, best.DisruptionCost)) {
				best, taken = step, size
			}
		}
		vain++
		if best != nil {
			more, err := x.tried(ctx, &question{nodes: best.Drain, buy: true, effort: scheduling.EffortFast})
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

// replacement is a sketch of the move of nodes into free room and onto new machines, nil if it does not
// pay. What the nodes waste is about all that can be saved.
func (x *search) replacement(ctx context.Context, group []rank) (*Step, error) {
	var loss, least float64
	q := &question{buy: true, brief: true}
	for i := range group {
		loss, least = loss+float64(group[i].loss), least+leastShare*float64(group[i].price)
		q.nodes = append(q.nodes, group[i].name)
	}
	if loss < least {
		return nil, nil
	}
	step, err := x.tried(ctx, q)
	if step != nil && float64(step.SavingPerHour) < least {
		step = nil
	}
	return step, err
}
