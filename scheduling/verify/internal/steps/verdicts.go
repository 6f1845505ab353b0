package steps

import (
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/sums"
)

// causes returns the codes of the causes for which nodes stay.
func causes() []disruption.CauseCode {
	return []disruption.CauseCode{
		disruption.CauseNoNodePool, disruption.CauseNoTypes, disruption.CauseNotReady, disruption.CauseBeingRemoved, disruption.CauseNominated,
		disruption.CauseDoNotDisrupt, disruption.CauseUnmanagedPod, disruption.CauseBudget, disruption.CausePoolBudget, disruption.CausePolicy, disruption.CauseTooSoon,
		disruption.CauseStatic, disruption.CauseMinNodes, disruption.CauseUnknownPrice, disruption.CauseReasonNotSelected,
		disruption.CauseNoPlace, disruption.CauseNoSaving, disruption.CauseSmallSaving, disruption.CauseScore, disruption.CauseFewSpotTypes,
		disruption.CauseMinValues, disruption.CauseNeededForPods, disruption.CauseDeadline, disruption.CauseStepsLimit,
	}
}

// planCheck judges a plan's statements about all of its nodes and steps, once the steps are done.
type planCheck struct {
	cluster *clusterState
	report  *rule.Report
	plan    *disruption.ConsolidationPlan
}

// verdicts checks that each node has one verdict, and the right one.
func (c *planCheck) verdicts() {
	seen := make(map[string]bool)
	for i := range c.plan.Nodes {
		v := &c.plan.Nodes[i]
		object := "node/" + v.Node
		node := c.cluster.original[v.Node]
		switch {
		case seen[v.Node]:
			c.report.Add(rule.NodeVerdict, object, "has two verdicts")
			continue
		case node == nil:
			c.report.Add(rule.NodeUnknown, object, "is not in the cluster")
			continue
		}
		seen[v.Node] = true
		if i > 0 && c.plan.Nodes[i-1].Node > v.Node {
			c.report.Add(rule.Unsorted, object, "must be listed before %s", c.plan.Nodes[i-1].Node)
		}
		c.verdict(object, v, node)
	}
	for _, name := range slices.Sorted(maps.Keys(c.cluster.original)) {
		if !seen[name] {
			c.report.Add(rule.NodeVerdict, "node/"+name, "has no verdict")
		}
	}
}

// pending checks that the plan counts the pods that have no node: virtual ones, or real ones.
func (c *planCheck) pending(cluster *disruption.Cluster, object string, p *disruption.Pending, virtual bool) {
	without := make(map[string]bool)
	for _, pod := range slices.Concat(cluster.Pods, cluster.Running) {
		if pod != nil && scheduling.IsVirtual(pod) == virtual && pod.Spec.NodeName == "" && snapshot.Live(pod) && snapshot.Owner(pod, "DaemonSet") == "" {
			without[snapshot.ObjectName(pod)] = true
		}
	}
	if p == nil {
		p = &disruption.Pending{}
	}
	if sum := p.Existing + p.Launched + p.Gated + len(p.Unschedulable); p.Pods != len(without) || sum != p.Pods || p.Launches > p.Launched {
		c.report.Add(rule.SummaryCounts, object, "states %d pending pods (%d by reason) and %[4]d launches for %[5]d of them, want %[3]d pods", p.Pods, sum, len(without), p.Launches, p.Launched)
	}
	for _, name := range p.Unschedulable {
		if !without[name] {
			c.report.Add(rule.PodUnknown, "pod/"+name, "is listed as pending, and is not")
		}
	}
}

