package snapshot

import (
	"fmt"
	"math"
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Policy is the settings under which plans are made, with the questions that the judge asks of them.
type Policy scheduling.Policy

// Excluded says why the settings keep an offering from being bought; "" if they do not.
func (p *Policy) Excluded(t *instancetypes.InstanceType, o offerings.Offering) string {
	if p.NoSpot && o.CapacityType == offerings.Spot {
		return "is spot, and the settings exclude spot"
	}
	for _, keep := range p.Filters {
		if keep != nil && !keep(t, o) {
			return "is excluded by a filter"
		}
	}
	size := p.Size
	if len(size.Smallest)+len(size.Largest) == 0 {
		return ""
	}
	capacity := capacityOf(t, o)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		has := capacity[name]
		if least, ok := size.Smallest[name]; ok && has.Cmp(least) < 0 {
			return fmt.Sprintf("has %s of %s, below the minimum node size of %s", has.String(), name, least.String())
		}
		if most, ok := size.Largest[name]; ok && has.Cmp(most) > 0 {
			return fmt.Sprintf("has %s of %s, above the maximum node size of %s", has.String(), name, most.String())
		}
	}
	return ""
}

// Objective returns the price per hour that plans keep low: that of the offering, the overhead of a node, and the
// expected cost of interruptions. For a cost c of each interruption and a rate of n millionths in a month the latter
// is c·n ÷ 730,000,000, rounded to the nearest nano-USD.
func (p *Policy) Objective(t *instancetypes.InstanceType, o offerings.Offering) offerings.Price {
	i := p.InterruptionCost
	cost := new(big.Int)
	if o.CapacityType == offerings.Spot {
		rate := o.InterruptionRate
		if rate == 0 {
			rate = i.UnstatedRate
		}
		cpu := capacityOf(t, o)[corev1.ResourceCPU]
		cost.Mul(big.NewInt(int64(i.PerCore)), big.NewInt(cpu.MilliValue()))
		cost.Div(cost, big.NewInt(1000))
		cost.Add(cost, big.NewInt(int64(i.PerNode)))
		cost.Mul(cost, big.NewInt(int64(math.Round(rate*1e6))))
		cost.Add(cost, big.NewInt(730e6/2))
		cost.Div(cost, big.NewInt(730e6))
	}
	cost.Add(cost, big.NewInt(int64(p.NodeOverhead)))
	cost.Add(cost, big.NewInt(int64(o.Price)))
	if !cost.IsInt64() {
		return offerings.MaxPrice
	}
	return offerings.Price(cost.Int64())
}

// Expects reports whether machines cost something beside their prices.
func (p *Policy) Expects() bool {
	i := p.InterruptionCost
	return p.NodeOverhead > 0 || i.PerNode > 0 || i.PerCore > 0
}

// StrictMinValues reports whether launches have to keep the minValues of their pools.
func (p *Policy) StrictMinValues() bool {
	return p.MinValues != scheduling.MinValuesBestEffort
}

// Candidate is the machine as rankings see it.
func (p *Policy) Candidate(m *Node) offerings.Candidate {
	c := offerings.Candidate{InstanceType: m.Kind.Name, Offering: m.Offering}
	c.Offering.Price = p.Objective(m.Kind, m.Offering)
	return c
}

// MostTogether is how many pods of a workload of that size may share a node.
func (p *Policy) MostTogether(size int) int { return max(1, size*p.WorkloadShare/100) }
