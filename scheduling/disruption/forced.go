package disruption

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// removeForced makes the steps that are not made for their price: for nodes that are interrupted, expired, drifted or
// empty. During the first three, their nodes take in no pods, nor do further closed nodes.
func (r *run) removeForced(ctx context.Context, closed []string) error {
	r.observe(scheduling.Phase(Interrupted))
	closed = slices.Concat(forcedRemovals(r.state), closed)
	if err := r.state.closeNodes(closed); err != nil {
		return err
	}
	if err := r.disruptBy(ctx, interruption{}, expiration{}, drifting{sparesIdle: true}); err != nil || r.done {
		return err
	}
	stay := slices.DeleteFunc(closed, func(name string) bool { return r.state.byName[name].removed })
	if err := r.state.reopenNodes(stay); err != nil {
		return err
	}
	return r.disruptBy(ctx, emptiness{}, drifting{})
}

// interruption removes all interrupted nodes at once, even if pods of theirs have no other node.
type interruption struct{}

func (interruption) candidates(r *run) []*candidate { return r.removable(Interrupted) }

func (interruption) disrupt(ctx context.Context, r *run, list []*candidate) error {
	if len(list) == 0 {
		return nil
	}
	nodes := namesOf(list)
	way := replacement{run: r, reason: Interrupted}
	o, lands, err := way.drain(ctx, nodes)
	if err != nil {
		return err
	}
	if !lands {
		for _, name := range nodes {
			r.warn("node/"+name, "is interrupted, and some of its pods will break their topology spread, or can only be scheduled after pending pods")
		}
	}
	for i := range o.unschedulable {
		u := &o.unschedulable[i]
		if pod := r.state.pods[u.Pod]; pod != nil {
			o.moves = append(o.moves, landing.Move{Pod: u.Pod, From: pod.Spec.NodeName})
		}
		r.warn(u.Pod, "its node is interrupted, and the pod "+u.Message)
	}
	slices.SortFunc(o.moves, compareMoves)
	return r.tryStep(Interrupted, o)
}

// expiration replaces expired nodes, the oldest first.
type expiration struct{}

func (expiration) candidates(r *run) []*candidate {
	nodes := r.removable(Expired)
	slices.SortStableFunc(nodes, func(a, b *candidate) int { return a.created().Compare(b.created()) })
	return nodes
}

func (expiration) disrupt(ctx context.Context, r *run, nodes []*candidate) error {
	return replacement{run: r, reason: Expired}.replace(ctx, nodes)
}

// drifting replaces drifted nodes: empty ones first, then the earliest drifted.
type drifting struct {
	// sparesIdle leaves out empty nodes that may be removed as such, because they can take in pods until then.
	sparesIdle bool
}

func (d drifting) candidates(r *run) []*candidate {
	idle := map[string]bool{}
	if d.sparesIdle {
		for _, s := range r.removable(Empty) {
			idle[s.name] = true
		}
	}
	nodes := slices.DeleteFunc(r.removable(Drifted), func(s *candidate) bool { return idle[s.name] })
	slices.SortStableFunc(nodes, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(min(len(a.reschedulable), 1), min(len(b.reschedulable), 1)), compareDrift(a, b))
	})
	return nodes
}

func (drifting) disrupt(ctx context.Context, r *run, nodes []*candidate) error {
	return replacement{run: r, reason: Drifted}.replace(ctx, nodes)
}

// compareDrift orders nodes by the time of drift, unknown times last.
func compareDrift(a, b *candidate) int {
	s, t := a.machine.DriftedAt, b.machine.DriftedAt
	if s.IsZero() != t.IsZero() {
		if s.IsZero() {
			return 1
		}
		return -1
	}
	return s.Compare(t)
}

// emptiness removes nodes on which only DaemonSets' pods run, as many at once as budgets allow, the most expensive
// first.
type emptiness struct{}

func (emptiness) candidates(r *run) []*candidate {
	idle := r.removable(Empty)
	slices.SortStableFunc(idle, func(a, b *candidate) int { return cmp.Compare(b.price, a.price) })
	return idle
}

func (m emptiness) disrupt(ctx context.Context, r *run, idle []*candidate) error {
	for ; ; idle = m.candidates(r) {
		o := &outcome{}
		left := map[*poolState]int{}
		for _, s := range idle {
			n, ok := left[s.pool]
			if !ok {
				n = r.state.poolAllowance(s.pool, Empty)
			}
			if left[s.pool] = n - 1; n <= 0 {
				r.note(s.name, *r.state.poolBudgetCause(s.pool, Empty, r.state.poolAllowance(s.pool, Empty)+1))
				continue
			}
			o.nodes = append(o.nodes, s.name)
		}
		if len(o.nodes) == 0 || r.outOfTime(ctx) {
			return nil
		}
		slices.Sort(o.nodes)
		if err := r.tryStep(Empty, o); err != nil || r.done {
			return err
		}
	}
}
