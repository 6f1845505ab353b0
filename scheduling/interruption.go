package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// InterruptionCost is the cost of one interruption of a spot node: work that is repeated, a second
// start-up, on-call time. The expected cost per hour of the interruptions of a node is
//
//	(PerNode + PerCore × cores) × rate ÷ 730
//
// with the cores of the node's whole capacity and the offering's interruption rate in a month;
// see [offerings.Offering.InterruptionCost]. It is a part of the expected price
// ([Policy.ExpectedPrice]). With the zero value interruptions cost nothing.
type InterruptionCost struct {
	// PerNode is the cost of each interruption, whatever the size of the node, in USD.
	PerNode offerings.Amount
	// PerCore is added for each core of the node's capacity.
	PerCore offerings.Amount
	// UnstatedRate is the monthly rate, 0 to 1, of spot offerings that state none; 0 means that
	// they are never interrupted.
	UnstatedRate float64
}

// On reports whether interruptions count.
func (i InterruptionCost) On() bool { return i.PerNode > 0 || i.PerCore > 0 }

// cost is the expected cost of the interruptions of a machine per hour.
func (i InterruptionCost) cost(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
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
