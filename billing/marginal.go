package billing

import "github.com/plimsoll-go/plimsoll/offerings"

// Marginal returns for each node by how much the bill falls when the node alone is removed. It is less than the list
// price where a commitment covers the node and no other usage takes its place.
func Marginal(usages []Usage, commitments []Commitment) []offerings.Price {
	type kind struct {
		instanceType, zone string
		capacityType       offerings.CapacityType
		price              offerings.Price
	}
	whole := Settle(usages, commitments).Uncovered
	known := map[kind]offerings.Price{}
	prices := make([]offerings.Price, len(usages))
	rest := make([]Usage, 0, len(usages))
	for i := range usages {
		u := &usages[i]
		k := kind{u.InstanceType, u.Zone, u.CapacityType, u.Price}
		saving, ok := known[k]
		if !ok {
			rest = append(append(rest[:0], usages[:i]...), usages[i+1:]...)
			saving = max(whole-Settle(rest, commitments).Uncovered, 0)
			known[k] = saving
		}
		prices[i] = saving
	}
	return prices
}
