package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Interruption says what it costs when a spot machine is taken away: work that is lost
// and done again, a start that is paid for twice, a person who looks. In an hour the
// interruptions of a machine are expected to cost
//
//	(PerNode + PerCore × cores) × rate ÷ 730
//
// with the cores of the machine's whole capacity and the offering's interruption rate
// in a month; see [offerings.Offering.InterruptionCost]. That is a part of the expected
// price ([Policy.ExpectedPrice]). The zero value leaves interruptions out of account.
type Interruption struct {
	// PerNode is lost with a machine of whatever size, in USD for each interruption.
	PerNode offerings.Amount
	// PerCore is lost in addition for each core of the machine's capacity.
	PerCore offerings.Amount
	// UnstatedRate is the monthly rate, 0 to 1, that spot offerings are taken to have
	// which state none; 0 takes them for never interrupted.
	UnstatedRate float64
}

// On reports whether interruptions count.
func (i Interruption) On() bool { return i.PerNode > 0 || i.PerCore > 0 }

// cost is what the interruptions of a machine are expected to cost per hour.
func (i Interruption) cost(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	if !i.On() || o.CapacityType != offerings.Spot {
		return 0
	}
	cpu, ok := o.Capacity[corev1.ResourceCPU]
	if !ok {
		cpu = t.Capacity[corev1.ResourceCPU]
	}
	rated := *o
	if rated.InterruptionRate == 0 {
		rated.InterruptionRate = i.UnstatedRate
	}
	return rated.InterruptionCost(i.PerNode.Plus(i.PerCore.PerThousand(cpu.MilliValue())))
}
