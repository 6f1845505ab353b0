package launchplan

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/sums"
)

// summaryCheck judges the sums of a plan.
type summaryCheck struct {
	report   *rule.Report
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
	room, requests := c.room()
	sums.Count(c.report, "pods", s.Pods, len(c.state.Pods)-room.Pods)
	sums.Count(c.report, "placed", s.Placed, placed-room.Existing-room.Launched)
	sums.Count(c.report, "nodes", s.Nodes, len(c.launches))
	sums.Count(c.report, "podsWithoutRequests", s.PodsWithoutRequests, silent)
	sums.Price(c.report, rule.SummaryPrice, "price per hour", s.PricePerHour, total)
	sums.Bound(c.report, c.expected(s), s.LowerBoundPerHour, s.Gap, s.Status)
	if r := s.AfterScheduling; r != nil && (r.ExpectedPerHour < max(s.PricePerHour, s.ExpectedPerHour) || r.WorstPerHour < r.ExpectedPerHour || r.PodsElsewhere < 0 || r.PodsElsewhere > placed || len(r.Pending) > placed || !slices.IsSorted(r.Pending)) {
		c.report.Add(rule.SummaryAfterScheduling, "summary", "afterScheduling is $%v, at worst $%v, with %d pods elsewhere; the plan has %d pods and a price of $%v", r.ExpectedPerHour, r.WorstPerHour, r.PodsElsewhere, placed, max(s.PricePerHour, s.ExpectedPerHour))
	}
	c.shares("pools", s.Pools, func(l *scheduling.Launch) string { return l.NodePool })
	c.shares("capacityTypes", s.CapacityTypes, func(l *scheduling.Launch) string {
		if len(l.Options) == 0 {
			return ""
		}
		return string(l.Options[0].CapacityType)
	})
	c.resourceUse(s.Resources)
	c.roomKept(s.RoomKept, room, requests)
}

// room counts the virtual pods, and adds up the requests of those that have room.
func (c *summaryCheck) room() (want scheduling.RoomKept, requests snapshot.Amounts) {
	requests = snapshot.Amounts{}
	for _, t := range c.state.Pods {
		if scheduling.IsVirtual(t.Object) {
			want.Pods++
		}
	}
	count := func(names []string) (n int) {
		for _, name := range names {
			if t := c.state.Pods[name]; t != nil && scheduling.IsVirtual(t.Object) {
				n++
				requests.Add(t.Requests)
			}
		}
		return n
	}
	for _, a := range c.plan.Existing {
		want.Existing += count(a.Pods)
	}
	for _, l := range c.launches {
		want.Launched += count(l.Pods)
	}
	return want, requests
}

// roomKept checks the room that virtual pods are said to keep free.
func (c *summaryCheck) roomKept(got *scheduling.RoomKept, want scheduling.RoomKept, requests snapshot.Amounts) {
	if want.Pods == 0 && got == nil {
		return
	}
	if got == nil {
		c.report.Add(rule.SummaryRoomKept, "summary", "roomKept is missing, and there are %d virtual pods", want.Pods)
		return
	}
	if got.Pods != want.Pods || got.Existing != want.Existing || got.Launched != want.Launched {
		c.report.Add(rule.SummaryRoomKept, "summary", "roomKept is of %d pods, %d on existing nodes and %d on launches, want %d, %d and %d",
			got.Pods, got.Existing, got.Launched, want.Pods, want.Existing, want.Launched)
	}
	stated := snapshot.RoundedUp(got.Requests)
	if len(snapshot.Exceeding(stated, requests))+len(snapshot.Exceeding(requests, stated)) > 0 {
		c.report.Add(rule.SummaryRoomKept, "summary", "roomKept requests %v, want %v", stated, requests)
	}
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
			c.report.Add(rule.SummaryShares, "summary", "%s: %s is listed twice", what, s.Name)
		}
		if w := want[s.Name]; s.Nodes != w.Nodes || s.PricePerHour != w.PricePerHour {
			c.report.Add(rule.SummaryShares, "summary", "%s: %s has %d nodes for $%v, want %d for $%v", what, s.Name, s.Nodes, s.PricePerHour, w.Nodes, w.PricePerHour)
		}
		delete(want, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.report.Add(rule.SummaryShares, "summary", "%s: %s is missing", what, name)
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
			c.report.Add(rule.SummaryResources, "summary", "%s is listed twice", u.Resource)
		}
		name := corev1.ResourceName(u.Resource)
		free := new(big.Int).Sub(capacity.Of(name), reserved.Of(name))
		free.Sub(free, daemons.Of(name)).Sub(free, pods.Of(name))
		check := func(what string, got int64, want *big.Int) {
			if want.Cmp(big.NewInt(got)) != 0 {
				c.report.Add(rule.SummaryResources, "summary", "%s: %s is %d, want %v", u.Resource, what, got, want)
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
		c.report.Add(rule.SummaryExpected, "summary", "node overhead is $%v, want $%v", s.NodeOverheadPerHour, c.state.Policy.NodeOverhead)
	}
	total := new(big.Int) // 0 where machines cost nothing beside their prices
	if !c.state.Policy.Expects() {
		sums.Price(c.report, rule.SummaryExpected, "expected price per hour", s.ExpectedPerHour, total)
		return s.PricePerHour
	}
	for _, r := range c.launches {
		first := r.first()
		if first == nil {
			return s.ExpectedPerHour // said already, and nothing can be added up
		}
		total.Add(total, big.NewInt(int64(c.state.Policy.Objective(first.Kind, first.Offering))))
	}
	sums.Price(c.report, rule.SummaryExpected, "expected price per hour", s.ExpectedPerHour, total)
	return s.ExpectedPerHour
}
