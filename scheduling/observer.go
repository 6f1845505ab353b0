package scheduling

import "github.com/plimsoll-go/plimsoll/offerings"

// Observer receives the progress of a plan while it is made, for logs, metrics and progress bars.
// The planning goroutine calls it and waits for it. Plans do not depend on it. A nil Observer costs
// no time.
type Observer func(Progress)

// Tell calls the observer, unless it is nil.
func (o Observer) Tell(p Progress) {
	if o != nil {
		o(p)
	}
}

// Progress is the state at the beginning of a phase, and at times within one. Later values may be
// worse in a field, because a search may restart.
type Progress struct {
	// Phase is the present phase.
	Phase Phase
	// Placed is the number of pods, virtual ones included, with a place in the plan that was found last; 0 before the
	// first. Package disruption leaves it 0.
	Placed int
	// Steps is the number of steps so far in a plan of package disruption.
	Steps int
	// PricePerHour is the price of the launches of the plan that was found last or, in package
	// disruption, of all nodes after the steps so far. Where the [Policy] has costs beside the
	// price of nodes, it is the expected price, as in the gap of a [Summary].
	PricePerHour offerings.Price
	// LowerBoundPerHour is the bound of the plan; 0 until it is known.
	LowerBoundPerHour offerings.Price
}

// Phase names a part of the work on a plan. Package disruption has further phases, named after its
// reasons.
type Phase string

// The phases, in their order.
const (
	PhaseSearch  Phase = "search"  // looks for a first plan
	PhaseImprove Phase = "improve" // looks for a cheaper one
	PhaseProve   Phase = "prove"   // looks for the lower bound; in disruption, by a rebuild from scratch
	PhaseFixes   Phase = "fixes"   // tries changes that would place the pods without a place
	PhaseDone    Phase = "done"    // has the plan and its summary
)
