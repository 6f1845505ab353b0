package search

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// followersAlone counts, by engine class, the units with a pod that has to share a node with
// others, and that kube-scheduler's filters do not let onto its node, whatever has been bound
// before: those that it follows went elsewhere in the end, or come first elsewhere.
func followersAlone(d *decoder, machines []machine) map[model.ClassID]int64 {
	if d.planner == nil || !follows(d) {
		return nil
	}
	known := cluster.New(d.in)
	state, nodes := known.Begin(), make([]int32, len(d.solution.Bins), len(d.solution.Bins)+len(machines))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	for i := range machines {
		nodes = append(nodes, state.Join(known.Bought(d.sales.buys(&machines[i]))))
	}
	pods := placedPods(d, machines, func(*instance.Part) bool { return true })
	queue, to := make([]int32, len(pods)), make([]int32, len(pods))
	for i, p := range pods {
		queue[i], to[i] = int32(p.class), nodes[p.node]
	}
	out := map[model.ClassID]int64{}
	for i, turn := range state.PlaceAll(queue, to) {
		if p := &pods[i]; turn == 0 && len(d.planner.book.HostTargets(p.class)) > 0 {
			out[p.part]++
		}
	}
	inUnits(d, out)
	return out
}

// follows reports whether any pod has to share a node with others.
func follows(d *decoder) bool {
	for i := range d.in.Planned {
		if len(d.planner.book.HostTargets(i)) > 0 {
			return true
		}
	}
	return false
}
