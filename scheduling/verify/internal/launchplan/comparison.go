package launchplan

import (
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
)

// comparison judges the prices that a plan is compared with: each is that of a plan which the summary has, and which is judged as the
// plan itself.
type comparison struct {
	report *rule.Report
	policy scheduling.Policy
	plan   *scheduling.Plan
}

// room judges the price of the room of virtual pods. p is the problem, with its pods divided by SpotPolicies.
func (c *comparison) room(p scheduling.Problem) {
	room := c.plan.Summary.RoomKept
	if room == nil {
		return
	}
	p.Pods = lo.Reject(p.Pods, func(pod *corev1.Pod, _ int) bool { return scheduling.IsVirtual(pod) })
	c.judge("roomKept.without", p, room.Without)
	switch got, price := room.PricePerHour, expected(c.plan); {
	case got == nil && room.Without == nil:
	case got != nil && room.Without == nil && len(c.plan.Launches) == 0 && *got == 0:
	case got == nil || room.Without == nil || *got != max(0, price-expected(room.Without)):
		c.report.Add(rule.SummaryRoomKept, "summary", "roomKept costs $%v, of a plan of $%v and one without virtual pods of $%v", lo.FromPtr(got), price, expected(room.Without))
	}
}

// spotPolicies judges the price of a plan without SpotPolicies.
func (c *comparison) spotPolicies(p scheduling.Problem) {
	s := &c.plan.Summary
	if len(p.SpotPolicies) == 0 && (s.WithoutSpotPolicies != nil || s.WithoutSpotPoliciesPerHour != nil) {
		c.report.Add(rule.SummarySpotShares, "summary", "has the price of a plan without SpotPolicies, and there are none")
		return
	}
	p.SpotPolicies = nil
	c.judge("withoutSpotPolicies", p, s.WithoutSpotPolicies)
	if got := s.WithoutSpotPoliciesPerHour; (got == nil) != (s.WithoutSpotPolicies == nil) || got != nil && *got != expected(s.WithoutSpotPolicies) {
		c.report.Add(rule.SummarySpotShares, "summary", "withoutSpotPoliciesPerHour is $%v, and withoutSpotPolicies costs $%v", lo.FromPtr(got), expected(s.WithoutSpotPolicies))
	}
}

// judge judges a plan that another one is compared with; nil is none.
func (c *comparison) judge(name string, p scheduling.Problem, plan *scheduling.Plan) {
	if plan == nil {
		return
	}
	policy := c.policy
	policy.NoReasons = true
	own := &rule.Report{}
	Judge(own, p, policy, plan, false)
	c.report.AddWithin(name, own)
}

// expected is the price that plans are compared by; 0 for no plan.
func expected(plan *scheduling.Plan) offerings.Price {
	if plan == nil {
		return 0
	}
	return max(plan.Summary.PricePerHour, plan.Summary.ExpectedPerHour)
}
