package launchplan

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// nodeCheck judges the running nodes that receive pods.
type nodeCheck struct {
	report *rule.Report
	state  *snapshot.State
	plan   *scheduling.Plan
	bounds []snapshot.SpotBound
	// filled are the nodes that receive pods, with these, by name.
	filled map[string]*snapshot.Node
}

// existing checks the nodes that receive pods, and charges the pods to them.
func (c *nodeCheck) existing() {
	listed := make(map[string]bool)
	for i := range c.plan.Existing {
		a := &c.plan.Existing[i]
		object := "node/" + a.Node
		if listed[a.Node] {
			c.report.Add(rule.NodeDuplicated, object, "is listed twice")
		}
		listed[a.Node] = true
		if len(a.Pods) == 0 {
			c.report.Add(rule.NodeEmpty, object, "is listed and receives no pods")
		}
		n := c.after(a.Node)
		if n == nil {
			c.report.Add(rule.NodeUnknown, object, "is not in the problem")
			continue
		}
		if n.Leaves() {
			c.report.Add(rule.NodeLeaving, object, "is being removed")
		}
		if c.filled[a.Node] == nil {
			n = n.Copied()
			c.filled[a.Node] = n
		}
		place(c.report, object, n, c.state.PodsNamed(a.Pods), c.bounds)
	}
}

// after returns a running node with the pods that the plan adds, nil for none.
func (c *nodeCheck) after(name string) *snapshot.Node {
	if n := c.filled[name]; n != nil {
		return n
	}
	return c.state.Nodes[name]
}

// place checks that all of the pods can be on the node, and adds them to it. Their requests are compared added up, so
// that an overfull node is reported once and not for each pod. A pod that a SpotPolicy of the bounds keeps off spot nodes has a
// node affinity that its author does not know, so that the policy is named in its place.
func place(report *rule.Report, object string, n *snapshot.Node, pods []*snapshot.Pod, bounds []snapshot.SpotBound) {
	need, free := snapshot.Amounts{}, n.Free.Clone()
	for _, t := range pods {
		for refusal := range n.Refusals(t, snapshot.AllFilters&^snapshot.NodeResources) {
			if b := snapshot.KeepsOffSpot(bounds, t.Name, n); b != nil && refusal.Filter == snapshot.NodeAffinity {
				report.Add(rule.SpotPolicy, object, "pod %s: %s of SpotPolicy %s keeps it off spot nodes", t.Name, b.Field, b.Policy)
				continue
			}
			report.Add(filterCode(refusal.Filter), object, "pod %s: %s", t.Name, refusal)
		}
		n.Hold(t.Requests, t.Ports, t.Mounts)
		need.Add(t.Requests)
	}
	for _, name := range snapshot.Exceeding(need, free) {
		report.Add(rule.Resources, object, "%s: pods request %v, %v is free", name, need.Of(name), free.Of(name))
	}
}

// filterCode returns the code of a violation of the filter.
func filterCode(f snapshot.Filter) string {
	switch f {
	case snapshot.NodeAffinity:
		return rule.NodeAffinity
	case snapshot.TaintToleration:
		return rule.Taints
	case snapshot.NodePorts:
		return rule.HostPorts
	case snapshot.VolumeBinding:
		return rule.Volume
	case snapshot.NodeVolumeLimits:
		return rule.AttachLimit
	}
	return rule.Resources
}
