package bill

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// drawn is a random set of nodes under random commitments of all kinds.
func drawn(seed uint64) (usages []billing.Usage, commitments []billing.Commitment) {
	r := rand.New(rand.NewPCG(seed, 61))
	types := []string{"m5.large", "m5.xlarge", "m5.4xlarge", "c5.large", "r5.metal-24xl", "n2-standard-4", "n2-highmem-8", "Standard_D8s_v5", "Standard_D4s_v5"}
	zones := []string{"us-east-1a", "us-east-1b", "eu-west-1a"}
	by := []offerings.CapacityType{offerings.OnDemand, offerings.OnDemand, offerings.OnDemand, offerings.Spot}
	for i := range r.IntN(14) {
		usages = append(usages, billing.Usage{
			Name: fmt.Sprint("node-", i), InstanceType: types[r.IntN(len(types))], Zone: zones[r.IntN(3)], CapacityType: by[r.IntN(4)],
			Price: offerings.Price(r.Int64N(2 * one)), Discount: offerings.Price(r.Int64N(2)) * 1000, MilliCPU: r.Int64N(32_000), MemoryMiB: r.Int64N(128 << 10),
		})
	}
	for i := range r.IntN(7) {
		c := billing.Commitment{ID: fmt.Sprint("c-", i), Kind: billing.Kinds()[r.IntN(4)], Amount: billing.Units(1 + r.Int64N(12*one))}
		c.UsedElsewhere, c.CostPerHour = billing.Units(r.Int64N(2)*r.Int64N(6*one)), offerings.Price(r.Int64N(2)*one)
		c.Region, c.Zone = []string{"", "", "us-east-1"}[r.IntN(3)], []string{"", "", "", "us-east-1a"}[r.IntN(4)]
		if c.Kind != billing.ReservedInstances && r.IntN(2) == 0 {
			c.Families = []string{billing.FamilyOf(types[r.IntN(len(types))]), "m5"}
		}
		switch c.Kind {
		case billing.ReservedInstances:
			c.InstanceType, c.SizeFlexible = types[r.IntN(len(types))], r.IntN(3) > 0
		case billing.SavingsPlan:
			c.Factor = billing.Units(r.Int64N(one))
			for range r.IntN(4) {
				c.Rates = append(c.Rates, billing.Rate{InstanceType: types[r.IntN(len(types))], Region: []string{"", "us-east-1"}[r.IntN(2)], Price: offerings.Price(r.Int64N(one))})
			}
		default:
			c.UnitPrice = offerings.Price(r.Int64N(one / 10))
		}
		commitments = append(commitments, c)
	}
	return usages, commitments
}

// Every bill that package billing states passes.
func TestBillsPass(t *testing.T) {
	covered := 0
	for seed := range uint64(3000) {
		usages, commitments := drawn(seed)
		b := billing.Settle(usages, commitments)
		require.NoError(t, Check(usages, commitments, &b), "seed %d", seed)
		for _, u := range b.Commitments {
			covered += len(u.Nodes)
		}
	}
	assert.Greater(t, covered, 3000)
}

// No forged bill passes.
func TestForgedBills(t *testing.T) {
	forgeries := map[string]func(b *billing.Bill, u *billing.Use){
		"a lower bill":                  func(b *billing.Bill, _ *billing.Use) { b.PerHour-- },
		"a lower month":                 func(b *billing.Bill, _ *billing.Use) { b.PerMonth -= 730 },
		"another list price":            func(b *billing.Bill, _ *billing.Use) { b.List++ },
		"no discounts":                  func(b *billing.Bill, _ *billing.Use) { b.Discounts++ },
		"a commitment of another price": func(_ *billing.Bill, u *billing.Use) { u.CostPerHour++ },
		"a commitment left out":         func(b *billing.Bill, _ *billing.Use) { b.Commitments = b.Commitments[1:] },
		"a commitment used twice":       func(_ *billing.Bill, u *billing.Use) { u.Nodes = append(u.Nodes, u.Nodes[0]) },
		"more than is left":             func(_ *billing.Bill, u *billing.Use) { u.Used, u.Unused = u.Used+u.Unused+1, -1 },
		"use elsewhere kept secret":     func(_ *billing.Bill, u *billing.Use) { u.Elsewhere, u.Unused = u.Elsewhere+1, u.Unused-1 },
		"coverage doubled": func(b *billing.Bill, u *billing.Use) {
			n := &u.Nodes[0]
			b.Covered, b.Uncovered, b.PerHour, b.PerMonth = b.Covered+n.Covers, b.Uncovered-n.Covers, b.PerHour-n.Covers, b.PerMonth-730*n.Covers
			u.Covers, n.Covers = u.Covers+n.Covers, 2*n.Covers
		},
		"coverage for less": func(_ *billing.Bill, u *billing.Use) {
			n := &u.Nodes[0]
			u.Used, u.Unused, n.Amount = u.Used-n.Amount/2-1, u.Unused+n.Amount/2+1, n.Amount-n.Amount/2-1
		},
		"a node left out": func(b *billing.Bill, u *billing.Use) {
			n := u.Nodes[0]
			b.Covered, b.Uncovered, b.PerHour, b.PerMonth = b.Covered-n.Covers, b.Uncovered+n.Covers, b.PerHour+n.Covers, b.PerMonth+730*n.Covers
			u.Covers, u.Used, u.Unused, u.Nodes = u.Covers-n.Covers, u.Used-n.Amount, u.Unused+n.Amount, u.Nodes[1:]
		},
		"a node that does not exist": func(_ *billing.Bill, u *billing.Use) { u.Nodes[0].Node = "nowhere" },
	}
	tried := map[string]int{}
	for seed := range uint64(400) {
		usages, commitments := drawn(seed)
		for name, forge := range forgeries {
			b := billing.Settle(usages, commitments)
			at := slices.IndexFunc(b.Commitments, func(u billing.Use) bool { return len(u.Nodes) > 0 && u.Nodes[0].Amount > 10 && u.Nodes[0].Covers > 10 })
			if at < 0 {
				continue
			}
			forge(&b, &b.Commitments[at])
			tried[name]++
			assert.Error(t, Check(usages, commitments, &b), "seed %d: %s", seed, name)
		}
	}
	assert.Len(t, tried, len(forgeries))
}
