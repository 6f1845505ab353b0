package launchplan

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// nominationCheck judges the pods that are nominated to a node.
type nominationCheck struct {
	report   *rule.Report
	state    *snapshot.State
	plan     *scheduling.Plan
	topology *binding.Topology
	// kept are the names of the pods that stay where they are nominated, staying these with their nodes.
	kept    map[string]bool
	staying []binding.Pending
}

// nominatedTo returns the node that the pod is nominated to, "" for none.
func (c *nominationCheck) nominatedTo(t *snapshot.Pod) string {
	if node, ok := snapshot.Promised(&c.state.Problem, t.Object); ok {
		return node
	}
	return t.Object.Status.NominatedNodeName
}

// judge checks the nominated pods. Those that the plan leaves on their nodes bind first, because the machines of the
// plan come later than these nodes, and count as running for all others. For the rest the node must be gone or
// leaving, or unable to hold the pod beside running pods, pods that stay, and pods of higher priority.
func (c *nominationCheck) judge() {
	where := make(map[string]string)
	for _, a := range c.plan.Existing {
		for _, pod := range a.Pods {
			where[pod] = a.Node
		}
	}
	users := c.state.ClaimUsers()
	unsettled := func(m snapshot.Mount) bool { return len(m.Offers) > 0 || m.Zonal && users[m.Claim] > 1 }
	var stay []binding.Pending
	for _, t := range c.state.SortedPods() {
		node := c.nominatedTo(t)
		if n := c.topology.Named[node]; n != nil && node == where[t.Name] && !slices.ContainsFunc(t.Mounts, unsettled) {
			stay = append(stay, binding.Pending{Pod: t, Node: n})
		}
	}
	slices.SortFunc(stay, func(a, b binding.Pending) int { // as kube-scheduler's queue has it
		return cmp.Or(cmp.Compare(b.Pod.Priority(), a.Pod.Priority()), a.Pod.Object.CreationTimestamp.Compare(b.Pod.Object.CreationTimestamp.Time), binding.ByBindingOrder(a, b))
	})
	waits := make(map[string]bool)
	for _, b := range c.topology.Bind(stay).Waiting {
		waits[b.Pod.Name] = true // it is planned like any other
	}
	c.kept = make(map[string]bool)
	for _, b := range stay {
		if !waits[b.Pod.Name] {
			c.kept[b.Pod.Name], c.staying = true, append(c.staying, b)
		}
	}
	for _, t := range c.state.SortedPods() {
		if node := c.nominatedTo(t); node != "" && node != where[t.Name] && c.couldStay(t, c.state.Nodes[node]) {
			c.report.Add(rule.NominationIgnored, "pod/"+t.Name, "is nominated to node %s, has room there, and is planned elsewhere", node)
		}
	}
}

// withSuccessors returns the problem in which running pods that are to move run on their next node, too.
func withSuccessors(p scheduling.Problem) scheduling.Problem {
	for _, pod := range slices.Concat(p.Running, p.Pods) {
		if pod == nil || pod.Spec.NodeName == "" || snapshot.Finished(pod) {
			continue
		}
		if node, ok := snapshot.Promised(&p, pod); ok && node != "" && node != pod.Spec.NodeName {
			next := *pod
			next.Name += " (successor)"
			next.Spec.NodeName = node
			p.Running = append(slices.Clip(p.Running), &next)
		}
	}
	return p
}

// couldStay reports whether the pod could be on the node beside the pods that stay where they are nominated, with the
// pods of higher priority and without them.
func (c *nominationCheck) couldStay(t *snapshot.Pod, n *snapshot.Node) bool {
	if n == nil || n.Leaves() || t.IsHeld() || slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool { return m.Exclusive || m.Zonal || len(m.Offers) > 0 }) {
		return false
	}
	full, at := n.Copied(), c.topology.Named[n.Name]
	fits := func() bool {
		_, found := c.topology.Bind(nil, t).GroupOf(t).Obstacle(at)
		return !found && full.Admits(t, snapshot.AllFilters)
	}
	var urgent []binding.Pending
	for _, a := range c.plan.Existing {
		for _, other := range c.state.PodsNamed(a.Pods) {
			switch {
			case !c.kept[other.Name]:
				if other.Priority() > t.Priority() {
					urgent = append(urgent, binding.Pending{Pod: other, Node: c.topology.Named[a.Node]})
				}
			case a.Node == n.Name:
				full.Hold(other.Requests, other.Ports, other.Mounts)
			}
		}
	}
	if !fits() {
		return false
	}
	put := func(pods int) {
		for _, b := range urgent {
			c.topology.Add(c.topology.GroupOf(b.Pod), b.Node, pods)
		}
	}
	put(1)
	defer put(-1)
	for _, b := range urgent {
		if b.Node == at {
			full.Hold(b.Pod.Requests, b.Pod.Ports, b.Pod.Mounts)
		}
	}
	return fits()
}

// asPromised returns the problem in which the pods that stay where they are nominated run there, because the lower
// bound is about plans that leave them there.
func (c *nominationCheck) asPromised() scheduling.Problem {
	p := c.state.Problem
	p.Pods = slices.Clone(p.Pods)
	for i, pod := range p.Pods {
		if pod != nil && c.kept[snapshot.ObjectName(pod)] {
			bound := *pod
			bound.Spec.NodeName = c.nominatedTo(c.state.Pods[snapshot.ObjectName(pod)])
			p.Pods[i] = &bound
		}
	}
	return p
}
