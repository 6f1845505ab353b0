package launchplan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spotCheck judges how many pods of each SpotPolicy are on spot nodes.
type spotCheck struct {
	report  *rule.Report
	problem *scheduling.Problem
	plan    *scheduling.Plan
	bounds  []snapshot.SpotBound
}

// judge checks that no policy has more pods on spot nodes than it allows, or than run there already, and that the summary
// states the shares. A pod of a launch counts as on a spot node if any option is one.
func (c *spotCheck) judge() {
	running, after := c.running(), c.planned()
	stated := c.plan.Summary.SpotShares
	if len(stated) != len(c.bounds) {
		c.report.Add(rule.SummarySpotShares, "summary", "has the shares of %d SpotPolicies, there are %d", len(stated), len(c.bounds))
	}
	for i := range c.bounds {
		b := &c.bounds[i]
		before, spot, other := 0, 0, 0
		for pod := range b.Pods {
			if running[pod] == onSpot {
				before++
			}
			switch {
			case after[pod] == onSpot, after[pod] == pending && running[pod] == onSpot:
				spot++
			case after[pod] == onDemand, running[pod] == onDemand:
				other++
			}
		}
		if most := max(b.MaxSpot(), before); spot > most {
			c.report.Add(rule.SpotShare, "SpotPolicy/"+b.Policy, "has %d of %d pods on spot nodes, the limit is %d", spot, len(b.Pods), most)
		}
		if i >= len(stated) {
			continue
		}
		if s := &stated[i]; s.Policy != b.Policy || s.Pods != len(b.Pods) || s.MinOnDemand != b.MinOnDemand || s.Spot != spot || s.OnDemand != other {
			c.report.Add(rule.SummarySpotShares, "summary", "spotShares[%d] is of %s with %d pods, %d at least on demand, %d on demand and %d on spot nodes; want %s with %d, %d, %d and %d",
				i, s.Policy, s.Pods, s.MinOnDemand, s.OnDemand, s.Spot, b.Policy, len(b.Pods), b.MinOnDemand, other, spot)
		}
	}
}

// capacity is the kind of node that a pod is on.
type capacity int

const (
	pending capacity = iota
	onDemand
	onSpot
)

// running are the kinds of nodes of the running pods, by name.
func (c *spotCheck) running() map[string]capacity {
	out := make(map[string]capacity)
	for _, pod := range slices.Concat(c.problem.Running, c.problem.Pods) {
		if pod != nil && pod.Spec.NodeName != "" {
			out[snapshot.ObjectName(pod)] = c.kindOf(pod.Spec.NodeName)
		}
	}
	return out
}

// planned are the kinds of nodes of the pods that the plan places, by name.
func (c *spotCheck) planned() map[string]capacity {
	out := make(map[string]capacity)
	for i := range c.plan.Launches {
		l := &c.plan.Launches[i]
		kind := onDemand
		if slices.ContainsFunc(l.Options, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.Spot }) {
			kind = onSpot
		}
		for _, pod := range l.Pods {
			out[pod] = kind
		}
	}
	for _, a := range c.plan.Existing {
		for _, pod := range a.Pods {
			out[pod] = c.kindOf(a.Node)
		}
	}
	return out
}

// kindOf is the kind of an existing node.
func (c *spotCheck) kindOf(name string) capacity {
	i := slices.IndexFunc(c.problem.Nodes, func(n *corev1.Node) bool { return n != nil && n.Name == name })
	if i >= 0 && c.problem.Nodes[i].Labels[offerings.CapacityTypeLabel] == string(offerings.Spot) {
		return onSpot
	}
	return onDemand
}
