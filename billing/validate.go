package billing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// CommitmentError is a fault of a field of a commitment.
type CommitmentError struct {
	// Commitment is the id of the commitment, or its position if it has none.
	Commitment string
	// Field is the name of the field in YAML, Value its value.
	Field string
	Value string
	// Problem states the fault, and continues a sentence that begins with the value.
	Problem string
}

// Error names the commitment, the field, the value and the fault.
func (e *CommitmentError) Error() string {
	text := "commitment " + e.Commitment + ": " + e.Field + ": "
	if e.Value != "" {
		text += e.Value + ": "
	}
	return text + e.Problem
}

// Validate returns every fault of the commitment as [CommitmentError] values; none for a commitment that [Settle] can apply.
func (c *Commitment) Validate() []*CommitmentError {
	v := validation{name: cmp.Or(c.ID, "without id")}
	switch {
	case c.Amount <= 0:
		v.add("amount", c.Amount.String(), "must be more than 0")
	case c.Amount > MaxUnits:
		v.add("amount", c.Amount.String(), "must not exceed "+MaxUnits.String())
	case c.Kind == ReservedInstances && c.Amount%nano != 0:
		v.add("amount", c.Amount.String(), "must be a whole number of nodes")
	}
	if c.UsedElsewhere > c.Amount {
		v.add("usedElsewhere", c.UsedElsewhere.String(), "must not exceed the amount, "+c.Amount.String())
	}
	if c.InUse > c.Amount {
		v.add("inUse", c.InUse.String(), "must not exceed the amount, "+c.Amount.String())
	}
	c.validate(&v)
	return v.faults
}

// validateOffer returns the faults of a commitment that is on offer, which has no amount.
func (c *Commitment) validateOffer() []*CommitmentError {
	v := validation{name: cmp.Or(c.ID, "without id")}
	v.only(false, "amount", c.Amount.String(), c.Amount != 0)
	v.only(false, "usedElsewhere", c.UsedElsewhere.String(), c.UsedElsewhere != 0)
	v.only(false, "inUse", c.InUse.String(), c.InUse != 0)
	if c.Kind == ReservedInstances && c.CostPerHour <= 0 {
		v.add("costPerHour", c.CostPerHour.String(), "must be the price of one reserved instance per hour, more than 0")
	}
	if c.byResource() {
		v.add("kind", string(c.Kind), "want savings-plan or reserved-instances: other offers cannot be compared")
	}
	c.validate(&v)
	return v.faults
}

// validate checks the fields that commitments and offers have.
func (c *Commitment) validate(v *validation) {
	switch {
	case c.ID == "":
		v.add("id", "", "must not be empty")
	case !requirements.ValidLabelValue(c.ID):
		v.add("id", c.ID, "must be a valid label value: at most 63 letters, digits, dots, dashes and underscores")
	}
	if !slices.Contains(Kinds(), c.Kind) {
		v.add("kind", string(c.Kind), fmt.Sprintf("want one of %v", Kinds()))
	}
	if c.UsedElsewhere < 0 {
		v.add("usedElsewhere", c.UsedElsewhere.String(), "must not be negative")
	}
	if c.InUse < 0 {
		v.add("inUse", c.InUse.String(), "must not be negative")
	}
	if c.CostPerHour < 0 {
		v.add("costPerHour", c.CostPerHour.String(), "must not be negative")
	}
	if _, err := time.Parse(time.DateOnly, c.Ends); c.Ends != "" && err != nil {
		v.add("ends", c.Ends, "must be a day, as YYYY-MM-DD")
	}
	c.validateKind(v)
}

// validateKind checks the fields that only some kinds have.
func (c *Commitment) validateKind(v *validation) {
	v.only(c.Kind == ReservedInstances, "instanceType", c.InstanceType, c.InstanceType != "")
	v.only(c.Kind == ReservedInstances, "inUse", c.InUse.String(), c.InUse != 0)
	v.only(c.Kind == ReservedInstances, "sizeFlexible", "true", c.SizeFlexible)
	v.only(c.Kind == VCPUs || c.Kind == MemoryGiB, "unitPrice", c.UnitPrice.String(), c.UnitPrice != 0)
	v.only(c.Kind == SavingsPlan, "rates", "", len(c.Rates) > 0)
	v.only(c.Kind == SavingsPlan, "factor", c.Factor.String(), c.Factor != 0)
	v.only(c.Kind != ReservedInstances, "families", fmt.Sprint(c.Families), len(c.Families) > 0)
	if c.Kind == ReservedInstances && c.InstanceType == "" {
		v.add("instanceType", "", "must not be empty")
	}
	if c.Factor < 0 || c.Factor >= nano {
		v.add("factor", c.Factor.String(), "want 1 less the discount, more than 0 and less than 1, e.g. 0.72")
	}
	if c.UnitPrice < 0 {
		v.add("unitPrice", c.UnitPrice.String(), "must not be negative")
	}
	if c.Kind == SavingsPlan && len(c.Rates) == 0 && c.Factor == 0 {
		v.add("rates", "", "must not be empty without a factor: nothing else says how much of the plan a node takes")
	}
	for i, r := range c.Rates {
		if r.InstanceType == "" {
			v.add(fmt.Sprintf("rates[%d].instanceType", i), "", "must not be empty")
		}
		if r.Price < 0 || r.Price > offerings.Price(MaxUnits) {
			v.add(fmt.Sprintf("rates[%d].price", i), r.Price.String(), "must be a price per hour from 0 to "+MaxUnits.String())
		}
	}
}

// validation collects the faults of a commitment.
type validation struct {
	name   string
	faults []*CommitmentError
}

func (v *validation) add(field, value, problem string) {
	v.faults = append(v.faults, &CommitmentError{Commitment: v.name, Field: field, Value: value, Problem: problem})
}

// only reports a field that is set although the kind of the commitment does not have it.
func (v *validation) only(has bool, field, value string, set bool) {
	if set && !has {
		v.add(field, value, "is not a field of this kind of commitment")
	}
}
