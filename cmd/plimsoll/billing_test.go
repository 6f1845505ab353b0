package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// A plan draws on a savings plan for the types that it covers. Its NodeClaims do not name it, and verify accepts it with the
// settings that it states.
func TestPlanDrawsOnCommitments(t *testing.T) {
	billing := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: 5, factor: 0.7}, {id: old, kind: savings-plan, amount: 5, factor: 0.1, ends: 2020-01-01}, {id: paris, kind: savings-plan, amount: 1, factor: 0.7, region: eu-west-3}]\n")
	input := temp(t, "input.yaml", agent+onePod+placed("NodePool", "p", "karpenter.sh/capacity-type: on-demand"))
	r := run(t, "plan", "-f", input, "--billing", billing, "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	best := plan.Launches[0].Options[0]
	require.Equal(t, "sp-1", best.ReservationID)
	require.True(t, best.Commitment)
	require.Zero(t, best.Price)
	var notes []string
	for _, w := range plan.Warnings {
		notes = append(notes, w.Message)
	}
	require.Contains(t, notes, billing+": left out: commitment old, which ended on 2020-01-01")
	require.Contains(t, notes, "commitment paris: left out: it covers no offering of catalog ec2/us-east-1")

	file := temp(t, "plan.json", r.stdout)
	r = run(t, "verify", "-f", input, "--plan", file)
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(t, "plan", "-f", input, "--billing", billing)
	require.Contains(t, r.stdout, "COMMITMENTS\n  COMMITMENT  UNIT          COMMITTED")
	require.Contains(t, r.stdout, "commitment sp-1 is prepaid")
	r = run(t, "plan", "-f", input, "--billing", billing, "-o", "nodeclaims")
	require.NotContains(t, r.stdout, "reservation")
}

// Steps claim no saving that the bill does not have: where covered nodes go and no other takes their place, they end.
func TestStepsEndWhereCommitmentsPayAnyway(t *testing.T) {
	all := waste("--effort", "fast", "-o", "json")
	saved := func(amount string) (steps int, saving offerings.Price) {
		billing := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: "+amount+", factor: 0.72}]\n")
		r := run(t, append(all, "--billing", billing)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		var plan disruption.ConsolidationPlan
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &plan))
		return len(plan.Steps), plan.Summary.PricePerHourBefore - plan.Summary.PricePerHourAfter
	}
	few, little := saved("0.5")
	some, less := saved("2")
	require.Less(t, some, few)
	require.Less(t, less, little)
	// List prices are 3.6816 per hour, of which 2 / 0.72 are covered.
	require.LessOrEqual(t, less, offerings.MustPrice("0.9039"))
}

// Pods are not moved off nodes that are paid anyway, unless the step saves at least a cent a month: a smaller node of the same
// commitment saves nothing.
func TestStepsUnderCommitmentsSaveMoney(t *testing.T) {
	cent := offerings.MustPrice("0.01")
	for name, commitments := range map[string]string{
		"all":       "{id: all, kind: savings-plan, amount: 5, factor: 0.7}",
		"some":      "{id: some, kind: savings-plan, amount: 1.5, factor: 0.7}",
		"instances": "{id: web, kind: reserved-instances, amount: 8, instanceType: m5.large, region: us-east-1, sizeFlexible: true}",
	} {
		billing := temp(t, "billing.yaml", "commitments: ["+commitments+"]\n")
		r := run(t, waste("--billing", billing, "--node-overhead", "0", "-o", "json")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		for _, s := range moveset(t, r.stdout).Steps {
			if s.Reason == disruption.Underutilized {
				require.GreaterOrEqual(t, s.SavingPerHour*730, cent, "%s: %v", name, s.Drain)
			}
		}
	}
}

// Discounts come off the prices of the catalog. One that applies to no offering is warned of.
func TestDiscountsOfBilling(t *testing.T) {
	billing := temp(t, "billing.yaml", "discounts: [{percent: 50, capacityTypes: [on-demand]}, {percent: 10, families: [nowhere]}]\n")
	input := temp(t, "input.yaml", agent+onePod+placed("NodePool", "p", "karpenter.sh/capacity-type: on-demand"))
	price := func(flags ...string) offerings.Price {
		r := run(t, append([]string{"plan", "-f", input, "-o", "json"}, flags...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		return decodePlan(t, r.stdout).Summary.PricePerHour
	}
	require.Equal(t, price()/2, price("--billing", billing))
	r := run(t, "plan", "-f", input, "--billing", billing)
	require.Contains(t, r.stdout+r.stderr, "discounts[1]: left out: no offering of catalog ec2/us-east-1 matches it")
}

func TestFaultyBilling(t *testing.T) {
	for text, message := range map[string]string{
		"commitments: [{id: a, kind: plan, amount: 1}]": "commitment a: kind: plan: want one of",
		"commitments: [{id: a, kind: vcpus, amount: 1, families: [m5], region: us-east-9}, {id: b, kind: savings-plan, amount: 0, factor: 0.5}]": "commitment b: amount: 0: must be more than 0",
	} {
		r := run(t, "plan", "-f", quickstart, "--billing", temp(t, "billing.yaml", text))
		require.Equal(t, exitBadInput, r.code)
		require.Contains(t, r.stderr, message)
	}
	r := run(t, "plan", "-f", quickstart, "--billing", "nowhere.yaml")
	require.Contains(t, r.stderr, "--billing nowhere.yaml: no such file or directory")
}
