package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Node explains what a node that is there receives, and what it does not. The error is
// an [UnknownNameError].
func (x *Explainer) Node(name string) (*NodeExplanation, error) {
	i := slices.IndexFunc(x.e.problem.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil, &UnknownNameError{Kind: "node", Name: name, Near: near(name, x.nodeNames())}
	}
	node := x.e.problem.Nodes[i]
	out := &NodeExplanation{
		Node: name, State: NodeReady, NodePool: node.Labels[NodePoolLabel], InstanceType: node.Labels[corev1.LabelInstanceTypeStable],
		Zone: node.Labels[offerings.ZoneLabel], CapacityType: node.Labels[CapacityTypeLabel],
		Taints: x.e.effectiveTaints(node, x.e.poolNamed(node.Labels[NodePoolLabel])), Planned: []PodShare{}, Running: []PodShare{},
	}
	switch {
	case going(node):
		out.State = NodeGoing
	case inFlight(node):
		out.State = NodeInFlight
	}
	running := x.e.cluster.host(name).pods
	bin := slices.IndexFunc(x.e.nodes, func(n *existingNode) bool { return n.node == node })
	out.Rooms = x.nodeRooms(node, bin, running)
	sortRooms(out.Rooms)
	fullest := Room{}
	if len(out.Rooms) > 0 {
		fullest = out.Rooms[0]
	}
	for _, a := range x.plan.Existing {
		if a.Node == name {
			out.Planned = x.podShares(x.named(a.Pods), fullest.Resource, fullest.Allocatable)
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
	for _, n := range x.e.problem.Nodes {
		all = append(all, n.Name)
	}
	return all
}

// nodeRooms says how full a node is, of all that pods which wait or run there, or
// daemons, ask for; bin is -1 for those that receive nothing.
func (x *Explainer) nodeRooms(node *corev1.Node, bin int, running []*corev1.Pod) []Room {
	table := x.e.table
	used := corev1.ResourceList{}
	for _, pod := range running {
		for name, q := range x.requests(pod) {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
	}
	names := x.e.requestable()
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	allocatable := x.e.nodeAllocatable(node)
	var planned []int64
	if bin >= 0 {
		planned = x.e.load(x.e.bins[bin].items)
	}
	var out []Room
	for _, name := range names {
		r := Room{Resource: string(name), Allocatable: amount(name, allocatable[name]), Running: amount(name, used[name])}
		if r.Allocatable == 0 && r.Running == 0 {
			continue
		}
		r.Free = max(0, r.Allocatable-r.Running)
		if d, ok := table.index[name]; ok && bin >= 0 {
			r.Planned, r.Free = planned[d], x.e.left[bin][d]
		}
		r.Daemons = max(0, r.Allocatable-r.Running-r.Planned-r.Free)
		out = append(out, r)
	}
	return out
}

// refusedBy lists the pods without a place, with why a node does not take them.
func (x *Explainer) refusedBy(bin int) []Refusal {
	var out []Refusal
	for id, class := range x.e.planned {
		pods := x.e.unplaced(id)
		if len(pods) == 0 {
			continue
		}
		r, b := x.e.nodeReason(class, id, bin)
		if b.kind != noBar {
			r = Reason{Code: b.tie.code(), Detail: x.e.tied.detail(b, namespaceOf(class.pods[0]), "")}
		}
		r.Count = 1
		names := make([]string, 0, len(pods))
		for _, pod := range pods {
			names = append(names, podName(pod))
		}
		if i := slices.IndexFunc(out, func(have Refusal) bool { return have.Reason == r }); i >= 0 {
			out[i].Pods = append(out[i].Pods, names...)
			slices.Sort(out[i].Pods)
			continue
		}
		out = append(out, Refusal{Pods: names, Reason: r})
	}
	return out
}
