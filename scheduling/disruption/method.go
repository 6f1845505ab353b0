package disruption

import (
	"context"
	"slices"

	"github.com/samber/lo"
)

// method disrupts nodes for one reason, as a Method of Karpenter's disruption controller does.
type method interface {
	// candidates are the nodes that may be disrupted for the reason now, in the order in which they are considered. The
	// causes for which other nodes stay are noted in the run.
	candidates(r *run) []*candidate
	// disrupt makes the steps for candidates, as far as there are steps.
	disrupt(ctx context.Context, r *run, nodes []*candidate) error
}

// disruptBy makes the steps of methods, one after the other.
func (r *run) disruptBy(ctx context.Context, methods ...method) error {
	for _, m := range methods {
		if err := m.disrupt(ctx, r, m.candidates(r)); err != nil || r.done {
			return err
		}
	}
	return nil
}

// removable are the candidates for a reason that have taken in no pods of earlier steps, and the causes for which other
// nodes stay, by name.
func removable(f *state, reason Reason) (may []*candidate, not map[string]Cause) {
	may, not = candidatesFor(f, reason)
	return slices.DeleteFunc(may, func(s *candidate) bool { return s.receivedPods || s.launched }), not
}

// removable are the candidates for a reason. The causes for which other nodes stay are noted.
func (r *run) removable(reason Reason) []*candidate {
	may, not := removable(r.state, reason)
	for name, cause := range not {
		r.note(name, cause)
	}
	return may
}

// namesOf are the names of nodes.
func namesOf(list []*candidate) []string {
	return lo.Map(list, func(s *candidate, _ int) string { return s.name })
}
