package bills

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Judge checks the bill that a plan with some launches states, by [verify.Bill], which shares no code with [billing.Settle]. It returns nil
// for a plan that states no bill, e.g. one of the library, and does not check the offers of a bill.
func (b *Bills) Judge(stated *billing.Statement, launches []scheduling.Launch) error {
	return b.judge(stated, nil, launches)
}

// JudgeSteps is Judge for a plan of steps, with the amount by which the bill falls with each.
func (b *Bills) JudgeSteps(stated *billing.Statement, steps []disruption.Step) error {
	removed, launches := changes(steps)
	if err := b.judge(stated, removed, launches); err != nil || stated == nil {
		return err
	}
	if len(stated.Steps) != len(steps) {
		return fmt.Errorf("bill.steps: has %d amounts, want one for each of %d steps", len(stated.Steps), len(steps))
	}
	i, last := 0, stated.Before.PerHour
	for charges := range b.chargesAfterEach(b.listed.Nodes, steps) {
		bill := b.settle(charges)
		if err := verify.Bill(charges.usages, b.commitments, &bill); err != nil {
			return fmt.Errorf("bill.steps[%d]: %w", i, err)
		}
		if falls := last - bill.PerHour; stated.Steps[i] != falls {
			return fmt.Errorf("bill.steps[%d]: %v, but the bill falls by %v", i, stated.Steps[i], falls)
		}
		i, last = i+1, bill.PerHour
	}
	return nil
}

func (b *Bills) judge(stated *billing.Statement, removed []string, launches []scheduling.Launch) error {
	switch {
	case stated == nil:
		return nil
	case b == nil:
		return errors.New("bill: the plan states a bill, but there are no commitments and discounts: name their files with --billing")
	}
	before := b.judgeBill("bill.before", &stated.Before, b.charges(b.listed.Nodes))
	return errors.Join(before, b.judgeBill("bill.after", &stated.After, b.chargesAfter(b.listed.Nodes, removed, launches)))
}

// judgeBill checks the bill in a field of a plan, of charges.
func (b *Bills) judgeBill(field string, stated *billing.Bill, c charges) error {
	var err error
	if !slices.Equal(stated.UnpricedNodes, c.unpriced) {
		err = fmt.Errorf("unpricedNodes: %v, but the nodes without a price are %v", stated.UnpricedNodes, c.unpriced)
	}
	if !reflect.DeepEqual(stated.Reservations, c.reserved) {
		err = errors.Join(err, fmt.Errorf("reservations: %+v, but the use of the capacity reservations is %+v", stated.Reservations, c.reserved))
	}
	if err = errors.Join(err, verify.Bill(c.usages, b.commitments, stated)); err != nil {
		return errors.Join(fmt.Errorf("%s: is not the bill of the nodes under the commitments", field), err)
	}
	return nil
}
