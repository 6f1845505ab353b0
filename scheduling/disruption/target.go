package disruption

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Anew is the problem of buying the cluster afresh: every node that the planner may
// disrupt for some reason is gone, and its pods wait. All other nodes stay as they are, with
// their pods and the room that they have left. Pods that wait in the cluster are left out.
// What the nodes are is on sale again, as they may stay: their offerings, and the machines
// that reservations have lent to them. So a solver of it may buy these offerings even where
// NoSpot, Filters and Size of the planner's Solver rule them out; that the bound is proven
// with.
//
// What a plan of it costs, and the nodes of pools that stay in it, is what a cluster for
// the same pods costs when nobody minds moving. [Summary.LowerBoundPerHour] is the proven
// bound of its plans and the price of those nodes. Budgets of NodePools are left out of
// account: they say how many nodes go at once, not how many may go.
func (c *Cluster) Anew(p Planner) scheduling.Problem {
	f := newState(p, c)
	return f.anew(f.loose)
}

// anew is the problem of buying the cluster afresh, as [Cluster.Anew], without some nodes.
func (f *state) anew(loose map[string]bool) scheduling.Problem {
	c := f.problem
	out := *c
	out.Pods, out.Running, out.Nodes = nil, nil, nil
	var gone []*corev1.Node
	for _, node := range c.Nodes {
		if loose[node.Name] {
			gone = append(gone, node)
		} else {
			out.Nodes = append(out.Nodes, node)
		}
	}
	for _, list := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range list {
			switch {
			case pod.Spec.NodeName == "":
			case !loose[pod.Spec.NodeName]:
				out.Running = append(out.Running, pod)
			case reschedulable(pod):
				out.Pods = append(out.Pods, unbound(pod))
			}
		}
	}
	if err := backOnSale(&out, gone); err != nil {
		return *c // the catalog was one before, and has lost nothing
	}
	return out
}

// mayGo reports whether a node whose price is known may be disrupted for any reason, budgets
// of pools aside.
func (f *state) mayGo(s *candidate) bool {
	return s.pool != nil && s.priced && slices.ContainsFunc([]Reason{Interrupted, Expired, Drifted, Empty, Underutilized}, func(r Reason) bool {
		return f.concerns(s, r) && f.meant(r) && len(f.blockers(s, r)) == 0
	})
}

// leaving are the nodes that may be disrupted now.
func (f *state) leaving() map[string]bool { return f.nodesThat(f.mayGo) }

// target is the cluster bought afresh.
type target struct {
	// tally is what it comes to, nodes that stay included.
	tally
	// bound is what it costs at least, nodes that stay included, as the certificate proves;
	// without the pods that are left out, since no place is known for them.
	bound       offerings.Price
	certificate *scheduling.Certificate
	leftOut     []string
	// worth is what pods are worth per hour, by name.
	worth map[string]offerings.Price
}

// solveAnew buys the cluster afresh, without some nodes, for the bound and for what pods are
// worth.
func (f *state) solveAnew(ctx context.Context, effort scheduling.Effort, loose map[string]bool) (*target, error) {
	problem := f.anew(loose)
	solver := f.buysBack(loose)
	solver.Effort, solver.NoReasons = effort, true
	plan, err := provisioning.Planner{Policy: solver}.Plan(ctx, problem)
	if err != nil {
		return nil, err
	}
	var fixed tally
	for _, s := range f.nodes {
		if !s.fresh && !loose[s.name] {
			fixed.add(s)
		}
	}
	sums := &plan.Summary
	t := &target{
		tally: tally{
			price: clampPrice(max(sums.PricePerHour, sums.ExpectedPerHour), fixed.price),
			paid:  clampPrice(sums.PricePerHour, fixed.paid), nodes: sums.Nodes + fixed.nodes,
		},
		bound: clampPrice(sums.LowerBoundPerHour, fixed.price), certificate: sums.Certificate,
		worth: prove.PodDuals(sums.Certificate, problem.Pods),
	}
	for i := range plan.Unschedulable {
		t.leftOut = append(t.leftOut, plan.Unschedulable[i].Pod)
	}
	return t, nil
}

// rebuild looks for the cheapest cluster for the same pods, whatever holds nodes back.
func (r *run) rebuild(ctx context.Context) error {
	found := r.findings
	if found == nil || found.anew == nil || over(ctx) {
		return cancelled(ctx)
	}
	all := r.state.owned()
	if len(all) == len(r.state.loose) {
		found.rebuilt = found.anew
		return nil
	}
	var err error
	found.rebuilt, err = r.state.solveAnew(ctx, r.state.planner.Policy.Effort, all)
	return r.ended(ctx, err)
}

// owned are the nodes of pools whose price is known, launches of steps aside.
func (f *state) owned() map[string]bool {
	return f.nodesThat(func(s *candidate) bool { return !s.fresh && s.pool != nil && s.priced })
}

// rebuilt is a cluster bought afresh, in the words of a summary.
func (f *state) rebuilt(t *target) *Rebuilt {
	out := &Rebuilt{Nodes: t.nodes, PricePerHour: t.paid, LeftOut: t.leftOut}
	if f.expects() {
		out.ExpectedPerHour = t.price
	}
	return out
}

// kept divides what the cluster costs more than built anew among the nodes that are there
// after the steps, see [Kept]; the most comes first.
func (r *run) kept(more offerings.Price, verdicts []Verdict) []Kept {
	if more <= 0 {
		return nil
	}
	codes := map[string]CauseCode{}
	for i := range verdicts {
		if v := &verdicts[i]; len(v.Reasons) > 0 {
			codes[v.Node] = v.Reasons[0].Code
		}
	}
	sum, waste := 0.0, map[CauseCode]float64{}
	parts := map[CauseCode]*Kept{CauseSearch: {Code: CauseSearch}}
	for _, s := range r.state.nodes {
		if s.gone || s.pool == nil || !s.priced {
			continue
		}
		lost := s.price
		for _, pod := range s.movers {
			lost -= r.findings.rebuilt.worth[podspec.PodName(pod)]
		}
		code := codes[s.name]
		if code == "" || code == CauseNoSaving || code == CauseReceives {
			code = CauseSearch
		}
		if parts[code] == nil {
			parts[code] = &Kept{Code: code}
		}
		parts[code].Nodes++
		waste[code] += float64(max(0, lost))
		sum += float64(max(0, lost))
	}
	out, rest := []Kept{}, more
	for code, part := range parts {
		if code != CauseSearch && sum > 0 {
			part.PerHour = offerings.Price(float64(more) * (waste[code] / sum))
			rest -= part.PerHour
		}
	}
	parts[CauseSearch].PerHour = rest
	for _, part := range parts {
		if part.PerHour > 0 {
			out = append(out, *part)
		}
	}
	slices.SortFunc(out, func(a, b Kept) int { return cmp.Or(cmp.Compare(b.PerHour, a.PerHour), cmp.Compare(a.Code, b.Code)) })
	return out
}

// alternative looks with little effort for the cheapest cluster of other NodePools, as
// [Summary.Rebuilt] is one of its own; nil where there are none to compare with, or no node
// of a pool has a price.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	f := newState(p, c)
	all := f.owned()
	if len(c.Alternative) == 0 || len(all) == 0 || ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // nothing to compare with is no error, nor is too little time
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := f.solveAnew(ctx, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return f.rebuilt(t), nil
}
