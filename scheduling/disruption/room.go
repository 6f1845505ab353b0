package disruption

import (
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// withRoom is the problem in which virtual pods run on nodes; without any it is p itself.
func withRoom(p *scheduling.Problem, room []scheduling.Assignment) *scheduling.Problem {
	if len(room) == 0 {
		return p
	}
	at := map[string]string{}
	for _, a := range room {
		for _, pod := range a.Pods {
			at[pod] = a.Node
		}
	}
	out := *p
	out.Pods, out.Running = nil, slices.Clone(p.Running)
	for _, pod := range p.Pods {
		if node := at[scheduling.PodName(pod)]; node != "" && scheduling.IsVirtual(pod) && podspec.Pending(pod) {
			out.Running = append(out.Running, scheduling.Successor(pod, node))
		} else {
			out.Pods = append(out.Pods, pod)
		}
	}
	return &out
}

// keepRoom lets the virtual pods that have room on nodes run there from now on, and returns them: they move with steps as real pods
// do, because a nomination would hold the node for ever.
func keepRoom(f *state, places []scheduling.Assignment) (kept []*corev1.Pod) {
	for _, a := range places {
		s := f.byName[a.Node]
		pods := lo.Filter(a.Pods, func(name string, _ int) bool { return scheduling.IsVirtual(f.awaitingLaunch[name]) })
		if len(pods) == 0 {
			continue
		}
		f.countInPool(s, -1)
		for _, name := range pods {
			pod := scheduling.Successor(f.awaitingLaunch[name], a.Node)
			s.pods, kept, f.pods[name] = append(s.pods, pod), append(kept, pod), pod
			delete(f.awaitingLaunch, name)
		}
		f.update(s)
		f.countInPool(s, 1)
	}
	f.room = roomKept(f)
	if len(kept) > 0 {
		f.disruptable = f.nodesWhere(f.rules.mayDisrupt) // a node with room is not empty
	}
	return kept
}

// roomKept are the virtual pods on nodes, in the order of nodes and pods; nil for none.
func roomKept(f *state) (out []scheduling.Assignment) {
	for _, s := range f.nodes {
		pods := lo.FilterMap(s.pods, func(pod *corev1.Pod, _ int) (string, bool) { return podspec.PodName(pod), scheduling.IsVirtual(pod) })
		if len(pods) > 0 && !s.removed {
			out = append(out, scheduling.Assignment{Node: s.name, Pods: pods})
		}
	}
	return out
}