// verdict checks one verdict on a node of the cluster.
func (c *planCheck) verdict(object string, v *disruption.Verdict, of *corev1.Node) {
	step, decision := c.cluster.drains[v.Node], disruption.Keep
	if step > 0 {
		decision = disruption.Drain
	}
	if v.Decision != decision || v.Step != step {
		c.report.Add(rule.NodeVerdict, object, "verdict is %s in step %d, want %s in step %d", v.Decision, v.Step, decision, step)
	}
	label := func(keys ...string) string {
		for _, key := range keys {
			if value := of.Labels[key]; value != "" {
				return value
			}
		}
		return ""
	}
	for _, f := range []struct{ what, got, want string }{
		{"nodePool", v.NodePool, poolOf(of)},
		{"instanceType", v.InstanceType, label(corev1.LabelInstanceTypeStable, corev1.LabelInstanceType)},
		{"zone", v.Zone, label(corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone)},
		{"capacityType", v.CapacityType, label(offerings.CapacityTypeLabel)},
	} {
		if f.got != f.want {
			c.report.Add(rule.NodeVerdict, object, "%s is %q, the label has %q", f.what, f.got, f.want)
		}
	}
	own := &clusterNode{node: &snapshot.Node{Running: of, Pool: c.cluster.state.Pools[poolOf(of)]}, machine: c.cluster.machineOf(v.Node)}
	if price, _, _ := c.cluster.costs.priceOf(of); v.PricePerHour != price {
		c.report.Add(rule.NodeVerdict, object, "price is $%v, want $%v", v.PricePerHour, price)
	}
	if drift := c.cluster.rules.drift(own); (drift == "") != (v.Drift == "") {
		c.report.Add(rule.NodeVerdict, object, "drift is %q, want %q", v.Drift, drift)
	}
	if decision == disruption.Keep && len(v.Reasons) == 0 {
		c.report.Add(rule.NoReason, object, "is kept without a reason")
	}
	for _, cause := range v.Reasons {
		c.cause(object, cause)
	}
	if x := v.Rejected; x != nil {
		c.cause(object, x.Because)
		if !slices.Contains(x.Drain, v.Node) {
			c.report.Add(rule.NodeVerdict, object, "the rejected alternative does not drain it")
		}
		for _, name := range x.Drain {
			if c.cluster.original[name] == nil {
				c.report.Add(rule.NodeUnknown, object, "the rejected alternative drains %q, which does not exist", name)
			}
		}
	}
}

// cause checks that a cause is known and has a detail.
func (c *planCheck) cause(object string, of disruption.Cause) {
	if !slices.Contains(causes(), of.Code) {
		c.report.Add(rule.NoReason, object, "unknown reason %q", of.Code)
	}
	if of.Detail == "" {
		c.report.Add(rule.NoReason, object, "reason %s has no detail", of.Code)
	}
}

// summary checks the summary, now that all steps are done.
func (c *planCheck) summary(start totals, frontier []disruption.Point) {
	s := &c.plan.Summary
	end := c.cluster.totals()
	after, before, expected := s.PricePerHourAfter, new(big.Int), new(big.Int)
	if c.cluster.state.Policy.Expects() {
		after, before, expected = s.ExpectedPerHourAfter, start.price, end.price
	}
	if s.NodeOverheadPerHour != c.cluster.state.Policy.NodeOverhead {
		c.report.Add(rule.SummaryExpected, "summary", "node overhead is $%v, want $%v", s.NodeOverheadPerHour, c.cluster.state.Policy.NodeOverhead)
	}
	sums.Price(c.report, rule.SummaryPrice, "price per hour before", s.PricePerHourBefore, start.bare)
	sums.Price(c.report, rule.SummaryPrice, "price per hour after", s.PricePerHourAfter, end.bare)
	sums.Price(c.report, rule.SummaryExpected, "expected price per hour before", s.ExpectedPerHourBefore, before)
	sums.Price(c.report, rule.SummaryExpected, "expected price per hour after", s.ExpectedPerHourAfter, expected)
	sum := lo.LastOrEmpty(frontier)
	sums.Count(c.report, "nodesBefore", s.NodesBefore, start.nodes)
	sums.Count(c.report, "nodesAfter", s.NodesAfter, end.nodes)
	sums.Count(c.report, "podsMoved", s.PodsMoved, sum.PodsMoved)
	sums.Count(c.report, "launches", s.Launches, lo.SumBy(c.plan.Steps, func(s disruption.Step) int { return len(s.Launches) }))
	sums.Count(c.report, "unpricedNodes", s.UnpricedNodes, start.unpriced)
	if !sums.Alike(s.DisruptionCost, sum.DisruptionCost) {
		c.report.Add(rule.StepCost, "summary", "disruption cost is %v, the sum over the steps %v", s.DisruptionCost, sum.DisruptionCost)
	}
	sums.Bound(c.report, after, s.LowerBoundPerHour, s.Gap, s.Status)
	c.blockedAndRebuilt(after)
	c.frontier(frontier)
	c.placedFreely()
}

