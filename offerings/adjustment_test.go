package offerings

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// P158: absolute, signed delta or signed percentage; never below 0.
func TestAdjustmentApply(t *testing.T) {
	for _, c := range []struct{ adjustment, price, want string }{
		{"0.5", "0.0412", "0.5"},
		{"0", "0.0412", "0"},
		{"5.00", "0", "5"},
		{"+0.01", "0.0412", "0.0512"},
		{"-0.01", "0.0412", "0.0312"},
		{"-0.01", "0.01", "0"},
		{"-0.01", "0.005", "0"},
		{"+0", "0.0412", "0.0412"},
		{"-0", "0.0412", "0.0412"},
		{"+5%", "1", "1.05"},
		{"-10%", "1", "0.9"},
		{"-10%", "0.0412", "0.03708"},
		{"-100%", "0.0412", "0"},
		{"-0%", "0.0412", "0.0412"},
		{"+250%", "2", "7"},
		{"+12.5%", "0.8", "0.9"},
		{"-33.333333333%", "3", "2.00000000001"},
		{"-50%", "0.000000001", "0.000000001"}, // half a nano-USD rounds up
		{"-50.000000001%", "0.000000001", "0"},
		{"+50%", "0", "0"},
		{"+9000000000%", "9000000000", "9223372036.854775807"},
		{"+9223372036.854775807%", "1", "92233721.36854775807"},
		{"+1%", "9223372036.854775807", "9223372036.854775807"},
		{"+9223372036.854775807", "9223372036.854775807", "9223372036.854775807"},
	} {
		t.Run(c.adjustment+" of "+c.price, func(t *testing.T) {
			adjustment, err := ParseAdjustment(c.adjustment)
			require.NoError(t, err)
			assert.Equal(t, MustPrice(c.want), adjustment.Apply(MustPrice(c.price)))
		})
	}
}

func TestParseFactor(t *testing.T) {
	for text, percentage := range map[string]string{"0.72": "-28%", "1": "+0%", "0": "-100%", "1.05": "+5%", "1000": "+99900%", "0.123456789": "-87.6543211%"} {
		got, err := ParseFactor(text)
		require.NoError(t, err, text)
		want, err := ParseAdjustment(percentage)
		require.NoError(t, err)
		assert.Equal(t, want, got, text)
		assert.False(t, got.Replaces())
	}
	for text, want := range map[string]string{"-0.5": "must not be negative", "1001": "must not exceed 1000", "1e99": "must not exceed 1000", "half": "want a decimal number", "": "want a decimal number"} {
		_, err := ParseFactor(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestParseAdjustmentRejects(t *testing.T) {
	for text, want := range map[string]string{
		"":              "want a price",
		"+":             "want a price",
		"-":             "want a price",
		"%":             "want a price",
		"+%":            "want a price",
		"+-1":           "want a price",
		"-+1":           "want a price",
		"++1":           "want a price",
		"--1":           "want a price",
		"-10%%":         "want a price",
		"10 %":          "want a price",
		"-10% ":         "want a price",
		"ten":           "want a price",
		"+NaN":          "want a price",
		"10%":           "a percentage needs a sign: +10% or -10%",
		"-100.01%":      "cannot take more than 100% off",
		"-150%":         "cannot take more than 100% off",
		"+1e30":         "too large",
		"1e30":          "too large",
		"-99999999999%": "too large",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseAdjustment(text)
			require.ErrorContains(t, err, want)
			assert.Zero(t, got)
		})
	}
}

func TestAdjustmentText(t *testing.T) {
	for text, want := range map[string]string{
		"0.50":   "0.5",
		"+.01":   "+0.01",
		"-1e-2":  "-0.01",
		"-10.0%": "-10%",
		"+5%":    "+5%",
		"-0":     "+0",
		"-0%":    "+0%",
		"0":      "0",
	} {
		adjustment, err := ParseAdjustment(text)
		require.NoError(t, err)
		assert.Equal(t, want, adjustment.String())

		data, err := json.Marshal(map[string]Adjustment{"price": adjustment})
		require.NoError(t, err)
		var back map[string]Adjustment
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, adjustment, back["price"])
	}
	kept := Adjustment{kind: absolute, value: 7}
	require.Error(t, json.Unmarshal([]byte(`"10%"`), &kept))
	assert.Equal(t, Adjustment{kind: absolute, value: 7}, kept)
}

// scale agrees with rational arithmetic where the result fits, and stops at the top
// where it does not.
func TestScale(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	limit := big.NewInt(int64(MaxPrice))
	for range 20000 {
		price := Price(random.Int64() >> random.UintN(63))
		numerator := random.Uint64() >> random.UintN(64)
		denominator := max(1, random.Uint64()>>(1+random.UintN(63)))
		exact := new(big.Int).Mul(big.NewInt(int64(price)), new(big.Int).SetUint64(numerator))
		exact.Lsh(exact, 1).Add(exact, new(big.Int).SetUint64(denominator))
		exact.Div(exact, new(big.Int).Lsh(new(big.Int).SetUint64(denominator), 1))
		if exact.Cmp(limit) > 0 {
			exact = limit
		}
		require.Equal(t, exact.Int64(), int64(scale(price, numerator, denominator)), "%d × %d ÷ %d", price, numerator, denominator)
	}
}

// The quotient 2^64 − ½ rounds to 2^64, which a machine word calls 0.
func TestScaleWraps(t *testing.T) {
	// 4 294 967 297 × 8 589 934 590 = (2^32+1) × 2(2^32−1) = 2(2^64−1); ÷ 2 has no half.
	assert.Equal(t, MaxPrice, scale(4294967297, 8589934590, 2))
	// (2^65 − 1) ÷ 2 = 2^64 − ½, with 2^65 − 1 = 31 × 1190112520884487201.
	assert.Equal(t, MaxPrice, scale(1190112520884487201, 31, 2))
}

func FuzzParseAdjustment(f *testing.F) {
	for _, seed := range []string{"0.5", "+0.01", "-0.01", "-10%", "+5%", "10%", "-100%", "-101%", "+1e5%", "+-1", "", "%", "1e30", "-1e-9"} {
		f.Add(seed, int64(41_200_000))
	}
	f.Fuzz(func(t *testing.T, text string, nanos int64) {
		adjustment, err := ParseAdjustment(text)
		if err != nil {
			require.Zero(t, adjustment)
			return
		}
		again, err := ParseAdjustment(adjustment.String())
		require.NoError(t, err)
		require.Equal(t, adjustment, again)

		price := Price(nanos)
		adjusted := adjustment.Apply(price)
		require.GreaterOrEqual(t, adjusted, Price(0))
		if adjustment.kind != absolute && price >= 0 {
			if adjustment.value >= 0 {
				require.GreaterOrEqual(t, adjusted, price)
			} else {
				require.LessOrEqual(t, adjusted, price)
			}
		}
		// A dearer machine stays at least as dear.
		if dearer, ok := price.Plus(nano); ok {
			require.GreaterOrEqual(t, adjustment.Apply(dearer), adjusted)
		}
	})
}
