package steps

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
)

// keepDomains makes the spread constraints of the pods that move count the domains of the nodes that the step removes, where
// a pool could launch a machine for the pod there, as Karpenter does. kube-scheduler counts only domains that have nodes, so
// that pods which are spread over two zones would be moved into one. It does nothing where kube-scheduler binds the pods of
// nodes that have to go, nor where the plan warns of each interrupted node that limits or pending pods leave no other place.
// The function that it returns undoes it.
func (a *stepCheck) keepDomains(places *launchplan.Audit) (end func()) {
	if a.asBound() || a.step.Reason == disruption.Interrupted && a.warned() {
		return func() {}
	}
	var ends []func()
	for _, s := range a.going {
		for _, b := range places.Bookings() {
			ends = append(ends, a.cluster.topology.Keep(a.cluster.topology.GroupOf(b.Pod), s.node, func(key, value string) bool { return places.CouldLaunch(b.Pod.Within(key, value)) }))
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// asBound reports whether the step's nodes have to go, and kube-scheduler binds their pods as it likes.
func (a *stepCheck) asBound() bool {
	return forced(a.step.Reason) && a.cluster.state.Policy.Placement == scheduling.PlacementFree
}

// warned reports whether the plan warns of all nodes that the step removes.
func (a *stepCheck) warned() bool {
	return !slices.ContainsFunc(a.step.Drain, func(node string) bool {
		return !slices.ContainsFunc(a.cluster.plan.Warnings, func(w scheduling.Warning) bool { return w.Object == "node/"+node })
	})
}
