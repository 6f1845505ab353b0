package offerings_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Prices add up exactly, where floating point would drift.
func ExamplePrice() {
	total, hourly := offerings.Price(0), offerings.MustPrice("0.1")
	for range 3 {
		total, _ = total.Plus(hourly)
	}
	fmt.Println(total, "USD per hour, against", 0.1+0.1+hourly.USD())
	// Output: 0.3 USD per hour, against 0.30000000000000004
}

func ExampleParsePrice() {
	for _, text := range []string{"0.0412", "4.12e-2", "-1", "0.1 USD"} {
		price, err := offerings.ParsePrice(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(price)
	}
	// Output:
	// 0.0412
	// 0.0412
	// price "-1": must not be negative
	// price "0.1 USD": want a decimal number of USD per hour, like 0.0412
}

func ExampleAdjustment_Apply() {
	for _, text := range []string{"0.05", "+0.01", "-10%", "-1"} {
		adjustment, err := offerings.ParseAdjustment(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s makes %v\n", adjustment, adjustment.Apply(offerings.MustPrice("0.04")))
	}
	// Output:
	// 0.05 makes 0.05
	// +0.01 makes 0.05
	// -10% makes 0.036
	// -1 makes 0
}

func ExampleOffering_NodeLabels() {
	o := offerings.Offering{Zone: "us-east-1a", CapacityType: offerings.Spot, Price: offerings.MustPrice("0.0412")}
	data, err := json.MarshalIndent(o.NodeLabels(), "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	// Output:
	// {
	//   "karpenter.sh/capacity-type": "spot",
	//   "topology.kubernetes.io/zone": "us-east-1a"
	// }
}

func ExampleOffering_Validate() {
	fmt.Println(offerings.Offering{CapacityType: "ondemand", Price: -1}.Validate())
	// Output:
	// zone: must not be empty
	// capacityType: capacity type "ondemand": want reserved, spot or on-demand; did you mean on-demand?
	// price: -0.000000001: must not be negative
}

// spotPools offers three spot pools, of which the cheapest is interrupted most.
func spotPools() []offerings.Candidate {
	spot := func(instanceType, zone, price string, rate float64) offerings.Candidate {
		return offerings.Candidate{InstanceType: instanceType, Offering: offerings.Offering{
			Zone: zone, CapacityType: offerings.Spot, Price: offerings.MustPrice(price), InterruptionRate: rate,
		}}
	}
	return []offerings.Candidate{
		spot("m7i.xlarge", "us-east-1b", "0.082", 0.025),
		spot("m7i.large", "us-east-1a", "0.030", 0.22),
		spot("m6i.large", "us-east-1a", "0.033", 0.025),
		spot("m7i.large", "us-east-1b", "0.032", 0.12),
	}
}

func ExampleRanking_Sort() {
	for _, strategy := range []offerings.Strategy{offerings.LowestPrice, offerings.PriceCapacityOptimized} {
		ranking, candidates := offerings.Ranking{Strategy: strategy}, spotPools()
		ranking.Sort(candidates)
		fmt.Println(strategy)
		for _, c := range candidates {
			fmt.Println(" ", c.InstanceType, c.Offering.Zone, c.Offering.Price, "counts as", ranking.ExpectedPrice(c))
		}
	}
	// Output:
	// lowest-price
	//   m7i.large us-east-1a 0.03 counts as 0.03
	//   m7i.large us-east-1b 0.032 counts as 0.032
	//   m6i.large us-east-1a 0.033 counts as 0.033
	//   m7i.xlarge us-east-1b 0.082 counts as 0.082
	// price-capacity-optimized
	//   m6i.large us-east-1a 0.033 counts as 0.033825
	//   m7i.large us-east-1b 0.032 counts as 0.03584
	//   m7i.large us-east-1a 0.03 counts as 0.0366
	//   m7i.xlarge us-east-1b 0.082 counts as 0.08405
}

// Three launches of one workload begin in three spot pools.
func ExampleRanking_SortNth() {
	ranking := offerings.Ranking{Strategy: offerings.Diversified}
	for n := range 3 {
		candidates := spotPools()
		ranking.SortNth(candidates, n)
		first := candidates[0]
		fmt.Println(first.InstanceType, first.Offering.Zone, first.Offering.Price)
	}
	// Output:
	// m7i.large us-east-1a 0.03
	// m7i.large us-east-1b 0.032
	// m6i.large us-east-1a 0.033
}

// A launch that failed is remembered, and the record is kept between two runs.
func ExampleUnavailable() {
	now := time.Date(2026, 11, 21, 6, 30, 0, 0, time.UTC)
	var failed offerings.Unavailable
	failed.Mark(offerings.Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot}, now, 0)

	kept, err := json.Marshal(&failed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(kept))

	var later offerings.Unavailable
	if err := json.Unmarshal(kept, &later); err != nil {
		fmt.Println(err)
		return
	}
	o := offerings.Offering{Zone: "us-east-1a", CapacityType: offerings.Spot}
	fmt.Println(later.Has(o.Key("m7i.large"), now.Add(time.Minute)), later.Has(o.Key("m7i.large"), now.Add(time.Hour)))
	// Output:
	// [{"instanceType":"m7i.large","zone":"us-east-1a","capacityType":"spot","until":"2026-11-21T06:33:00Z"}]
	// true false
}

// The cost of interruptions is stated per hour, like prices.
func ExampleOffering_InterruptionCost() {
	o := offerings.Offering{CapacityType: offerings.Spot, Price: offerings.MustPrice("0.03"), InterruptionRate: 0.2}
	cost := o.InterruptionCost(offerings.MustAmount("7.3"))
	total, _ := o.Price.Plus(cost)
	fmt.Println(o.Price, "+", cost, "=", total, "USD per hour")
	// Output: 0.03 + 0.002 = 0.032 USD per hour
}

func ExampleFamily() {
	for _, name := range []string{"m7i.large", "n2-standard-4", "Standard_D8s_v5"} {
		fmt.Println(name, offerings.Family(name))
	}
	// Output:
	// m7i.large m7i
	// n2-standard-4 n2-standard
	// Standard_D8s_v5 Standard_Ds_v5
}
