package explainer

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Node explains which pods an existing node receives, and why it does not receive the pods without a place. The error is an [UnknownNameError].
func (x *Explainer) Node(name string) (*explanation.NodeExplanation, error) {
	i := slices.IndexFunc(x.e.In.Facts.Problem.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil, &explanation.UnknownNameError{Kind: "node", Name: name, Near: explain.Near(name, x.nodeNames())}
	}
	node := x.e.In.Facts.Problem.Nodes[i]
	out := &explanation.NodeExplanation{
		Node: name, State: explanation.NodeReady, NodePool: node.Labels[scheduling.NodePoolLabel], InstanceType: node.Labels[corev1.LabelInstanceTypeStable],
		Zone: node.Labels[offerings.ZoneLabel], CapacityType: node.Labels[offerings.CapacityTypeLabel],
		Taints: instance.EffectiveTaints(node, x.e.In.PoolNamed(node.Labels[scheduling.NodePoolLabel])), Planned: []explanation.PodShare{}, Running: []explanation.PodShare{},
	}
	switch {
	case podspec.Going(node):
		out.State = explanation.NodeBeingRemoved
	case instance.InFlight(node):
		out.State = explanation.NodeInFlight
	}
	running := x.e.In.Facts.Cluster.Host(name).Pods
	bin := slices.IndexFunc(x.e.In.Nodes, func(n *instance.ExistingNode) bool { return n.Node == node })
	out.Rooms = x.nodeRooms(node, bin, running)
	explain.SortRooms(out.Rooms)
	fullest := explanation.Room{}
	if len(out.Rooms) > 0 {
		fullest = out.Rooms[0]
	}
	for _, a := range x.plan.Existing {
		if a.Node == name {
			out.Planned = x.podShares(x.named(a.Pods), fullest.Resource, fullest.Allocatable)
			out.Unforced = x.bindings.unforced(scheduling.Placement{Node: name})
		}
	}
	out.Running = x.podShares(running, fullest.Resource, fullest.Allocatable)
	if bin >= 0 {
		out.Refused = x.refusedBy(bin)
	}
	return out, nil
}

// nodeNames lists the nodes that are there.
func (x *Explainer) nodeNames() []string {
	var all []string
	for _, n := range x.e.In.Facts.Problem.Nodes {
		all = append(all, n.Name)
	}
	return all
}

// nodeRooms returns by resource how much of a node the running pods, the pods that it receives and the DaemonSets
// request; bin is -1 for nodes that receive no pods.
func (x *Explainer) nodeRooms(node *corev1.Node, bin int, running []*corev1.Pod) []explanation.Room {
	table := x.e.In.Table
	used := corev1.ResourceList{}
	for _, pod := range running {
		for name, q := range x.requests(pod) {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
	}
	names := x.e.In.Requestable()
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	allocatable := instance.NodeAllocatable(x.e.In.Facts.Problem, node)
	var planned []int64
	if bin >= 0 {
		planned = x.e.State.Load(x.e.State.Bins[bin].Items)
	}
	var out []explanation.Room
	for _, name := range names {
		r := explanation.Room{Resource: string(name), Allocatable: podspec.Amount(name, allocatable[name]), Running: podspec.Amount(name, used[name])}
		if r.Allocatable == 0 && r.Running == 0 {
			continue
		}
		r.Free = max(0, r.Allocatable-r.Running)
		if d, ok := table.Index[name]; ok && bin >= 0 {
			r.Planned, r.Free = planned[d], x.e.State.Left[bin][d]
		}
		r.Daemons = max(0, r.Allocatable-r.Running-r.Planned-r.Free)
		out = append(out, r)
	}
	return out
}

// refusedBy lists the pods without a place, each with the reason why a node does not take it.
func (x *Explainer) refusedBy(bin int) []explanation.Refusal {
	var out []explanation.Refusal
	for id := range x.e.In.Planned {
		pods := x.e.State.Unplaced(id)
		if len(pods) == 0 {
			continue
		}
		r := x.e.NodeReason(id, bin)
		r.Count = 1
		names := make([]string, 0, len(pods))
		for _, pod := range pods {
			names = append(names, podspec.PodName(pod))
		}
		if i := slices.IndexFunc(out, func(have explanation.Refusal) bool { return have.Reason == r }); i >= 0 {
			out[i].Pods = append(out[i].Pods, names...)
			slices.Sort(out[i].Pods)
			continue
		}
		out = append(out, explanation.Refusal{Pods: names, Reason: r})
	}
	return out
}