// placedFreely checks the plan's statements for a scheduler that binds evicted pods freely, and that it makes them
// for such a scheduler only.
func (c *planCheck) placedFreely() {
	free, s := c.cluster.state.Policy.Placement == scheduling.PlacementFree, &c.plan.Summary
	receives := make(map[string]bool)
	for i := range c.plan.Steps {
		for _, e := range c.plan.Steps[i].Evictions {
			receives[e.To] = receives[e.To] || i+1 < c.cluster.drains[e.To]
		}
	}
	var want []string
	for _, name := range slices.Sorted(maps.Keys(c.cluster.drains)) {
		if free && !receives[name] && c.cluster.original[name] != nil {
			want = append(want, name)
		}
	}
	if !slices.Equal(c.plan.Cordon, want) {
		c.report.Add(rule.Cordon, "plan", "cordon list is %v, want %v", c.plan.Cordon, want)
	}
	switch to := s.AfterScheduling; {
	case free != (to != nil):
		c.report.Add(rule.SummaryAfterScheduling, "summary", "afterScheduling is %v with placement %q", to, c.cluster.state.Policy.Placement)
	case to != nil && (to.PricePerHourAfter < s.PricePerHourAfter || to.ExpectedPerHourAfter < s.ExpectedPerHourAfter || min(to.PodsElsewhere, to.PodsPending, to.Launches) < 0 || to.Launches > to.PodsPending):
		c.report.Add(rule.SummaryAfterScheduling, "summary", "afterScheduling is %+v, with a price of %v", *to, s.PricePerHourAfter)
	}
}

// frontier checks the savings, moves and disruption costs after each number of steps.
func (c *planCheck) frontier(want []disruption.Point) {
	got := c.plan.Summary.Frontier
	if len(got) != len(want) {
		c.report.Add(rule.SummaryFrontier, "summary", "the frontier has %d points, want %d", len(got), len(want))
		return
	}
	for i := range want {
		w, p := want[i], got[i]
		if p.Steps != w.Steps || p.SavingPerHour != w.SavingPerHour || p.PodsMoved != w.PodsMoved || !sums.Alike(p.DisruptionCost, w.DisruptionCost) {
			c.report.Add(rule.SummaryFrontier, "summary", "frontier[%d] is %+v, want %+v", i, p, w)
		}
	}
}

// blockedAndRebuilt checks the rebuilt cluster and the blocked savings against bounds only, because the saving that a cause
// blocks is the difference to a plan without that cause.
func (c *planCheck) blockedAndRebuilt(after offerings.Price) {
	s := &c.plan.Summary
	for i := range s.Blocked {
		b := &s.Blocked[i]
		if b.Code != disruption.CauseSearch && !slices.Contains(causes(), b.Code) || b.Nodes < 0 || b.PerHour < 0 || b.PerHour == 0 && b.Nodes == 0 || b.PerHour > after {
			c.report.Add(rule.SummaryBlocked, "summary", "blocked[%d] is %+v, and the cluster costs %v afterwards", i, *b, after)
		}
	}
	if s.Rebuilt == nil {
		return
	}
	c.composition("rebuilt", s.Rebuilt)
	c.composition("alternative", s.Alternative)
	least := s.Rebuilt.PricePerHour
	if c.cluster.state.Policy.Expects() {
		least = s.Rebuilt.ExpectedPerHour
	}
	if room := s.Rebuilt.RoomPerHour; room != nil && (len(c.plan.Room) == 0 || *room < 0 || *room > least) {
		c.report.Add(rule.SummaryRebuilt, "summary", "the room of virtual pods on %d nodes costs $%v of $%v", len(c.plan.Room), *room, least)
	}
	if least > after {
		c.report.Add(rule.SummaryRebuilt, "summary", "rebuilt from scratch costs $%v, more than the $%v after the steps", least, after)
	}
}

// composition checks that the composition of a cluster adds up to its nodes and prices.
func (c *planCheck) composition(what string, of *disruption.Rebuilt) {
	if of == nil {
		return
	}
	nodes, price, expected := 0, new(big.Int), new(big.Int)
	for _, k := range of.Composition {
		nodes += k.Nodes
		price.Add(price, big.NewInt(int64(k.PricePerHour)))
		expected.Add(expected, big.NewInt(int64(k.ExpectedPerHour)))
		if k.Nodes <= 0 || k.Existing < 0 || k.Existing > k.Nodes || c.cluster.state.Pools[k.NodePool] == nil {
			c.report.Add(rule.SummaryComposition, "summary", "%s: %+v is not a valid part", what, k)
		}
	}
	if nodes != of.Nodes || price.Cmp(big.NewInt(int64(of.PricePerHour))) != 0 || expected.Cmp(big.NewInt(int64(of.ExpectedPerHour))) != 0 {
		c.report.Add(rule.SummaryComposition, "summary", "%s has %d nodes for $%v, expected $%v, and its parts have %d for $%s, expected $%s", what, of.Nodes, of.PricePerHour, of.ExpectedPerHour, nodes, snapshot.USD(price), snapshot.USD(expected))
	}
}
