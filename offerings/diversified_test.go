package offerings

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiversifiedSort(t *testing.T) {
	for name, c := range map[string]struct {
		in   []Candidate
		want []string
	}{
		"nothing": {nil, []string{}},
		"one":     {[]Candidate{candidate("m7i.large", Spot, "a", "0.1", 0)}, []string{"m7i.large spot@a"}},
		"pools take turns while the price is near": {
			[]Candidate{
				candidate("m7i.large", Spot, "a", "0.100", 0),
				candidate("m7i.xlarge", Spot, "a", "0.101", 0),
				candidate("m7i.2xlarge", Spot, "a", "0.102", 0),
				candidate("m7i.large", Spot, "b", "0.110", 0),
				candidate("m7i.xlarge", Spot, "b", "0.111", 0),
				candidate("c7i.large", Spot, "a", "0.125", 0), // a quarter dearer, and no more
			},
			[]string{
				"m7i.large spot@a", "m7i.large spot@b", "c7i.large spot@a",
				"m7i.xlarge spot@a", "m7i.xlarge spot@b",
				"m7i.2xlarge spot@a",
			},
		},
		"another pool that costs too much waits": {
			[]Candidate{
				candidate("m7i.large", Spot, "a", "0.100", 0),
				candidate("m7i.xlarge", Spot, "a", "0.101", 0),
				candidate("c7i.large", Spot, "a", "0.125000001", 0),
				candidate("c7i.xlarge", Spot, "a", "0.13", 0),
				candidate("m7i.2xlarge", Spot, "a", "0.14", 0),
			},
			[]string{
				"m7i.large spot@a", "m7i.xlarge spot@a", // first band
				"c7i.large spot@a", "m7i.2xlarge spot@a", "c7i.xlarge spot@a", // second
			},
		},
		"reservations are pools of their own, whatever their zone": {
			[]Candidate{
				reservation("m7i.large", "a", "0", "cr-1"),
				reservation("m7i.large", "b", "0", "cr-1"),
				reservation("m7i.large", "a", "0", "cr-2"),
				candidate("m7i.large", Spot, "a", "0.03", 0),
			},
			[]string{"m7i.large reserved@a cr-1", "m7i.large reserved@a cr-2", "m7i.large reserved@b cr-1", "m7i.large spot@a"},
		},
		"spot and on-demand of one family are two pools": {
			[]Candidate{
				candidate("m7i.large", Spot, "a", "0.1", 0),
				candidate("m7i.xlarge", Spot, "a", "0.1", 0),
				candidate("m7i.large", OnDemand, "a", "0.1", 0),
			},
			[]string{"m7i.large spot@a", "m7i.large on-demand@a", "m7i.xlarge spot@a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			Ranking{Strategy: Diversified}.Sort(c.in)
			assert.Equal(t, c.want, names(c.in))
		})
	}
}

// Each launch of a workload begins elsewhere, and all of them with a near price.
func TestDiversifiedTurns(t *testing.T) {
	cs := []Candidate{
		candidate("m7i.large", Spot, "a", "0.100", 0),
		candidate("m7i.large", Spot, "b", "0.101", 0),
		candidate("m7i.xlarge", Spot, "a", "0.102", 0),
		candidate("c7i.large", Spot, "a", "0.103", 0),
		candidate("c7i.large", OnDemand, "a", "0.3", 0),
	}
	want := [][]string{
		{"m7i.large spot@a", "m7i.large spot@b", "c7i.large spot@a"},
		{"m7i.large spot@b", "c7i.large spot@a", "m7i.large spot@a"},
		{"c7i.large spot@a", "m7i.large spot@a", "m7i.large spot@b"},
	}
	for n := -3; n < 9; n++ {
		turned := slices.Clone(cs)
		Ranking{Strategy: Diversified}.SortNth(turned, n)
		got := names(turned)
		assert.Equal(t, want[((n%3)+3)%3], got[:3], "launch %d", n)
		assert.Equal(t, []string{"m7i.xlarge spot@a", "c7i.large on-demand@a"}, got[3:], "launch %d", n)
	}
}

// The rule as properties: the first options are in different pools for as long as the
// first band has new ones, and nothing stands before something a quarter cheaper.
func TestDiversifiedProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	for range 300 {
		cs := make([]Candidate, 1+random.IntN(60))
		for i := range cs {
			cs[i] = candidate(
				[]string{"m7i", "c7i", "r7i", "m6g"}[random.IntN(4)]+[]string{".large", ".xlarge"}[random.IntN(2)],
				CapacityTypes()[1+random.IntN(2)], []string{"a", "b", "c"}[random.IntN(3)], "0", 0)
			cs[i].Offering.Price = Price(50_000_000 + random.Int64N(100_000_000))
		}
		Ranking{Strategy: Diversified}.SortNth(cs, random.IntN(5))

		cheapest := slices.MinFunc(cs, Ranking{}.Compare).Offering.Price
		pools := map[pool]bool{}
		for _, c := range cs {
			if near(cheapest, c.Offering.Price) {
				pools[poolOf(c)] = true
			}
		}
		seen := map[pool]bool{}
		for _, c := range cs[:len(pools)] {
			require.False(t, seen[poolOf(c)], "pool %v twice among the first %d", poolOf(c), len(pools))
			seen[poolOf(c)] = true
		}
		for i, c := range cs {
			for _, later := range cs[i+1:] {
				require.True(t, near(later.Offering.Price, c.Offering.Price), "%v before %v", c.Offering.Price, later.Offering.Price)
			}
		}
	}
}

// near says whether q costs at most a quarter more than p.
func near(p, q Price) bool { return 4*q <= 5*p+2 }

func TestFamilyOf(t *testing.T) {
	for name, want := range map[string]string{
		"m7i.large":             "m7i",
		"m7i.metal-24xl":        "m7i",
		"u-6tb1.56xlarge":       "u-6tb1",
		"n2-standard-4":         "n2-standard",
		"e2-medium":             "e2",
		"Standard_D8_v5":        "Standard_D_v5",
		"Standard_D96_v5":       "Standard_D_v5",
		"Standard_D8ds_v5":      "Standard_Dds_v5",
		"Standard_NC24ads_A100": "Standard_NCads_A100",
		"standalone":            "standalone",
		"":                      "",
		"-":                     "-",
		"_":                     "_",
	} {
		assert.Equal(t, want, Family(name), name)
	}
}
