package bills_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// randomCommitments are a savings plan for all types, and reserved instances and capacity reservations of the types of some nodes on demand.
func randomCommitments(d dice.Dice, p *scheduling.Problem) (in billing.Input) {
	const one billing.Units = 1_000_000_000
	var spent offerings.Price
	for _, node := range p.Nodes {
		key := instancetypes.OfferingOf(node)
		o, ok := p.Catalog.Lookup(key)
		if !ok || key.CapacityType != offerings.OnDemand || key.ReservationID != "" {
			continue
		}
		spent += o.Price
		if d.OneIn(3) {
			in.Reservations = append(in.Reservations, billing.Commitment{ID: fmt.Sprintf("capacity-%d", len(in.Reservations)), Kind: billing.ReservedInstances, Amount: billing.Units(1+d.IntN(2)) * one, InstanceType: key.InstanceType, Zone: key.Zone})
		}
		if d.OneIn(2) {
			in.Commitments = append(in.Commitments, billing.Commitment{ID: fmt.Sprintf("reserved-%d", len(in.Commitments)), Kind: billing.ReservedInstances, Amount: one, InstanceType: key.InstanceType, CostPerHour: o.Price / 2})
		}
	}
	if spent > 0 && d.OneIn(2) {
		in.Commitments = append(in.Commitments, billing.Commitment{ID: "plan", Kind: billing.SavingsPlan, Amount: billing.Units(spent/10) * billing.Units(1+d.IntN(9)), Factor: one / 10 * 7})
	}
	return in
}

// Whatever the commitments are, the amounts of steps add up to the change of the bill, steps whose reason is to save lower it, and
// a false amount is refused.
func TestStepsLowerTheBill(t *testing.T) {
	saving, raising := 0, 0
	for seed := range uint64(80) {
		c := schedulingtest.RandomCluster(seed)
		d := dice.New(seed ^ 0x62696c6c)
		in := randomCommitments(d, &c.Problem)
		if len(in.Commitments)+len(in.Reservations) == 0 {
			continue
		}
		b, err := bills.Apply(&c.Problem, c.Catalog, &in)
		require.NoError(t, err)
		planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		plan, err := planner.Plan(t.Context(), c)
		require.NoError(t, err, "seed %d", seed)
		plan, err = b.Steps(t.Context(), planner, c, plan)
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(c, plan), "seed %d", seed)
		require.NoError(t, b.JudgeSteps(plan.Bill, plan.Steps), "seed %d", seed)
		var sum offerings.Price
		for i, falls := range plan.Bill.Steps {
			if sum += falls; plan.Steps[i].Reason == disruption.Underutilized {
				require.Positive(t, falls, "seed %d: step %d", seed, i)
				saving++
			} else if falls < 0 {
				raising++
			}
		}
		require.Equal(t, plan.Bill.Before.PerHour-plan.Bill.After.PerHour, sum, "seed %d", seed)
		if len(plan.Steps) > 0 {
			plan.Bill.Steps[0]++
			require.ErrorContains(t, b.JudgeSteps(plan.Bill, plan.Steps), "bill.steps[0]", "seed %d", seed)
		}
	}
	require.Positive(t, saving)
	require.Positive(t, raising)
}
