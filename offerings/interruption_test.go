package offerings

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func spotOf(rate float64) Offering {
	return Offering{CapacityType: Spot, InterruptionRate: rate}
}

// The cost is that of exact arithmetic, rounded half up.
func TestInterruptionCostIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 30))
	for range 5000 {
		each, parts := r.Int64N(1<<(1+r.IntN(62))), r.Int64N(million+1)
		got := spotOf(float64(parts) / million).InterruptionCost(Amount(each))
		twice := new(big.Int).Mul(big.NewInt(each), big.NewInt(2*parts))
		twice.Add(twice, big.NewInt(HoursPerMonth*million))
		twice.Div(twice, big.NewInt(2*HoursPerMonth*million))
		require.Equal(t, twice.Int64(), int64(got), "%d at %d", each, parts)
	}
}

func TestAmount(t *testing.T) {
	for text, want := range map[string]Amount{"0": 0, "5": 5_000_000_000, ".5": 500_000_000, "0.0000000015": 2, "1e-9": 1} {
		got, err := ParseAmount(text)
		require.NoError(t, err)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"-1":   `amount "-1": must not be negative`,
		"5 $":  `amount "5 $": want a decimal number of USD, like 0.5`,
		"":     `amount "": want a decimal number of USD, like 0.5`,
		"1e30": `amount "1e30": must not exceed 9223372036.854775807 USD`,
	} {
		_, err := ParseAmount(text)
		require.EqualError(t, err, want)
	}
	assert.Panics(t, func() { MustAmount("free") })
	assert.Equal(t, MaxAmount, MaxAmount.Plus(1))
	assert.Equal(t, Amount(3), Amount(1).Plus(2))
	assert.Equal(t, Amount(2500), Amount(1000).PerThousand(2500))
	assert.Equal(t, Amount(1), Amount(1).PerThousand(1999))
	assert.Equal(t, MaxAmount, MaxAmount.PerThousand(1001))
	assert.Equal(t, MaxAmount, MaxAmount.PerThousand(math.MaxInt64))
	assert.Equal(t, MaxAmount, MaxAmount.PerThousand(1000))
	assert.Zero(t, Amount(-1).PerThousand(5))
	assert.Zero(t, Amount(5).PerThousand(-1))
}

func TestAmountAsJSON(t *testing.T) {
	text, err := json.Marshal(struct{ A Amount }{MustAmount("0.25")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"A":0.25}`, string(text))
	got := Amount(7)
	require.NoError(t, json.Unmarshal([]byte("null"), &got))
	assert.Equal(t, Amount(7), got)
	require.NoError(t, json.Unmarshal([]byte("12.000000001"), &got))
	assert.Equal(t, Amount(12_000_000_001), got)
	for _, bad := range []string{`"1"`, `-1`, `true`, `{}`, `1e99`} {
		require.Error(t, json.Unmarshal([]byte(bad), &got), bad)
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"0", "0.5", "-1", "1e-9", "9223372036.854775807", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseAmount(text)
		price, priceErr := ParsePrice(text)
		require.Equal(t, err == nil, priceErr == nil)
		if err != nil {
			return
		}
		require.Equal(t, int64(price), int64(amount))
		again, err := ParseAmount(amount.String())
		require.NoError(t, err)
		require.Equal(t, amount, again)
	})
}

func TestFewestInterruptions(t *testing.T) {
	ranking := Ranking{Strategy: FewestInterruptions}
	want := []Candidate{
		candidate("m7i.large", OnDemand, "a", "0.1", 0),
		candidate("m7i.large", OnDemand, "b", "0.2", 0),
		candidate("m7i.large", Spot, "b", "0.09", 0.025),
		candidate("m7i.large", Spot, "a", "0.03", 0.05),
		candidate("c7i.large", Spot, "c", "0.02", 0), // nobody says how often: as in the worst band
		candidate("m7i.large", Spot, "c", "0.03", 0.25),
	}
	got := []Candidate{want[5], want[2], want[0], want[4], want[3], want[1]}
	ranking.Sort(got)
	assert.Equal(t, names(want), names(got))
	assert.Equal(t, MustPrice("50.03"), ranking.ExpectedPrice(want[3]))
	assert.Equal(t, MustPrice("250.02"), ranking.ExpectedPrice(want[4]))
	dearest := candidate("m", Spot, "a", "0", 1)
	dearest.Offering.Price = MaxPrice
	assert.Equal(t, MaxPrice, ranking.ExpectedPrice(dearest))
}
