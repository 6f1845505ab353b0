package offerings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// candidate reads "m7i.large spot@a 0.0412" with optional rate and reservation.
func candidate(instanceType string, capacityType CapacityType, zone, price string, rate float64) Candidate {
	return Candidate{InstanceType: instanceType, Offering: Offering{
		Zone: zone, CapacityType: capacityType, Price: MustPrice(price), InterruptionRate: rate,
	}}
}

func reservation(instanceType, zone, price, id string) Candidate {
	c := candidate(instanceType, Reserved, zone, price, 0)
	c.Offering.ReservationID, c.Offering.ReservationCount = id, 1
	return c
}

// names writes candidates in a form that a test can compare.
func names(cs []Candidate) []string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = fmt.Sprintf("%s %s@%s", c.InstanceType, c.Offering.CapacityType, c.Offering.Zone)
		if id := c.Offering.ReservationID; id != "" {
			out[i] += " " + id
		}
	}
	return out
}

func allRankings() []Ranking {
	rankings := []Ranking{{}}
	for _, strategy := range Strategies() {
		rankings = append(rankings,
			Ranking{Strategy: strategy},
			Ranking{Strategy: strategy, CapacityTypes: []CapacityType{OnDemand}, Priorities: map[string]int{"m7i.large": 1, "c7i.large": -1}},
		)
	}
	return rankings
}

// randomCandidates draws from few values, so that ties of every kind occur.
func randomCandidates(random *rand.Rand, n int) []Candidate {
	cs := make([]Candidate, n)
	for i := range cs {
		c := candidate(
			[]string{"m7i.large", "c7i.large", "m7i.xlarge", "r6g.large"}[random.IntN(4)],
			CapacityTypes()[random.IntN(3)], []string{"a", "b", "c"}[random.IntN(3)], "0", 0)
		c.Offering.Price = Price(random.Int64N(4)) * 41_200_000
		switch c.Offering.CapacityType {
		case Reserved:
			c.Offering.ReservationID = []string{"cr-1", "cr-2"}[random.IntN(2)]
		case Spot:
			c.Offering.InterruptionRate = float64(random.IntN(3)) / 10
		}
		cs[i] = c
	}
	return cs
}

func TestSort(t *testing.T) {
	for name, c := range map[string]struct {
		ranking Ranking
		want    []Candidate // in the expected order; shuffled before sorting
	}{
		"zero value is the lowest price": {
			Ranking{},
			[]Candidate{
				candidate("m7i.large", Spot, "a", "0.03", 0.2),
				candidate("c7i.large", OnDemand, "a", "0.04", 0),
				candidate("c7i.large", Spot, "a", "0.05", 0),
			},
		},
		"ties: reserved, spot, on-demand, then type, zone, reservation": {
			Ranking{Strategy: LowestPrice},
			[]Candidate{
				reservation("m7i.large", "a", "0.1", "cr-1"),
				reservation("m7i.large", "a", "0.1", "cr-2"),
				candidate("c7i.large", Spot, "b", "0.1", 0),
				candidate("m7i.large", Spot, "a", "0.1", 0.2),
				candidate("m7i.large", Spot, "b", "0.1", 0),
				candidate("a1.large", OnDemand, "a", "0.1", 0),
			},
		},
		"the order of capacity types decides ties; missing ones follow": {
			Ranking{CapacityTypes: []CapacityType{OnDemand}},
			[]Candidate{
				candidate("z", Spot, "a", "0.05", 0),
				candidate("z", OnDemand, "a", "0.1", 0),
				reservation("a", "a", "0.1", "cr-1"),
				candidate("a", Spot, "a", "0.1", 0),
			},
		},
		// A8: a reservation is priced at next to nothing and so comes first.
		"a reservation that is paid for": {
			Ranking{},
			[]Candidate{
				reservation("m7i.large", "a", "0.00000001", "cr-1"),
				candidate("m7i.large", Spot, "a", "0.04", 0),
				candidate("m7i.large", OnDemand, "a", "0.1", 0),
			},
		},
		"price and risk together": {
			Ranking{Strategy: PriceCapacityOptimized},
			[]Candidate{
				candidate("m7i.large", Spot, "b", "0.032", 0.025), // counts as 0.0328
				candidate("m7i.large", Spot, "a", "0.030", 0.22),  // counts as 0.0366
				candidate("m7i.large", OnDemand, "a", "0.1", 0),
			},
		},
		"risk foremost": {
			Ranking{Strategy: CapacityOptimized},
			[]Candidate{
				candidate("m7i.large", Spot, "b", "0.060", 0.025), // counts as 0.075
				candidate("m7i.large", Spot, "a", "0.030", 0.22),  // counts as 0.096
				candidate("m7i.large", OnDemand, "a", "0.1", 0),
				candidate("m7i.large", Spot, "c", "0.040", 0.25), // counts as 0.14
			},
		},
		"equal expectation: the calmer one": {
			Ranking{Strategy: PriceCapacityOptimized},
			[]Candidate{
				candidate("z", OnDemand, "a", "0.12", 0),
				candidate("z", Spot, "a", "0.1", 0.2),
			},
		},
		// A38
		"the caller's order": {
			Ranking{Strategy: Prioritized, CapacityTypes: []CapacityType{OnDemand, Spot}, Priorities: map[string]int{"m7i.large": 1, "c7i.large": 2}},
			[]Candidate{
				candidate("m7i.large", OnDemand, "b", "0.1", 0),
				candidate("m7i.large", OnDemand, "a", "0.2", 0),
				candidate("c7i.large", OnDemand, "a", "0.01", 0),
				candidate("a1.large", OnDemand, "a", "0.001", 0), // not in the list
				candidate("m7i.large", Spot, "a", "0.0001", 0),
				reservation("m7i.large", "a", "0", "cr-1"),
			},
		},
		// A36
		"prioritized without a list": {
			Ranking{Strategy: Prioritized},
			[]Candidate{
				reservation("z", "a", "1", "cr-1"),
				candidate("z", Spot, "a", "0.5", 0),
				candidate("a", Spot, "a", "0.6", 0),
				candidate("a", OnDemand, "a", "0.1", 0),
			},
		},
		"negative priorities": {
			Ranking{Strategy: Prioritized, Priorities: map[string]int{"b": math.MinInt, "a": 0}},
			[]Candidate{
				candidate("b", Spot, "a", "1", 0),
				candidate("a", Spot, "a", "0.1", 0),
				candidate("c", Spot, "a", "0.01", 0),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 8))
			for range 20 {
				got := slices.Clone(c.want)
				random.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
				c.ranking.Sort(got)
				require.Equal(t, names(c.want), names(got))
			}
		})
	}
}

