package disruption

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// manyNodes is how many nodes a cluster has to have to be searched less thoroughly.
const manyNodes = 1_000

const (
	// earlyNodes is how many nodes a cluster has to have for the first steps to be certain before
	// the search is through: below, the search takes no time worth mentioning.
	earlyNodes = 60
	// earlySteps is how many nodes are drained before the search, in clusters of manyNodes and
	// more; in smaller ones it is as much less, as each of these steps takes something from what
	// the search may choose from.
	earlySteps = 16
)

// early drains the few nodes that save most for what they disrupt, into the fuller half of
// the others, which are the least likely to go. Where pods depend on each other, or the
// cluster is small, all steps wait for the search.
func (r *run) early(ctx context.Context) error {
	s, f := r.state, r.frame
	if r.done || len(s.nodes) < earlyNodes || s.tied() || !f.meant(Underutilized) {
		return nil
	}
	most := max(1, earlySteps*min(len(s.nodes), manyNodes)/manyNodes)
	may, _ := f.candidates(Underutilized)
	may = slices.DeleteFunc(may, func(at *subject) bool {
		return s.nodes[at.name] == nil || s.expects(at.name) || at.received || at.fresh || f.dismisses(at.name) != nil
	})
	slices.SortFunc(may, func(a, b *subject) int {
		return cmp.Or(cmp.Compare(ratio(b.price, b.cost), ratio(a.price, a.cost)), cmp.Compare(a.name, b.name))
	})
	rooms := s.open(nil)
	order := make([]int, len(rooms.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rooms.left[b], rooms.left[a]) })
	q := &question{effort: scheduling.EffortFast}
	roomy := map[string]bool{}
	for _, i := range order[:len(order)/2] {
		q.closed, roomy[rooms.names[i]] = append(q.closed, rooms.names[i]), true
	}
	for _, at := range may {
		if len(q.nodes) < most && roomy[at.name] {
			q.nodes = append(q.nodes, at.name)
		}
	}
	if len(q.nodes) == 0 {
		return nil
	}
	o, err := s.ask(ctx, q)
	if err != nil {
		return err
	}
	for _, single := range o.each() {
		step, cause := f.admit(Underutilized, single)
		if cause != nil {
			continue
		}
		if err := s.take(step); err != nil {
			return err
		}
		if !r.emit(step) {
			break
		}
	}
	return nil
}

// each is what becomes of each node of an outcome without launches for itself.
func (o *outcome) each() []*outcome {
	of, lost := map[string][]Eviction{}, map[string][]scheduling.Unschedulable{}
	for _, e := range o.evictions {
		of[e.From] = append(of[e.From], e)
	}
	for _, u := range o.stuck {
		lost[o.origin[u.Pod]] = append(lost[o.origin[u.Pod]], u)
	}
	out := make([]*outcome, len(o.nodes))
	for i, name := range o.nodes {
		out[i] = &outcome{nodes: []string{name}, evictions: of[name], stuck: lost[name]}
	}
	return out
}
