package billing_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

const one billing.Units = 1_000_000_000

func price(s string) offerings.Price { return offerings.MustPrice(s) }

func amount(s string) billing.Units { return billing.Units(price(s)) }

// nodes are n on-demand nodes of a type.
func nodes(n int, instanceType, zone, usd string, cpu, mib int64) (list []billing.Usage) {
	for i := range n {
		list = append(list, billing.Usage{
			Name: fmt.Sprintf("%s-%s-%d", instanceType, zone, i), InstanceType: instanceType, Zone: zone, CapacityType: offerings.OnDemand,
			Price: price(usd), MilliCPU: 1000 * cpu, MemoryMiB: mib,
		})
	}
	return list
}

func join(lists ...[]billing.Usage) (all []billing.Usage) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Ten nodes in us-east-1, by hand:
//
//	4 m5.large  at 0.096 in us-east-1a
//	3 m5.xlarge at 0.192 in us-east-1b
//	2 c5.large  at 0.085 in us-east-1a
//	1 m5.large  spot at 0.035
//
// List: 0.384 + 0.576 + 0.170 + 0.035 = 1.165.
// 1 zonal reserved m5.large in us-east-1a covers one m5.large (0.096).
// 5 regional reserved m5.large (20 normalized units) cover 3 m5.large (12 units) and the first m5.xlarge (8 units): the
// price by unit is equal, so the smaller come first. 0.288 + 0.192 = 0.48 covered.
// The EC2 instance plan of m5 (0.1 USD/h, rates 0.06 and 0.12) has 2 m5.xlarge left: it covers 0.1/0.12 of one: 0.16.
// The compute plan (0.13 USD/h, 0.055 for c5.large, 0.138 for m5.xlarge): savings are 35.3 % of c5 and 28.1 % of m5, so
// both c5.large come first (0.11, covers 0.17), then 0.02 of the remaining xlarge: 0.02/0.138 × 0.192 = 0.027826086.
// Uncovered: 1.165 - 0.096 - 0.48 - 0.16 - 0.17 - 0.027826086 = 0.231173914, of which 0.035 is spot.
func TestBillOfTenNodesOfAWS(t *testing.T) {
	usages := join(
		nodes(4, "m5.large", "us-east-1a", "0.096", 2, 8192), nodes(3, "m5.xlarge", "us-east-1b", "0.192", 4, 16384),
		nodes(2, "c5.large", "us-east-1a", "0.085", 2, 4096), nodes(1, "m5.large", "us-east-1c", "0.035", 2, 8192))
	usages[9].CapacityType = offerings.Spot
	bill := billing.Settle(usages, []billing.Commitment{
		{
			ID: "compute", Kind: billing.SavingsPlan, Amount: amount("0.13"),
			Rates: []billing.Rate{{InstanceType: "c5.large", Price: price("0.055")}, {InstanceType: "m5.xlarge", Price: price("0.138")}, {InstanceType: "m5.large", Price: price("0.069")}},
		},
		{
			ID: "m5", Kind: billing.SavingsPlan, Amount: amount("0.1"), Region: "us-east-1", Families: []string{"m5"},
			Rates: []billing.Rate{{InstanceType: "m5.large", Region: "us-east-1", Price: price("0.06")}, {InstanceType: "m5.xlarge", Price: price("0.12")}},
		},
		{ID: "regional", Kind: billing.ReservedInstances, Amount: 5 * one, InstanceType: "m5.large", Region: "us-east-1", SizeFlexible: true, CostPerHour: price("0.3")},
		{ID: "zonal", Kind: billing.ReservedInstances, Amount: 1 * one, InstanceType: "m5.large", Zone: "us-east-1a", CostPerHour: price("0.06")},
	})
	assert.Equal(t, price("1.165"), bill.List)
	assert.Equal(t, price("0.231173914"), bill.Uncovered)
	assert.Equal(t, price("0.59"), bill.Committed)
	assert.Equal(t, price("0.821173914"), bill.PerHour)
	var got []string
	for _, u := range bill.Commitments {
		got = append(got, fmt.Sprintf("%s: %v used, %v unused, covers %v", u.Commitment, u.Used, u.Unused, u.Covers))
	}
	assert.Equal(t, []string{
		"zonal: 1 used, 0 unused, covers 0.096",
		"regional: 5 used, 0 unused, covers 0.48",
		"m5: 0.1 used, 0 unused, covers 0.16",
		"compute: 0.13 used, 0 unused, covers 0.197826086",
	}, got)
}