// Compare is a total order: antisymmetric, transitive, and 0 only between equals.
func TestCompareIsATotalOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, ranking := range allRankings() {
		cs := randomCandidates(random, 40)
		for _, a := range cs {
			for _, b := range cs {
				ab := ranking.Compare(a, b)
				require.Equal(t, -ab, ranking.Compare(b, a))
				if ab == 0 {
					require.Equal(t, a, b, "%v", ranking)
				}
				for _, c := range cs {
					if ab <= 0 && ranking.Compare(b, c) <= 0 {
						require.LessOrEqual(t, ranking.Compare(a, c), 0)
					}
				}
			}
		}
	}
}

// Where price decides, the order and the figure that a solver adds up must agree.
func TestCompareFollowsExpectedPrice(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, ranking := range allRankings() {
		if ranking.Strategy == Prioritized {
			continue
		}
		for range 2000 {
			cs := randomCandidates(random, 2)
			if x, y := ranking.ExpectedPrice(cs[0]), ranking.ExpectedPrice(cs[1]); x != y {
				require.Equal(t, x < y, ranking.Compare(cs[0], cs[1]) < 0)
			}
		}
	}
}

func TestExpectedPrice(t *testing.T) {
	for _, c := range []struct {
		strategy Strategy
		price    Price
		rate     float64
		want     Price
	}{
		{"", 41_200_000, 0.2, 41_200_000},
		{LowestPrice, 41_200_000, 0.2, 41_200_000},
		{Diversified, 41_200_000, 0.2, 41_200_000},
		{Prioritized, 41_200_000, 0.2, 41_200_000},
		{PriceCapacityOptimized, 41_200_000, 0, 41_200_000},
		{PriceCapacityOptimized, 41_200_000, 0.2, 49_440_000},
		{PriceCapacityOptimized, 41_200_000, 1, 82_400_000},
		{CapacityOptimized, 41_200_000, 0.2, 123_600_000},
		{CapacityOptimized, 41_200_000, 1, 453_200_000},
		{PriceCapacityOptimized, 0, 1, 0},
		{PriceCapacityOptimized, 1, 0.5, 2}, // half a nano-USD rounds up
		{PriceCapacityOptimized, 1, 0.4, 1},
		{PriceCapacityOptimized, MaxPrice, 0.000001, MaxPrice},
		{CapacityOptimized, MaxPrice / 2, 1, MaxPrice},
		{CapacityOptimized, MaxPrice, 0, MaxPrice},
		// Values that Validate rejects must not make nonsense of a sum.
		{PriceCapacityOptimized, 100, 7, 200},
		{PriceCapacityOptimized, 100, -7, 100},
		{PriceCapacityOptimized, 100, math.NaN(), 100},
		{PriceCapacityOptimized, 100, math.Inf(1), 200},
		{PriceCapacityOptimized, -100, 0.5, -100},
	} {
		got := Ranking{Strategy: c.strategy}.ExpectedPrice(Candidate{Offering: Offering{CapacityType: Spot, Price: c.price, InterruptionRate: c.rate}})
		assert.Equal(t, c.want, got, "%s of %v at %v", c.strategy, c.price, c.rate)
	}
}

func TestRankingValidate(t *testing.T) {
	for _, ranking := range allRankings() {
		require.NoError(t, ranking.Validate())
	}
	err := Ranking{
		Strategy:      "cheapest",
		CapacityTypes: []CapacityType{Spot, "ondemand", Spot},
		Priorities:    map[string]int{"": 1},
	}.Validate()
	require.EqualError(t, err, `strategy: strategy "cheapest": want one of lowest-price, price-capacity-optimized, capacity-optimized, fewest-interruptions, diversified, prioritized
capacityTypes[1]: capacity type "ondemand": want reserved, spot or on-demand; did you mean on-demand?
capacityTypes[2]: spot: stands there twice
priorities: the name of an instance type must not be empty`)
}
