package peer

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Peer is a planner that takes part in the comparison.
type Peer interface {
	// Name is the planner's name in tables.
	Name() string
	// Load translates a problem into the planner's own types. It is not timed, because a
	// controller holds its objects and its catalog before pods come in. The error names the
	// part of the problem that the planner cannot express.
	Load(p scheduling.Problem) (Run, error)
}

// Karpenter is the name of the planner that ours are compared with.
const Karpenter = "karpenter"

// Run is a planner that has its problem in hand. It is used once.
type Run interface {
	// Solve decides. It is timed and its allocations are counted. A deadline is no
	// error: the decisions made so far count.
	Solve(ctx context.Context) error
	// Outcome translates the decision back. It is not timed.
	Outcome() (Outcome, error)
}

// Outcome is the decision of a planner: machines with their pods.
type Outcome struct {
	// Machines are to be bought.
	Machines []Machine
	// Bound is a price below which no plan for the placed pods can be; 0 for
	// planners that prove none.
	Bound offerings.Price
	// Gap is by how much the planner says that its price is above Bound, 0.01 for one
	// per cent.
	Gap float64
	// Late says that the deadline ended the run.
	Late bool
	// Impossible describes machines of the decision that no offering matches, one line each.
	Impossible []string
}

// Machine is one machine to buy and the pods planned onto it.
type Machine struct {
	NodePool     string
	InstanceType string
	Offering     offerings.Offering
	// Labels are those that neither type nor offering decide, as far as the planner states them.
	Labels map[string]string
	Pods   []*corev1.Pod
}

// Price is the sum of the machines' prices per hour. It saturates.
func (o Outcome) Price() offerings.Price {
	var sum offerings.Price
	for _, m := range o.Machines {
		sum, _ = sum.Plus(m.Offering.Price)
	}
	return sum
}

// Placed is the number of pods that have a machine.
func (o Outcome) Placed() int {
	n := 0
	for _, m := range o.Machines {
		n += len(m.Pods)
	}
	return n
}
