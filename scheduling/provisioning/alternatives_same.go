package provisioning

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// samePlan reports whether two plans launch nodes by the same first options and place the same pods on them. Further
// options of launches may differ.
func samePlan(a, b *scheduling.Plan) bool {
	if len(a.Launches) != len(b.Launches) || len(a.Unschedulable) != len(b.Unschedulable) {
		return false
	}
	for i := range a.Launches {
		x, y := &a.Launches[i], &b.Launches[i]
		if x.NodePool != y.NodePool || x.Options[0].Key() != y.Options[0].Key() || !slices.Equal(x.Pods, y.Pods) {
			return false
		}
	}
	for i := range a.Unschedulable {
		if a.Unschedulable[i].Pod != b.Unschedulable[i].Pod {
			return false
		}
	}
	return slices.EqualFunc(a.Existing, b.Existing, func(x, y scheduling.Assignment) bool {
		return x.Node == y.Node && slices.Equal(x.Pods, y.Pods)
	})
}

// spotLaunches counts the spot machines that a plan buys.
func spotLaunches(plan *scheduling.Plan) int {
	n := 0
	for i := range plan.Launches {
		if plan.Launches[i].Options[0].CapacityType == offerings.Spot {
			n++
		}
	}
	return n
}

// interruptions are how many of a plan's launches are expected to be interrupted in a
// month, and how many spot launches state no rate.
func interruptions(plan *scheduling.Plan) (perMonth float64, unrated int) {
	const million = 1e6
	parts := 0.0 // whole ones per million, so that the sum has no rounding of its own
	for i := range plan.Launches {
		o := &plan.Launches[i].Options[0]
		parts += math.Round(o.InterruptionRate * million)
		if o.CapacityType == offerings.Spot && o.InterruptionRate == 0 {
			unrated++
		}
	}
	return parts / million, unrated
}

// joined lists goals for an error message.
func joined(goals []Goal) string {
	texts := make([]string, len(goals))
	for i, g := range goals {
		texts[i] = string(g)
	}
	return strings.Join(texts, ", ")
}
