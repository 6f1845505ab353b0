package disruption

import (
	"context"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// deleteMany drains as many of the nodes at once as find room on the others: those whose
// pods could by their size, then without those of which some pod found no place after all,
// and so on.
func (x *search) deleteMany(ctx context.Context, order []rank) error {
	if x.single {
		return nil
	}
	names := x.likely(order)
	for len(names) > 1 && ctx.Err() == nil {
		o, err := x.state.ask(ctx, &question{nodes: names, effort: scheduling.EffortFast, loose: x.loose})
		if err != nil {
			return err
		}
		if len(o.stuck) == 0 {
			return x.takeEach(o)
		}
		stuck := map[string]bool{}
		for i := range o.stuck {
			stuck[o.origin[o.stuck[i].Pod]] = true
		}
		names = slices.DeleteFunc(names, func(name string) bool { return stuck[name] })
	}
	return nil
}

// likely are the nodes whose pods together find room on the others by their size alone:
// as many from the first as could if pods could be cut to pieces, and of those in turn
// the ones whose pods do.
func (x *search) likely(order []rank) []string {
	var names []string
	for i := range order {
		if x.frame.dismisses(order[i].name) == nil {
			names = append(names, order[i].name)
		}
	}
	leave := map[string]bool{}
	for _, name := range names[:x.roomFor(names)] {
		leave[name] = true
	}
	rooms := x.state.open(leave)
	var out []string
	for _, name := range names {
		if leave[name] && rooms.put(x.sizes(name), "", true) {
			out = append(out, name)
		}
	}
	return out
}

// sizes are those of the pods of a node that have to live on.
func (x *search) sizes(name string) [][]int64 {
	var out [][]int64
	for _, pod := range x.state.nodes[name].pods {
		if reschedulable(pod) {
			out = append(out, x.state.gauge.sizes[podName(pod)])
		}
	}
	return out
}

// roomFor is how many of the nodes, from the first, could go if all their pods could be cut
// to pieces that fill the room on the others.
func (x *search) roomFor(names []string) int {
	rooms := x.state.open(nil)
	at := make(map[string]int, len(rooms.names))
	free := make([]int64, len(x.state.gauge.names))
	for i, name := range rooms.names {
		at[name] = i
		for d, n := range rooms.free[i] {
			free[d] += max(n, 0)
		}
	}
	for k, name := range names {
		if i, ok := at[name]; ok {
			for d, n := range rooms.free[i] {
				free[d] -= max(n, 0)
			}
		}
		for _, size := range x.sizes(name) {
			for d, n := range size {
				free[d] -= n
			}
		}
		if slices.Min(free) < 0 {
			return k
		}
	}
	return len(names)
}

// dismisses says why a node cannot go whatever becomes of its pods.
func (f *frame) dismisses(name string) *Cause {
	_, cause := f.admit(Underutilized, &outcome{nodes: []string{name}})
	return cause
}

// takeEach drains nodes one by one, each as one move, as an outcome says for all of them.
func (x *search) takeEach(o *outcome) error {
	all := &Step{}
	for _, single := range o.each() {
		step, cause := x.frame.admit(Underutilized, single)
		if cause != nil {
			continue
		}
		x.frame.took(step)
		x.moves = append(x.moves, step)
		all.Drain = append(all.Drain, step.Drain...)
		all.Evictions = append(all.Evictions, step.Evictions...)
	}
	return x.state.take(all)
}

// deleteEach tries the nodes one by one.
func (x *search) deleteEach(ctx context.Context, order []rank) error {
	_, err := x.deleteSome(ctx, order, math.MaxInt)
	return err
}

// deleteSome tries the nodes one by one until so many were tried in vain, and returns how many
// were. Those that others have no room for by size alone do not count.
func (x *search) deleteSome(ctx context.Context, order []rank, most int) (vain int, err error) {
	rooms := x.state.open(nil)
	for i := range order {
		r := &order[i]
		if over(ctx) || vain >= most {
			break
		}
		if x.frame.dismisses(r.name) != nil || !rooms.put(x.sizes(r.name), r.name, false) {
			continue
		}
		step, err := x.deletion(ctx, r.name)
		if err != nil {
			return vain, err
		}
		if step == nil {
			vain++
			continue
		}
		if err := x.take(step); err != nil {
			return vain, err
		}
		rooms = x.state.open(nil)
	}
	return vain, nil
}

// deletion is the move of one node's pods into free room, nil if that is not to be.
func (x *search) deletion(ctx context.Context, node string) (*Step, error) {
	o, err := x.state.ask(ctx, &question{nodes: []string{node}, effort: scheduling.EffortFast, loose: x.loose})
	if err != nil {
		return nil, err
	}
	step, cause := x.frame.admit(Underutilized, o)
	if cause != nil {
		return nil, nil //nolint:nilnil // no move is an answer
	}
	return step, nil
}
