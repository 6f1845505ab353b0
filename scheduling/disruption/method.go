package disruption

import (
	"context"

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

// namesOf are the names of nodes.
func namesOf(list []*candidate) []string {
	return lo.Map(list, func(s *candidate, _ int) string { return s.name })
}
