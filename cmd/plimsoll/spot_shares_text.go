package main

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// spotShares writes a line for each SpotPolicy: how many of its pods are on demand, and on spot nodes.
func (t *table) spotShares(shares []scheduling.SpotShare) {
	for i := range shares {
		s := &shares[i]
		text := fmt.Sprintf("SpotPolicy %s: of %s, %d on demand (at least %d) and %d on spot nodes", s.Policy, figures.Count(s.Pods, "pod"), s.OnDemand, s.MinOnDemand, s.Spot)
		if pending := s.Pods - s.OnDemand - s.Spot; pending > 0 {
			text += fmt.Sprintf(", %d pending", pending)
		}
		if s.OnDemand < s.MinOnDemand {
			text += ": the policy is not met"
		}
		t.line("%s.", text)
	}
}

// spotPoliciesPrice says how much more a plan costs than without its SpotPolicies.
func (t *table) spotPoliciesPrice(s *scheduling.Summary) {
	switch without := s.WithoutSpotPoliciesPerHour; {
	case without == nil:
	case objective(s) <= *without:
		t.line("The SpotPolicies cost nothing: without them the plan would be no cheaper.")
	default:
		t.line("The SpotPolicies cost about %s per hour: without them the plan would be %s.", figures.USD(objective(s)-*without), figures.USD(*without))
	}
}
