package scheduling

import "github.com/plimsoll-go/plimsoll/offerings"

// Observer is told how a plan comes about while it does, for logs, metrics and progress
// bars. The goroutine that plans calls it and waits for it. Plans do not depend on it.
// A nil Observer costs nothing.
type Observer func(Progress)

// Tell calls the observer, unless it is nil.
func (o Observer) Tell(p Progress) {
	if o != nil {
		o(p)
	}
}

// Progress is what there is as a phase begins, and at times within one. What is found later
// need not be better in every field: a search may be begun several times.
type Progress struct {
	// Phase is what is being done.
	Phase Phase
	// Placed is how many of the pods to be placed have a place in the plan that was found
	// last; 0 before the first. Package disruption leaves it 0.
	Placed int
	// Steps is how many steps a plan of package disruption has so far.
	Steps int
	// PricePerHour is what the launches of the plan that was found last cost or, in package
	// disruption, all nodes after the steps so far. As for the gap of a [Summary], it is the
	// expected price where the [Policy] tells of costs beside the machines.
	PricePerHour offerings.Price
	// LowerBoundPerHour is that of the plan; 0 until it is known.
	LowerBoundPerHour offerings.Price
}

// Phase names a part of the work on a plan. Package disruption also has phases with the names
// of its reasons, in which it looks for steps for them.
type Phase string

// The phases, in their order.
const (
	PhaseSearch  Phase = "search"  // looks for a first plan
	PhaseImprove Phase = "improve" // looks for a cheaper one
	PhaseProve   Phase = "prove"   // looks for the lower bound; in disruption, by buying all afresh
	PhaseFixes   Phase = "fixes"   // tries what would place the pods that have no place
	PhaseDone    Phase = "done"    // has the plan, as its summary states it
)
