package disruption

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// walk is the way to a cluster that is known, where pods' places depend on where others are:
// nodes leave one by one, or as few together as may be. Which places there are to be taken
// is known, and which of them a pod takes is only told when its turn comes: pods that are
// alike may have each other's, and rules look at the cluster as it stands then.
type walk struct {
	frame    *frame
	state    *state
	stage    *stage
	*seating // with the places that are still to be taken
	// waits are the nodes that are still to go, those that save most for what they disrupt first.
	waits []*leaver
	// along are those that others take with them if they can.
	along  []string
	bought map[string]bool // of the launches
	last   []string        // what was bought last
}

// newWalk begins a walk to where a step leads.
func (c *carrier) newWalk(step *Step, first []string) *walk {
	w := &walk{frame: c.frame, state: c.state, stage: newStage(c.frame, step), bought: map[string]bool{}}
	for i := range step.Launches {
		w.stage.stand(step.Launches[i].Name, -1)
	}
	kinds := kinds{}
	w.seating, w.waits = c.seatingOf(step, func(pod *corev1.Pod) string { return kinds.of(pod, w.stature) })
	turn := func(l *leaver) int {
		if i := slices.Index(first, l.name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(w.waits, func(a, b *leaver) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(ratio(b.price, b.cost), ratio(a.price, a.cost)))
	})
	return w
}

const (
	// mostWalks is how often a walk is tried: nodes that were left the last time go first.
	mostWalks = 3
	// walkFrom is the number of nodes up to which there is no walk: in clusters as small as that
	// the search tries every step as it would be done, which takes no time and leaves nothing out.
	walkFrom = 20
)

// walkable reports whether a walk knows of all that may stand in its way.
func (c *carrier) walkable() bool {
	return c.state.tied() && c.frame.ruled() && !slices.ContainsFunc(c.frame.ordered, func(p *poolState) bool { return len(p.pool.Spec.Limits) > 0 })
}

// walkTo tries the way to where a step leads so often, and returns the try that ends cheapest, and
// whether nodes are left that should have gone. A try after mostWalks is the best one once more,
// where others take along what it has left.
func (c *carrier) walkTo(ctx context.Context, step *Step, tries int) (best *carrier, left bool, err error) {
	var first, order, rest, along []string
	for n := range tries {
		if n >= mostWalks {
			first, along = order, rest
		}
		t := c.trial()
		stay, err := t.walk(ctx, step, first, along)
		if err != nil {
			return nil, false, err
		}
		if best == nil || t.price() < best.price() {
			best, order, rest = t, first, stay
		}
		if len(stay) == 0 || over(ctx) {
			break
		}
		first = append(stay, first...)
	}
	return best, len(rest) > 0, nil
}

// walk carries out what leads to where a step leads, as far as it gets, and returns the nodes
// that stay. Some nodes may be told that find their way before the others, and some that others
// take along.
func (c *carrier) walk(ctx context.Context, step *Step, first, along []string) (stay []string, err error) {
	w := c.newWalk(step, first)
	w.along = along
	c.state.hold()
	defer func() {
		if told := c.state.release(); err == nil {
			err = told
		}
	}()
	for all := true; len(w.waits) > 0 && !c.done && !over(ctx); {
		went, err := c.singly(ctx, w, all)
		if err != nil {
			return nil, err
		}
		if c.done || over(ctx) {
			break
		}
		final := w.together()
		switch {
		case final != nil:
			if err := c.do(final); err != nil {
				return nil, err
			}
			all = len(c.state.original) < manyNodes
		case all && !went:
			return namesOf(w.waits), nil
		default:
			all = true
		}
	}
	return namesOf(w.waits), nil
}

// singly lets nodes go for which nothing has to be bought, one after the other: all that can,
// or those that may have places on what was bought last.
func (c *carrier) singly(ctx context.Context, w *walk, all bool) (went bool, err error) {
	for i := 0; i < len(w.waits) && !c.done && !over(ctx); {
		var final *Step
		if all || w.hopes(w.waits[i]) {
			final = w.alone(w.waits[i])
		}
		if final == nil {
			i++
			continue
		}
		if err := c.do(final); err != nil {
			return went, err
		}
		went = true
	}
	return went, nil
}

// hopes reports whether what was bought last has places for pods of a node.
func (w *walk) hopes(l *leaver) bool {
	return slices.ContainsFunc(l.kinds, func(kind string) bool {
		return slices.ContainsFunc(w.last, func(name string) bool { return w.places[kind][name] > 0 })
	})
}

// stature is the same for pods that may have each other's places: they ask for the same, the
// same holds them, and rules see the same of them. Pods with something of their own are like
// none.
func (w *walk) stature(pod *corev1.Pod) string {
	brand := ""
	if len(w.stage.pods[podName(pod)].seen) > 0 || tied(pod) {
		brand = brandKey(pod)
	}
	return likeness(pod, pod.Spec.TopologySpreadConstraints, brand, pod.Spec.Priority)
}