// Ten nodes in europe-west1, by hand. n2 costs 0.03 for a vCPU and 0.004 for a GiB:
//
//	6 n2-standard-4 (4 vCPUs, 16 GiB) at 0.12 + 0.064 = 0.184
//	2 n2-highmem-4  (4 vCPUs, 32 GiB) at 0.12 + 0.128 = 0.248
//	2 e2-standard-4 at 0.134
//
// List: 1.104 + 0.496 + 0.268 = 1.868.
// 20 vCPUs of n2 cover 5 nodes' vCPUs: 20 × 0.03 = 0.6. 100 GiB, of which 4 are used elsewhere: 96 × 0.004 = 0.384.
// Of n2 there remain 0.616. A flexible commitment of 0.2 USD/h at a factor of 0.8 covers 0.25 of list price, of n2 and e2 alike.
// Uncovered: 1.868 - 0.6 - 0.384 - 0.25 = 0.634.
func TestBillOfTenNodesOfGoogleCloud(t *testing.T) {
	usages := join(
		nodes(6, "n2-standard-4", "europe-west1-b", "0.184", 4, 16<<10), nodes(2, "n2-highmem-4", "europe-west1-c", "0.248", 4, 32<<10),
		nodes(2, "e2-standard-4", "europe-west1-b", "0.134", 4, 16<<10))
	bill := billing.Settle(usages, []billing.Commitment{
		{ID: "flexible", Kind: billing.SavingsPlan, Amount: amount("0.2"), Factor: amount("0.8")},
		{ID: "n2-vcpus", Kind: billing.VCPUs, Amount: 20 * one, Families: []string{"n2"}, Region: "europe-west1", UnitPrice: price("0.03")},
		{ID: "n2-memory", Kind: billing.MemoryGiB, Amount: 100 * one, UsedElsewhere: 4 * one, Families: []string{"n2"}, Region: "europe-west1", UnitPrice: price("0.004")},
	})
	assert.Equal(t, price("1.868"), bill.List)
	assert.Equal(t, price("0.634"), bill.Uncovered)
	assert.Equal(t, 2, bill.Unpriced)
	for _, u := range bill.Commitments {
		assert.Zero(t, u.Unused, u.Commitment)
	}
}

// Ten nodes in westeurope, by hand:
//
//	6 Standard_D4s_v5 at 0.23, 2 Standard_D8s_v5 at 0.46, 2 Standard_E4s_v5 at 0.304
//
// List: 1.38 + 0.92 + 0.608 = 2.908.
// 7 reserved Standard_D4s_v5 with size flexibility cover 6 of them and half of a D8s (2 D4s each): 1.38 + 0.23 = 1.61.
// 1 reserved E4s_v5 without flexibility covers 0.304.
// A savings plan of 0.3 USD/h with a factor of 0.65: it covers 0.3 / 0.65 = 0.461538461 of list price.
// Uncovered: 2.908 - 1.61 - 0.304 - 0.461538461 = 0.532461539.
func TestBillOfTenNodesOfAzure(t *testing.T) {
	usages := join(
		nodes(6, "Standard_D4s_v5", "westeurope-1", "0.23", 4, 16<<10), nodes(2, "Standard_D8s_v5", "westeurope-2", "0.46", 8, 32<<10),
		nodes(2, "Standard_E4s_v5", "westeurope-3", "0.304", 4, 32<<10))
	bill := billing.Settle(usages, []billing.Commitment{
		{ID: "d4", Kind: billing.ReservedInstances, Amount: 7 * one, InstanceType: "Standard_D4s_v5", Region: "westeurope", SizeFlexible: true},
		{ID: "e4", Kind: billing.ReservedInstances, Amount: 1 * one, InstanceType: "Standard_E4s_v5", Region: "westeurope"},
		{ID: "plan", Kind: billing.SavingsPlan, Amount: amount("0.3"), Factor: amount("0.65")},
	})
	assert.Equal(t, price("2.908"), bill.List)
	// A node's share is rounded by less than one nano-USD.
	assert.InDelta(t, int64(price("0.532461539")), int64(bill.Uncovered), 3)
	assert.Equal(t, price("0.3"), bill.Committed)
}

// One savings plan covers nodes so that the bill is the lowest: no choice of wholly covered nodes and one
// that is covered in part has a lower one.
func TestOnePlanGivesTheLowestBill(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for range 300 {
		c := billing.Commitment{ID: "plan", Kind: billing.SavingsPlan, Amount: billing.Units(1 + rng.Int64N(3_000_000_000))}
		var usages []billing.Usage
		var rates []int64
		for i := range 1 + rng.IntN(7) {
			name := fmt.Sprintf("m%d.large", i)
			list := 1 + rng.Int64N(1_000_000_000)
			rates = append(rates, 1+rng.Int64N(list))
			usages = append(usages, billing.Usage{Name: name, InstanceType: name, Zone: "us-east-1a", CapacityType: offerings.OnDemand, Price: offerings.Price(list)})
			c.Rates = append(c.Rates, billing.Rate{InstanceType: name, Price: offerings.Price(rates[i])})
		}
		least := lowest(usages, rates, int64(c.Amount))
		got := billing.Settle(usages, []billing.Commitment{c})
		require.InDelta(t, least, float64(got.Uncovered), 8)
	}
}

