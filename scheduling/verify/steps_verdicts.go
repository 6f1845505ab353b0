package verify

import (
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// causes are those for which nodes stay.
func causes() []disruption.CauseCode {
	return []disruption.CauseCode{
		disruption.CauseNoNodePool, disruption.CauseNoTypes, disruption.CauseNotReady, disruption.CauseGoing, disruption.CauseNominated,
		disruption.CauseDoNotDisrupt, disruption.CauseBarePod, disruption.CauseBudget, disruption.CausePoolBudget, disruption.CausePolicy, disruption.CauseTooSoon,
		disruption.CauseStatic, disruption.CauseMinNodes, disruption.CauseUnknownPrice, disruption.CauseReasonNotMeant,
		disruption.CauseNoPlace, disruption.CauseNoSaving, disruption.CauseSmallSaving, disruption.CauseScore, disruption.CauseSpotChoice,
		disruption.CauseMinValues, disruption.CauseReceives, disruption.CauseDeadline, disruption.CauseLater,
	}
}

// verdicts checks that the plan says what becomes of each node.
func (g *clusterState) verdicts(r *Report) {
	seen := make(map[string]bool)
	for i := range g.plan.Nodes {
		v := &g.plan.Nodes[i]
		object := "node/" + v.Node
		node := g.original[v.Node]
		switch {
		case seen[v.Node]:
			r.add(NodeVerdict, object, "has two verdicts")
			continue
		case node == nil:
			r.add(NodeUnknown, object, "is not in the cluster")
			continue
		}
		seen[v.Node] = true
		if i > 0 && g.plan.Nodes[i-1].Node > v.Node {
			r.add(Unsorted, object, "belongs before %s", g.plan.Nodes[i-1].Node)
		}
		g.verdict(r, object, v, node)
	}
	for _, name := range slices.Sorted(maps.Keys(g.original)) {
		if !seen[name] {
			r.add(NodeVerdict, "node/"+name, "has no verdict")
		}
	}
}

// pending checks that the plan counts the pods that have no node.
func (g *clusterState) pending(r *Report, cluster *disruption.Cluster) {
	without := make(map[string]bool)
	for _, pod := range slices.Concat(cluster.Pods, cluster.Running) {
		if pod != nil && pod.Spec.NodeName == "" && snapshot.Live(pod) && snapshot.Owner(pod, "DaemonSet") == "" {
			without[snapshot.ObjectName(pod)] = true
		}
	}
	p := g.plan.Pending
	if p == nil {
		p = &disruption.Pending{}
	}
	if sum := p.Existing + p.Launched + p.Gated + len(p.Unschedulable); p.Pods != len(without) || sum != p.Pods || p.Launches > p.Launched {
		r.add(SummaryCounts, "pending", "%d pods and %d in all are pending, want %d, and %d nodes are launched for %d of them", p.Pods, sum, len(without), p.Launches, p.Launched)
	}
	for _, name := range p.Unschedulable {
		if !without[name] {
			r.add(PodUnknown, "pod/"+name, "is said to be pending, and is not")
		}
	}
}

func (g *clusterState) verdict(r *Report, object string, v *disruption.Verdict, of *corev1.Node) {
	step, decision := g.drains[v.Node], disruption.Keep
	if step > 0 {
		decision = disruption.Drain
	}
	if v.Decision != decision || v.Step != step {
		r.add(NodeVerdict, object, "is said to %s in step %d, want %s in step %d", v.Decision, v.Step, decision, step)
	}
	label := func(keys ...string) string {
		for _, key := range keys {
			if value := of.Labels[key]; value != "" {
				return value
			}
		}
		return ""
	}
	for _, c := range []struct{ what, got, want string }{
		{"nodePool", v.NodePool, poolOf(of)},
		{"instanceType", v.InstanceType, label(corev1.LabelInstanceTypeStable, corev1.LabelInstanceType)},
		{"zone", v.Zone, label(corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone)},
		{"capacityType", v.CapacityType, label(scheduling.CapacityTypeLabel)},
	} {
		if c.got != c.want {
			r.add(NodeVerdict, object, "%s is %q, the label says %q", c.what, c.got, c.want)
		}
	}
	own := &clusterNode{node: &snapshot.Node{Running: of, Pool: g.state.Pools[poolOf(of)]}, machine: g.machineOf(v.Node)}
	if price, _, _ := g.priceOf(of); v.PricePerHour != price {
		r.add(NodeVerdict, object, "price is %v, want %v", v.PricePerHour, price)
	}
	if drift := g.drift(own); (drift == "") != (v.Drift == "") {
		r.add(NodeVerdict, object, "drift is %q, want %q", v.Drift, drift)
	}
	if decision == disruption.Keep && len(v.Reasons) == 0 {
		r.add(NoReason, object, "stays without a reason")
	}
	for _, c := range v.Reasons {
		g.cause(r, object, c)
	}
	if x := v.Rejected; x != nil {
		g.cause(r, object, x.Because)
		if !slices.Contains(x.Drain, v.Node) {
			r.add(NodeVerdict, object, "the rejected move does not drain it")
		}
		for _, name := range x.Drain {
			if g.original[name] == nil {
				r.add(NodeUnknown, object, "the rejected move drains %q", name)
			}
		}
	}
}

func (g *clusterState) cause(r *Report, object string, c disruption.Cause) {
	if !slices.Contains(causes(), c.Code) {
		r.add(NoReason, object, "the reason %q is not known", c.Code)
	}
	if c.Detail == "" {
		r.add(NoReason, object, "the reason %s has no detail", c.Code)
	}
}

// totals add up the nodes of pools that are there.
type totals struct {
	price, bare     *big.Int // as in clusterNode
	nodes, unpriced int
}

func (g *clusterState) totals() totals {
	t := totals{price: new(big.Int), bare: new(big.Int)}
	for _, s := range g.there {
		switch {
		case s.node.Pool == nil:
		case !s.priced:
			t.unpriced++
		default:
			t.nodes++
			t.price.Add(t.price, big.NewInt(s.price))
			t.bare.Add(t.bare, big.NewInt(s.bare))
		}
	}
	return t
}

// addsUp checks the summary, now that all steps are done.
func (g *clusterState) addsUp(r *Report, start totals, frontier []disruption.Point) {
	s := &g.plan.Summary
	end := g.totals()
	after, before, expected := s.PricePerHourAfter, new(big.Int), new(big.Int)
	if g.state.Policy.Expects() {
		after, before, expected = s.ExpectedPerHourAfter, start.price, end.price
	}
	if s.NodeOverheadPerHour != g.state.Policy.NodeOverhead {
		r.add(SummaryExpected, "summary", "node overhead is %v, want %v", s.NodeOverheadPerHour, g.state.Policy.NodeOverhead)
	}
	r.price(SummaryPrice, "price per hour before", s.PricePerHourBefore, start.bare)
	r.price(SummaryPrice, "price per hour after", s.PricePerHourAfter, end.bare)
	r.price(SummaryExpected, "expected price per hour before", s.ExpectedPerHourBefore, before)
	r.price(SummaryExpected, "expected price per hour after", s.ExpectedPerHourAfter, expected)
	sum := lo.LastOrEmpty(frontier)
	r.count("nodesBefore", s.NodesBefore, start.nodes)
	r.count("nodesAfter", s.NodesAfter, end.nodes)
	r.count("podsMoved", s.PodsMoved, sum.PodsMoved)
	r.count("launches", s.Launches, lo.SumBy(g.plan.Steps, func(s disruption.Step) int { return len(s.Launches) }))
	r.count("unpricedNodes", s.UnpricedNodes, start.unpriced)
	if !alike(s.DisruptionCost, sum.DisruptionCost) {
		r.add(StepCost, "summary", "disruption cost is %v, the steps' is %v", s.DisruptionCost, sum.DisruptionCost)
	}
	r.bounded(after, s.LowerBoundPerHour, s.Gap, s.Status)
	g.rest(r, after)
	g.frontier(r, frontier)
	g.placedFreely(r)
}

// placedFreely checks what a plan says for a scheduler that binds evicted pods as it likes, and that it says so then
// only.
func (g *clusterState) placedFreely(r *Report) {
	free, s := g.state.Policy.Placement == scheduling.PlacementFree, &g.plan.Summary
	receives := make(map[string]bool)
	for i := range g.plan.Steps {
		for _, e := range g.plan.Steps[i].Evictions {
			receives[e.To] = receives[e.To] || i+1 < g.drains[e.To]
		}
	}
	var want []string
	for _, name := range slices.Sorted(maps.Keys(g.drains)) {
		if free && !receives[name] && g.original[name] != nil {
			want = append(want, name)
		}
	}
	if !slices.Equal(g.plan.Cordon, want) {
		r.add(Cordon, "plan", "cordons %v, want %v", g.plan.Cordon, want)
	}
	switch to := s.Realised; {
	case free != (to != nil):
		r.add(SummaryRealised, "summary", "realised is %v with placement %q", to, g.state.Policy.Placement)
	case to != nil && (to.PricePerHourAfter < s.PricePerHourAfter || to.ExpectedPerHourAfter < s.ExpectedPerHourAfter || min(to.PodsElsewhere, to.PodsWaiting, to.Launches) < 0 || to.Launches > to.PodsWaiting):
		r.add(SummaryRealised, "summary", "realised is %+v, with a price of %v", *to, s.PricePerHourAfter)
	}
}

// frontier checks how far each number of steps gets.
func (g *clusterState) frontier(r *Report, want []disruption.Point) {
	got := g.plan.Summary.Frontier
	if len(got) != len(want) {
		r.add(SummaryFrontier, "summary", "the frontier has %d points, want %d", len(got), len(want))
		return
	}
	for i := range want {
		w, p := want[i], got[i]
		if p.Steps != w.Steps || p.SavingPerHour != w.SavingPerHour || p.PodsMoved != w.PodsMoved || !alike(p.DisruptionCost, w.DisruptionCost) {
			r.add(SummaryFrontier, "summary", "frontier[%d] is %+v, want %+v", i, p, w)
		}
	}
}

// rest checks what a summary says of a cluster that is rebuilt from scratch, and of what causes keep from being saved:
// whether that is what they keep, only plans could tell.
func (g *clusterState) rest(r *Report, after offerings.Price) {
	s := &g.plan.Summary
	for i := range s.Blocked {
		b := &s.Blocked[i]
		if b.Code != disruption.CauseSearch && !slices.Contains(causes(), b.Code) || b.Nodes < 0 || b.PerHour <= 0 || b.PerHour > after {
			r.add(SummaryBlocked, "summary", "blocked[%d] is %+v, and the cluster costs %v afterwards", i, *b, after)
		}
	}
	if s.Rebuilt == nil {
		return
	}
	g.composition(r, "rebuilt", s.Rebuilt)
	g.composition(r, "alternative", s.Alternative)
	least := s.Rebuilt.PricePerHour
	if g.state.Policy.Expects() {
		least = s.Rebuilt.ExpectedPerHour
	}
	if least > after {
		r.add(SummaryRebuilt, "summary", "rebuilt it costs %v and afterwards %v", least, after)
	}
}

// composition checks that what a cluster consists of comes to its nodes and prices.
func (g *clusterState) composition(r *Report, what string, of *disruption.Rebuilt) {
	if of == nil {
		return
	}
	nodes, price, expected := 0, new(big.Int), new(big.Int)
	for _, k := range of.Composition {
		nodes += k.Nodes
		price.Add(price, big.NewInt(int64(k.PricePerHour)))
		expected.Add(expected, big.NewInt(int64(k.ExpectedPerHour)))
		if k.Nodes <= 0 || k.Existing < 0 || k.Existing > k.Nodes || g.state.Pools[k.NodePool] == nil {
			r.add(SummaryComposition, "summary", "%s consists of %+v", what, k)
		}
	}
	if nodes != of.Nodes || price.Cmp(big.NewInt(int64(of.PricePerHour))) != 0 || expected.Cmp(big.NewInt(int64(of.ExpectedPerHour))) != 0 {
		r.add(SummaryComposition, "summary", "%s is %d nodes for %v and %v, and consists of %d for %v and %v nano-USD", what, of.Nodes, of.PricePerHour, of.ExpectedPerHour, nodes, price, expected)
	}
}
