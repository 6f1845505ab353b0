package explainer

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Pod explains the place of a pod, or the reasons why it has none. The name is namespace/name, or the pod's name alone
// if it is in one namespace only. The error is an [UnknownNameError].
func (x *Explainer) Pod(name string) (*explanation.PodExplanation, error) {
	pod, err := x.findPod(name)
	if err != nil {
		return nil, err
	}
	full := podspec.PodName(pod)
	out := &explanation.PodExplanation{Pod: full, Status: explanation.PodIgnored, Requests: x.requests(pod), Priority: podspec.PriorityOf(pod)}
	id, planned := x.e.State.ClassOf[full]
	for other, at := range x.plan.Placements() {
		if other != podspec.PodKey(pod) {
			continue
		}
		if out.Status, out.Place = explanation.PodExisting, at.Name(); at.Launch != nil {
			out.Status, out.Option = explanation.PodLaunch, &at.Launch.Options[0]
		}
	}
	for i := range x.plan.Unschedulable {
		if u := &x.plan.Unschedulable[i]; u.Pod == full {
			out.Status, out.RuledOut, out.Changes = explanation.PodUnschedulable, slices.Clone(u.Reasons), explain.CopyChanges(u.Changes)
			if planned {
				out.TopologyTerms = x.e.Terms(id)
			}
			return out, nil
		}
	}
	switch {
	case planned && out.Status != explanation.PodIgnored:
		x.alternatives(out, id)
		out.AfterScheduling = x.bindings.realised(pod)
	case pod.Spec.NodeName != "" && !lifecycle.Ended(pod):
		out.Status, out.Place = explanation.PodRunning, pod.Spec.NodeName
	}
	return out, nil
}

// alternatives lists other places for a pod with a place, beside all other pods of the plan.
func (x *Explainer) alternatives(out *explanation.PodExplanation, id int) {
	e := explain.NewAlternatives(x.e.In, x.plan, out.Pod)
	out.TopologyTerms = e.Terms(id)
	out.RuledOut = e.Reasons(id)
	nodes, launches := 0, 0
	for i, n := range e.In.Nodes {
		if n.Node.Name == out.Place || nodes == explain.MostPlaces || !e.NodeTakes(id, i) {
			continue
		}
		nodes++
		out.Next = append(out.Next, explanation.Place{Node: n.Node.Name})
	}
	for i := range e.State.Machines {
		l := &x.plan.Launches[i]
		if l.Name == out.Place || launches == explain.MostPlaces || !e.MachineHolds(id, i) {
			continue
		}
		launches++
		out.Next = append(out.Next, explanation.Place{Launch: l.Name, NodePool: l.NodePool})
	}
	if own, ok := e.Cheapest(id); ok {
		o := e.In.Offers.Offers[own.Offer].Option()
		out.Next = append(out.Next, explanation.Place{Option: &o, NodePool: e.In.Templates[own.Template].Pool.Name})
	}
}
