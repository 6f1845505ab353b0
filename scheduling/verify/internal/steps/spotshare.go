package steps

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spotCheck judges after each step how many pods of each SpotPolicy are on spot nodes.
type spotCheck struct {
	cluster *clusterState
	bounds  []snapshot.SpotBound
	// counts are the numbers of pods of each policy on spot and on other nodes as they stand.
	counts []spotCount
}

// spotCount is how many pods of a policy are on spot and on other nodes.
type spotCount struct{ spot, other int }

// newSpotCheck counts the pods before the first step.
func newSpotCheck(g *clusterState, bounds []snapshot.SpotBound) *spotCheck {
	c := &spotCheck{cluster: g, bounds: bounds}
	c.counts = c.count()
	return c
}

// count counts the pods of each policy. A node that a step has launched is the first option of its launch.
func (c *spotCheck) count() []spotCount {
	out := make([]spotCount, len(c.bounds))
	for i := range c.bounds {
		for name := range c.bounds[i].Pods {
			pod := c.cluster.state.Running[name]
			if pod == nil {
				continue
			}
			at := c.cluster.nodes[pod.Spec.NodeName]
			if at != nil && at.node.Running.Labels[offerings.CapacityTypeLabel] == string(offerings.Spot) {
				out[i].spot++
			} else {
				out[i].other++
			}
		}
	}
	return out
}

// afterStep checks that no policy has more pods on spot nodes than it allows, unless there were as many before the step.
func (c *spotCheck) afterStep(report *rule.Report) {
	after := c.count()
	for i := range c.bounds {
		b := &c.bounds[i]
		if most := max(b.MaxSpot(), c.counts[i].spot); after[i].spot > most {
			report.Add(rule.SpotShare, "SpotPolicy/"+b.Policy, "has %d of %d pods on spot nodes, the limit is %d", after[i].spot, len(b.Pods), most)
		}
	}
	c.counts = after
}

// summary checks the shares that the summary states.
func (c *spotCheck) summary(report *rule.Report, stated []scheduling.SpotShare) {
	if len(stated) != len(c.bounds) {
		report.Add(rule.SummarySpotShares, "summary", "has the shares of %d SpotPolicies, there are %d", len(stated), len(c.bounds))
		return
	}
	for i := range stated {
		s, b, n := &stated[i], &c.bounds[i], c.counts[i]
		if s.Policy != b.Policy || s.Pods != len(b.Pods) || s.MinOnDemand != b.MinOnDemand || s.OnDemand != n.other || s.Spot != n.spot {
			report.Add(rule.SummarySpotShares, "summary", "spotShares[%d] is of %s with %d pods, %d at least on demand, %d on demand and %d on spot nodes; want %s with %d, %d, %d and %d",
				i, s.Policy, s.Pods, s.MinOnDemand, s.OnDemand, s.Spot, b.Policy, len(b.Pods), b.MinOnDemand, n.other, n.spot)
		}
	}
}
