package explainer

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
)

// Launch explains the launch of a name. The error is an [UnknownNameError], or says
// that its offering is not on sale.
func (x *Explainer) Launch(name string) (*explanation.LaunchExplanation, error) {
	i := slices.IndexFunc(x.plan.Launches, func(l scheduling.Launch) bool { return l.Name == name })
	if i < 0 {
		e := &explanation.UnknownNameError{Kind: "launch", Name: name}
		var all []string
		for i := range x.plan.Launches {
			all = append(all, x.plan.Launches[i].Name)
		}
		e.Near = explain.Near(name, all)
		return nil, e
	}
	l, m := &x.plan.Launches[i], &x.e.State.Machines[i]
	if m.Template < 0 {
		return nil, fmt.Errorf("launch %s: %w: no NodePool of the problem has its offering", name, scheduling.ErrInvalid)
	}
	out := &explanation.LaunchExplanation{
		Launch: name, NodePool: l.NodePool, Option: l.Options[0], Options: len(l.Options), Rooms: x.machineRooms(m),
		RunnersUp: []scheduling.LaunchOption{}, Cheaper: []explanation.RejectedOption{},
	}
	explain.SortRooms(out.Rooms)
	fullest := out.Rooms[0]
	out.Pods = x.podShares(x.named(l.Pods), fullest.Resource, fullest.Allocatable)
	out.Unforced = x.bindings.unforced(scheduling.Placement{Launch: l})
	explain.NewComparison(x.e, m).Run(out)
	return out, nil
}

// named returns the pods with the names.
func (x *Explainer) named(names []string) []*corev1.Pod {
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	var out []*corev1.Pod
	x.pods(func(name string, pod *corev1.Pod) {
		if want[name] {
			want[name] = false
			out = append(out, pod)
		}
	})
	return out
}

// machineRooms says how full a machine of the plan is.
func (x *Explainer) machineRooms(m *explain.PlannedNode) []explanation.Room {
	shape := &x.e.In.Offers.Shapes[x.e.In.Offers.Offers[m.Offer].Shape]
	daemons := make([]int64, len(x.e.In.Table.Names))
	for i, row := range x.e.In.Offered[m.Template].Daemons {
		if row.Has(m.Offer) {
			for d, q := range x.e.In.Daemons[i].Requests {
				daemons[d] += q
			}
		}
	}
	load := x.e.State.Load(m.Items)
	var out []explanation.Room
	for _, name := range x.e.In.Requestable() {
		d := x.e.In.Table.Index[name]
		if shape.Allocatable[d] == 0 && load[d] == 0 {
			continue
		}
		out = append(out, explanation.Room{
			Resource: string(name), Allocatable: shape.Allocatable[d], Daemons: daemons[d], Planned: load[d],
			Free: shape.Allocatable[d] - daemons[d] - load[d],
		})
	}
	return out
}
