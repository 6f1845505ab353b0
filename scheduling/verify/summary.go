package verify

import (
	"maps"
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// summaryCheck judges the sums of a plan.
type summaryCheck struct {
	report   *Report
	state    *snapshot.State
	plan     *scheduling.Plan
	launches []*launch
}

// summary checks that the plan adds up.
func (c *summaryCheck) summary() {
	s := &c.plan.Summary
	total, placed, silent := new(big.Int), 0, 0
	for _, l := range c.launches {
		total.Add(total, big.NewInt(int64(l.Price)))
		placed += len(l.Pods)
	}
	for _, a := range c.plan.Existing {
		placed += len(a.Pods)
	}
	for _, t := range c.state.Pods {
		if t.Requests.Of(corev1.ResourceCPU).Sign() == 0 && t.Requests.Of(corev1.ResourceMemory).Sign() == 0 {
			silent++
		}
	}
	c.report.count("pods", s.Pods, len(c.state.Pods))
	c.report.count("placed", s.Placed, placed)
	c.report.count("nodes", s.Nodes, len(c.launches))
	c.report.count("podsWithoutRequests", s.PodsWithoutRequests, silent)
	c.report.price(CodeSummaryPrice, "price per hour", s.PricePerHour, total)
	c.report.bounded(c.expected(s), s.LowerBoundPerHour, s.Gap, s.Status)
	if r := s.Realised; r != nil && (r.ExpectedPerHour < max(s.PricePerHour, s.ExpectedPerHour) || r.WorstPerHour < r.ExpectedPerHour || r.PodsElsewhere < 0 || r.PodsElsewhere > placed || len(r.Pending) > placed || !slices.IsSorted(r.Pending)) {
		c.report.add(CodeSummaryRealised, "summary", "realised is $%v, at worst $%v, with %d pods elsewhere; the plan has %d pods and a price of $%v", r.ExpectedPerHour, r.WorstPerHour, r.PodsElsewhere, placed, max(s.PricePerHour, s.ExpectedPerHour))
	}
	c.shares("pools", s.Pools, func(l *scheduling.Launch) string { return l.NodePool })
	c.shares("capacityTypes", s.CapacityTypes, func(l *scheduling.Launch) string {
		if len(l.Options) == 0 {
			return ""
		}
		return string(l.Options[0].CapacityType)
	})
	c.resourceUse(s.Resources)
}

// count adds a violation for a number of a summary that is not the wanted one.
func (r *Report) count(what string, got, want int) {
	if got != want {
		r.add(CodeSummaryCounts, "summary", "%s is %d, want %d", what, got, want)
	}
}

// price adds a violation for a price of a summary that is not the wanted one, in nano-USD.
func (r *Report) price(code Code, what string, got offerings.Price, want *big.Int) {
	if want.Cmp(big.NewInt(int64(got))) != 0 {
		r.add(code, "summary", "%s is $%v, want $%s", what, got, snapshot.USD(want))
	}
}

// bounded checks lower bound, gap and status of a summary. The gap is the share of the bound by which the price
// exceeds it; 0 for a bound of 0.
func (r *Report) bounded(price, bound offerings.Price, gap float64, status scheduling.Status) {
	if bound < 0 || bound > price {
		r.add(CodeBoundAbovePrice, "summary", "lower bound is $%v, and the price $%v", bound, price)
	}
	want := 0.0
	if bound != 0 {
		want = float64(price-bound) / float64(bound)
	}
	if !alike(gap, want) {
		r.add(CodeSummaryGap, "summary", "gap is %v, want %v", gap, want)
	}
	switch status {
	case scheduling.StatusComplete, scheduling.StatusDeadline:
	case scheduling.StatusOptimal:
		if price != bound {
			r.add(CodeSummaryStatus, "summary", "status is optimal with price $%v and lower bound $%v", price, bound)
		}
	default:
		r.add(CodeSummaryStatus, "summary", "unknown status %q", status)
	}
}

// alike compares sums and quotients of fractions.
func alike(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// shares checks a split of nodes and price. Parts of which there are none may be listed.
func (c *summaryCheck) shares(what string, got []scheduling.Share, part func(*scheduling.Launch) string) {
	want := make(map[string]scheduling.Share)
	for i := range c.plan.Launches {
		l := &c.plan.Launches[i]
		name := part(l)
		if name == "" {
			continue // a launch without options, which is said already
		}
		s := want[name]
		s.Nodes++
		s.PricePerHour += l.Price
		want[name] = s
	}
	for i, s := range got {
		if slices.ContainsFunc(got[:i], func(o scheduling.Share) bool { return o.Name == s.Name }) {
			c.report.add(CodeSummaryShares, "summary", "%s: %s is listed twice", what, s.Name)
		}
		if w := want[s.Name]; s.Nodes != w.Nodes || s.PricePerHour != w.PricePerHour {
			c.report.add(CodeSummaryShares, "summary", "%s: %s has %d nodes for $%v, want %d for $%v", what, s.Name, s.Nodes, s.PricePerHour, w.Nodes, w.PricePerHour)
		}
		delete(want, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.report.add(CodeSummaryShares, "summary", "%s: %s is missing", what, name)
	}
}

// resourceUse checks where the bought capacity is said to go. Which resources are
// listed is the plan's choice.
func (c *summaryCheck) resourceUse(got []scheduling.ResourceUse) {
	capacity, reserved, daemons, pods := snapshot.Amounts{}, snapshot.Amounts{}, snapshot.Amounts{}, snapshot.Amounts{}
	for _, r := range c.launches {
		first := r.first()
		if first == nil {
			return // said already, and nothing can be added up
		}
		capacity.Add(first.Capacity)
		reserved.Add(first.Capacity.Minus(first.Allocatable))
		daemons.Add(first.Daemons)
		for _, t := range r.pods {
			pods.Add(t.Requests)
		}
	}
	for i, u := range got {
		if slices.ContainsFunc(got[:i], func(o scheduling.ResourceUse) bool { return o.Resource == u.Resource }) {
			c.report.add(CodeSummaryResources, "summary", "%s is listed twice", u.Resource)
		}
		name := corev1.ResourceName(u.Resource)
		free := new(big.Int).Sub(capacity.Of(name), reserved.Of(name))
		free.Sub(free, daemons.Of(name)).Sub(free, pods.Of(name))
		check := func(what string, got int64, want *big.Int) {
			if want.Cmp(big.NewInt(got)) != 0 {
				c.report.add(CodeSummaryResources, "summary", "%s: %s is %d, want %v", u.Resource, what, got, want)
			}
		}
		check("capacity", u.Capacity, capacity.Of(name))
		check("reserved", u.Reserved, reserved.Of(name))
		check("daemons", u.Daemons, daemons.Of(name))
		check("pods", u.Pods, pods.Of(name))
		check("free", u.Free, free)
	}
}

// expected checks the expected cost of the plan's machines, and returns the price that bound and gap are about.
func (c *summaryCheck) expected(s *scheduling.Summary) offerings.Price {
	if s.NodeOverheadPerHour != c.state.Policy.NodeOverhead {
		c.report.add(CodeSummaryExpected, "summary", "node overhead is $%v, want $%v", s.NodeOverheadPerHour, c.state.Policy.NodeOverhead)
	}
	total := new(big.Int) // 0 where machines cost nothing beside their prices
	if !c.state.Policy.Expects() {
		c.report.price(CodeSummaryExpected, "expected price per hour", s.ExpectedPerHour, total)
		return s.PricePerHour
	}
	for _, r := range c.launches {
		first := r.first()
		if first == nil {
			return s.ExpectedPerHour // said already, and nothing can be added up
		}
		total.Add(total, big.NewInt(int64(c.state.Policy.Objective(first.Kind, first.Offering))))
	}
	c.report.price(CodeSummaryExpected, "expected price per hour", s.ExpectedPerHour, total)
	return s.ExpectedPerHour
}
