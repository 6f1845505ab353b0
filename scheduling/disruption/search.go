package disruption

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// search looks for moves that make the cluster cheaper. It works on a copy of the cluster
// in which moves are carried out as they are found, also such as undo a part of earlier
// ones, until the rules find no further move: what the next plan would look at is what the
// last round has looked at. Only then it is worked out which steps lead there at once.
type search struct {
	frame  *frame
	state  *state
	target *target
	moves  []*Step
	// settled are nodes that steps before have bought or moved pods to. They stay.
	settled map[string]bool
	// single says that nodes are drained one by one, so that each move is possible after
	// those before it: where pods depend on where others are, what is possible at once may
	// not be one by one.
	single bool
	// patient says that moves may be larger than budgets of pools allow.
	patient bool
	// loosens says that nodes may be filled kind by kind, which leaves more of their room, and
	// loose that they are; loosened is what began so.
	loosens, loose, loosened bool
	// piecemeal says that nodes are not told apart at once into those that stay and those that
	// leave; together is where that was done, and ended near the bound.
	piecemeal, together bool
	// walks says that pods depend on each other in ways that a walk knows of, so that where the
	// search ends is all that counts.
	walks bool
	// kinds are of which kind pods are, for moves of many nodes at once.
	kinds kinds
	// ends are where the search from several beginnings has ended: near the bound, or anywhere if it
	// walks.
	ends []*search
}

// mostSingle is the number of nodes up to which they are drained one by one where pods
// depend on where others are.
const mostSingle = 500

// rank is a node in the order in which the search turns to them.
type rank struct {
	*subject
	// loss is what the node costs beyond what its pods are worth.
	loss offerings.Price
}

// order lists the nodes that may go, the most wasteful first: by what is lost on a node for
// what it costs to remove it.
func (x *search) order() []rank {
	may, _ := x.frame.candidates(Underutilized)
	out := make([]rank, 0, len(may))
	for _, s := range may {
		if x.settled[s.name] || x.state.nodes[s.name] == nil || x.state.expects(s.name) {
			continue
		}
		r := rank{subject: s, loss: s.price}
		for _, pod := range s.movers {
			r.loss -= x.target.worth[podName(pod)]
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.waste(), a.waste()), cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name))
	})
	return out
}

// waste is what is lost on the node for each unit of what it costs to remove it.
func (r *rank) waste() float64 { return ratio(r.loss, r.cost) }

// wastes are the shares of its price that a machine has to waste to be replaced: none is at
// first, what wastes much is then, and what wastes little stays unless the cluster is still
// too dear. Packing machines anew always finds a little, and would move every pod for it.
func wastes() []float64 { return []float64{math.Inf(1), 0.1, 0.06, 0.04} }

// moved counts the pods that move.
func (x *search) moved() int { return len(x.movers()) }

// movers are the pods that move.
func (x *search) movers() map[string]bool {
	pods := map[string]bool{}
	for _, m := range x.moves {
		for i := range m.Evictions {
			pods[m.Evictions[i].Pod] = true
		}
	}
	return pods
}

// gone are the nodes that have gone since another search.
func (x *search) gone(since *search) []string {
	return slices.DeleteFunc(since.state.names(), func(name string) bool { return x.state.nodes[name] != nil })
}

// price is what all nodes of pools cost.
func (x *search) price() offerings.Price {
	price, _ := x.frame.totals()
	return price
}

// scratch is a search that stands where x does, to try things out.
func (x *search) scratch() *search {
	y := &search{
		frame: x.frame.clone(), state: x.state.fork(), target: x.target, settled: x.settled, single: x.single, patient: x.patient, walks: x.walks,
		loosens: x.loosens, loose: x.loose, loosened: x.loosened, kinds: x.kinds,
	}
	y.frame.patient, y.frame.late = x.patient, true
	return y
}

// round looks for moves once: which nodes are to go is found out first, so that nobody
// moves to a node that goes a little later.
func (x *search) round(ctx context.Context, waste float64) error {
	if x.walks && x.many() {
		return x.sweep(ctx, waste)
	}
	leave, err := x.leavers(ctx, waste)
	if err != nil {
		return err
	}
	return x.guided(ctx, leave)
}

// guided looks for moves of nodes that are to go, into the room on the others and onto new
// machines, and then of any node.
func (x *search) guided(ctx context.Context, leave []string) error {
	if err := x.state.shun(leave); err != nil {
		return err
	}
	for _, look := range []func(context.Context, []rank) error{x.deleteMany, x.deleteEach, x.replace} {
		if err := look(ctx, x.among(leave)); err != nil {
			return err
		}
	}
	if err := x.state.readmit(leave); err != nil {
		return err
	}
	return x.deleteEach(ctx, x.order())
}

// leavers are the nodes that are to go: those that can, if nothing else does, and those
// that would still waste much of what they cost when the pods of the others have come.
func (x *search) leavers(ctx context.Context, waste float64) ([]string, error) {
	y := x.scratch()
	for _, look := range []func(context.Context, []rank) error{y.deleteMany, y.deleteEach} {
		if err := look(ctx, y.order()); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, m := range y.moves {
		out = append(out, m.Drain...)
	}
	order := y.order()
	for i := range order {
		if float64(order[i].loss) >= waste*float64(order[i].price) {
			out = append(out, order[i].name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// among are those of the nodes that may go and are still there, in order.
func (x *search) among(names []string) []rank {
	return slices.DeleteFunc(x.order(), func(r rank) bool {
		_, ok := slices.BinarySearch(names, r.name)
		return !ok
	})
}

// over reports whether there is no more time.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// past returns an error unless it is a deadline that has passed.
func past(ctx context.Context, err error) error {
	if err == nil {
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// take carries a move out in the search's own copy.
func (x *search) take(step *Step) error {
	if err := x.state.take(step); err != nil {
		return err
	}
	x.frame.took(step)
	x.moves = append(x.moves, step)
	return nil
}

// fork is a state of its own that stands where s does.
func (s *state) fork() *state {
	out := *s
	out.market, out.free = s.market.Fork(), s.free.Fork()
	out.nodes = make(map[string]*standing, len(s.nodes))
	for name, at := range s.nodes {
		own := *at
		own.pods = slices.Clone(at.pods)
		out.nodes[name] = &own
	}
	own := *s.stock
	out.gauge, out.stock = s.gauge.clone(), &own
	out.pods, out.waits, out.lifted, out.bought = maps.Clone(s.pods), maps.Clone(s.waits), maps.Clone(s.lifted), maps.Clone(s.bought)
	return &out
}

// clone is a frame of its own that knows the same.
func (f *frame) clone() *frame {
	out := *f
	out.pools, out.ordered = make(map[string]*poolState, len(f.pools)), nil
	for _, p := range f.ordered {
		own := *p
		out.pools[p.pool.Name] = &own
		out.ordered = append(out.ordered, &own)
	}
	out.subjects, out.at = make([]*subject, len(f.subjects)), make(map[string]*subject, len(f.at))
	for i, s := range f.subjects {
		own := *s
		if s.pool != nil {
			own.pool = out.pools[s.pool.pool.Name]
		}
		out.subjects[i], out.at[s.name] = &own, &own
	}
	out.pods, out.moved = maps.Clone(f.pods), maps.Clone(f.moved)
	return &out
}