// lowest tries every set of covered nodes, and every node as the one that the rest of the plan covers in part.
func lowest(usages []billing.Usage, rates []int64, plan int64) float64 {
	least := 0.0
	for _, u := range usages {
		least += float64(u.Price)
	}
	for set := range 1 << len(usages) {
		left, open := plan, 0.0
		for i, u := range usages {
			if set>>i&1 == 1 {
				left -= rates[i]
			} else {
				open += float64(u.Price)
			}
		}
		if left < 0 {
			continue
		}
		least = min(least, open)
		for i, u := range usages {
			if set>>i&1 == 0 {
				least = min(least, open-float64(u.Price)*min(1, float64(left)/float64(rates[i])))
			}
		}
	}
	return least
}

// The part of a node's price that is not covered, its use of the commitment, and its marginal price agree with the sums.
func TestSharesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 2))
	types := []string{"m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "c5.4xlarge"}
	for range 200 {
		var usages []billing.Usage
		for range rng.IntN(12) {
			usages = append(usages, nodes(1, types[rng.IntN(len(types))], []string{"us-east-1a", "us-east-1b"}[rng.IntN(2)], fmt.Sprintf("0.%d", 1+rng.IntN(999)), 4, 16<<10)...)
			usages[len(usages)-1].Discount = offerings.Price(rng.Int64N(int64(one)))
		}
		commitments := []billing.Commitment{
			{ID: "ri", Kind: billing.ReservedInstances, Amount: one * billing.Units(1+rng.IntN(5)), InstanceType: "m5.large", SizeFlexible: rng.IntN(2) == 0},
			{ID: "cpu", Kind: billing.VCPUs, Amount: one * billing.Units(1+rng.IntN(20)), UnitPrice: price("0.02"), Families: []string{"c5"}},
			{ID: "plan", Kind: billing.SavingsPlan, Amount: one / 10 * billing.Units(1+rng.IntN(9)), Factor: amount("0.7")},
		}
		bill := billing.Settle(usages, commitments)
		var uncovered, covered offerings.Price
		for _, n := range bill.Nodes {
			assert.GreaterOrEqual(t, n.Uncovered, offerings.Price(0))
			uncovered += n.Uncovered
		}
		for i, u := range bill.Commitments {
			covered += u.Covers
			var used billing.Units
			var covers offerings.Price
			for _, n := range u.Nodes {
				used, covers = used+n.Amount, covers+n.Covers
			}
			assert.Equal(t, []any{u.Used, u.Covers}, []any{used, covers}, "the nodes of %s", u.Commitment)
			assert.Equal(t, u.Amount, u.Used+u.Unused+u.Elsewhere, i)
			assert.GreaterOrEqual(t, u.Unused, billing.Units(0))
		}
		assert.Equal(t, bill.Uncovered, uncovered)
		assert.LessOrEqual(t, covered, billing.MostCovered(commitments, catalogOf(t, usages)))
		assert.Equal(t, bill.Covered, covered)
		assert.Equal(t, bill.List, bill.Discounts+uncovered+covered)
		assert.Equal(t, bill.PerHour, bill.Committed+uncovered)
		assert.Equal(t, bill.PerMonth, 730*bill.PerHour)
		for i, saving := range billing.Marginal(usages, commitments) {
			assert.LessOrEqual(t, saving, usages[i].Price)
		}
	}
}

// catalogOf sells the types of usages at the highest of their prices.
func catalogOf(t *testing.T, usages []billing.Usage) *instancetypes.Catalog {
	t.Helper()
	sold := map[string]*instancetypes.InstanceType{}
	for _, u := range usages {
		kind := st.Type(u.InstanceType, st.Capacity(st.Cores(u.MilliCPU/1000), st.MiB(u.MemoryMiB)), st.OnDemand(u.Zone, u.Price))
		if have := sold[u.InstanceType]; have == nil || have.Offerings[0].Price < u.Price {
			sold[u.InstanceType] = kind
		}
	}
	catalog, err := instancetypes.NewCatalog(slices.Collect(maps.Values(sold))...)
	require.NoError(t, err)
	return catalog
}

func TestMarginalPrice(t *testing.T) {
	c := []billing.Commitment{{ID: "ri", Kind: billing.ReservedInstances, Amount: 2 * one, InstanceType: "m5.large"}}
	two := nodes(2, "m5.large", "us-east-1a", "0.1", 2, 8192)
	assert.Equal(t, []offerings.Price{0, 0}, billing.Marginal(two, c), "paid anyway")
	three := nodes(3, "m5.large", "us-east-1a", "0.1", 2, 8192)
	assert.Equal(t, []offerings.Price{price("0.1"), price("0.1"), price("0.1")}, billing.Marginal(three, c), "another node takes the place")
}

func TestFamilies(t *testing.T) {
	assert.Equal(t, []string{"m7i", "n2", "n2d", "Standard_Ds_v5"}, []string{billing.FamilyOf("m7i.metal-24xl"), billing.FamilyOf("n2-highmem-4"), billing.FamilyOf("n2d-standard-4"), billing.FamilyOf("Standard_D8s_v5")})
}
