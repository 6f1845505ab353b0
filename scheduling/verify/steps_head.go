package verify

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// reasons are those for which nodes are disrupted.
func reasons() []disruption.Reason {
	return []disruption.Reason{
		disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced,
	}
}

// forced reports whether nodes go for the reason whatever stands in the way.
func forced(r disruption.Reason) bool { return r == disruption.Interrupted || r == disruption.Expired }

// needed reports whether nodes go for the reason even where that saves nothing, saves whether
// they go in order to save.
func needed(r disruption.Reason) bool { return forced(r) || r == disruption.Drifted }
func saves(r disruption.Reason) bool  { return r == disruption.Empty || r == disruption.Underutilized }

// mayUndo reports whether the step may move on what another one has moved or bought: what had
// to be done at once can be bettered, and what was done to save cannot.
func (a *act) mayUndo(number int) bool {
	return saves(a.step.Reason) && needed(a.plan.Steps[number-1].Reason)
}

// head checks what the step says of itself, and notes its launches.
func (a *act) head() {
	step := a.step
	if len(step.Drain) == 0 && len(step.Evictions) == 0 {
		a.add(StepEmpty, "step", "drains no node and moves no pod")
	}
	if (step.Reason == disruption.Misplaced) != (len(step.Drain) == 0) {
		a.add(StepReason, "step", "the reason is %q, and %d nodes are drained", step.Reason, len(step.Drain))
	}
	if !a.meant(step.Reason) {
		a.add(StepReason, "step", "nodes are not to be disrupted for %q", step.Reason)
	}
	for i := range step.Launches {
		l := &step.Launches[i]
		switch {
		case a.nodes[l.Name] != nil || a.original[l.Name] != nil:
			a.add(LaunchName, launchName(l), "a node has the name")
		case a.bought[l.Name] != 0 && a.bought[l.Name] != a.number:
			a.add(LaunchName, launchName(l), "steps[%d] launches a machine of that name", a.bought[l.Name]-1)
		}
		a.bought[l.Name] = a.number
		if l.MinValuesRelaxed && step.Reason == disruption.Underutilized {
			a.add(MinValues, launchName(l), "relaxes minValues in order to save")
		}
	}
}

// meant reports whether the planner disrupts nodes for the reason.
func (g *ground) meant(r disruption.Reason) bool {
	p := &g.checker.Planner
	switch {
	case !slices.Contains(reasons(), r):
		return false
	case r == disruption.Misplaced:
		return p.Rebalance || slices.Contains(p.Reasons, r)
	}
	return len(p.Reasons) == 0 || slices.Contains(p.Reasons, r)
}

// launch is the step's launch of that name, nil if there is none.
func (a *act) launch(name string) *scheduling.Launch {
	for i := range a.step.Launches {
		if a.step.Launches[i].Name == name {
			return &a.step.Launches[i]
		}
	}
	return nil
}
