package offerings

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePrice(t *testing.T) {
	for text, want := range map[string]Price{
		"0":                     0,
		"0.0":                   0,
		".0":                    0,
		"0.0412":                41_200_000,
		"12":                    12 * nano,
		"12.":                   12 * nano,
		".5":                    nano / 2,
		"0000.0412000":          41_200_000,
		"4.12e-2":               41_200_000,
		"4.12E-2":               41_200_000,
		"412e-4":                41_200_000,
		"1e0":                   nano,
		"1e+2":                  100 * nano,
		"0.000000001":           1,
		"0.0000000014":          1,
		"0.0000000015":          2,
		"0.0000000005":          1,
		"0.00000000049999":      0,
		"5e-10":                 1,
		"4.99e-10":              0,
		"9e-11":                 0,
		"1e-999999999999999999": 0,
		"0e999999999999999999":  0,
		"0.9999999995":          nano,
		"9223372036.854775807":  MaxPrice,
		"9223372036.8547758074": MaxPrice,
		// EC2 spot prices have up to eight decimals; a float32 would lose them.
		"1234.56789012":                    1_234_567_890_120,
		"0.0412" + strings.Repeat("0", 99): 41_200_000,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParsePrice(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestParsePriceRejects(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "want a decimal number",
		".":                            "want a decimal number",
		"-":                            "want a decimal number",
		"e5":                           "want a decimal number",
		"1e":                           "want a decimal number",
		"1e+":                          "want a decimal number",
		"1e+-2":                        "want a decimal number",
		"1e2.5":                        "want a decimal number",
		"1e2e3":                        "want a decimal number",
		"1.2.3":                        "want a decimal number",
		"+1":                           "want a decimal number",
		" 1":                           "want a decimal number",
		"1 ":                           "want a decimal number",
		"$1":                           "want a decimal number",
		"1,5":                          "want a decimal number",
		"1_000":                        "want a decimal number",
		"0x1p4":                        "want a decimal number",
		"NaN":                          "want a decimal number",
		"Inf":                          "want a decimal number",
		"-Inf":                         "want a decimal number",
		"--1":                          "want a decimal number",
		"１":                            "want a decimal number",
		"-1":                           "must not be negative",
		"-0.0412":                      "must not be negative",
		"-1e999":                       "must not be negative",
		"9223372036.854775808":         "must not exceed 9223372036.854775807 USD",
		"9223372036.8547758075":        "must not exceed",
		"18446744073.709551616":        "must not exceed",
		"1e11":                         "must not exceed",
		"1e999999999999999999":         "must not exceed",
		"1" + strings.Repeat("0", 500): "must not exceed",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParsePrice(text)
			require.ErrorContains(t, err, want)
			assert.Zero(t, got)
			assert.Less(t, len(err.Error()), 200, "a long input must not make a long message")
		})
	}
}

// exactNano is ParsePrice written with rational numbers, for comparison.
func exactNano(text string) *big.Int {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	r.Mul(r, big.NewRat(2*nano, 1)) // floor((2x+1)/2) rounds half up
	r.Add(r, big.NewRat(1, 1))
	return new(big.Int).Div(r.Num(), new(big.Int).Mul(r.Denom(), big.NewInt(2)))
}

func FuzzParsePrice(f *testing.F) {
	for _, seed := range []string{"0", "0.0412", "12", ".5", "4.12e-2", "1e+2", "9223372036.854775807", "9223372036.8547758075",
		"0.0000000005", "1e-400", "1e400", "-1", "-", "NaN", "0x1", "1e", "", "..", "1.5.2", "\x00", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		price, err := ParsePrice(text)
		if err != nil {
			require.Zero(t, price)
			return
		}
		require.GreaterOrEqual(t, price, Price(0))
		again, err := ParsePrice(price.String())
		require.NoError(t, err)
		require.Equal(t, price, again, "%q prints as %q", text, price)
		// Rationals with huge exponents take for ever; the clamp is tested by table.
		if _, exponent, _ := splitExponent(text); len(text) < 100 && exponent > -200 && exponent < 200 {
			require.Equal(t, exactNano(text).String(), big.NewInt(int64(price)).String(), "%q", text)
		}
	})
}

func TestPriceString(t *testing.T) {
	for price, want := range map[Price]string{
		0:              "0",
		1:              "0.000000001",
		10:             "0.00000001",
		41_200_000:     "0.0412",
		nano:           "1",
		10 * nano:      "10",
		12*nano + 5e8:  "12.5",
		MaxPrice:       "9223372036.854775807",
		-1:             "-0.000000001",
		-nano / 2:      "-0.5",
		math.MinInt64:  "-9223372036.854775808",
		1_000_000_0001: "10.000000001",
	} {
		assert.Equal(t, want, price.String())
	}
}

// Plus and Times agree with integers that do not overflow.
func TestPriceArithmetic(t *testing.T) {
	interesting := []int64{0, 1, -1, 2, -2, 3, 41_200_000, 1 << 31, 1 << 32, -(1 << 32), 1 << 62, -(1 << 62),
		math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 / 3}
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		interesting = append(interesting, int64(random.Uint64())>>random.UintN(64))
	}
	nearest := func(exact *big.Int) (Price, bool) {
		switch {
		case exact.IsInt64():
			return Price(exact.Int64()), true
		case exact.Sign() > 0:
			return MaxPrice, false
		}
		return math.MinInt64, false
	}
	for _, a := range interesting {
		for _, b := range interesting {
			wantSum, wantOK := nearest(new(big.Int).Add(big.NewInt(a), big.NewInt(b)))
			sum, ok := Price(a).Plus(Price(b))
			require.Equal(t, wantSum, sum, "%d + %d", a, b)
			require.Equal(t, wantOK, ok, "%d + %d", a, b)

			wantProduct, wantOK := nearest(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
			product, ok := Price(a).Times(b)
			require.Equal(t, wantProduct, product, "%d × %d", a, b)
			require.Equal(t, wantOK, ok, "%d × %d", a, b)
		}
	}
}

func TestPriceJSON(t *testing.T) {
	type invoice struct {
		Price Price  `json:"price"`
		Other *Price `json:"other,omitempty"`
	}
	data, err := json.Marshal(invoice{Price: MustPrice("0.0412")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"price":0.0412}`, string(data))
	assert.Contains(t, string(data), "0.0412", "the digits themselves, not 4.12e-2")

	for text, want := range map[string]Price{
		`0.0412`:               41_200_000,
		`4.12e-2`:              41_200_000,
		`9223372036.854775807`: MaxPrice, // a float64 in between would lose the last digits
		`0`:                    0,
		`-0`:                   0,
		`-0.0412`:              -41_200_000,
	} {
		var got invoice
		require.NoError(t, json.Unmarshal([]byte(`{"price":`+text+`}`), &got), text)
		assert.Equal(t, want, got.Price, text)
	}

	got := invoice{Price: 7}
	require.NoError(t, json.Unmarshal([]byte(`{"price":null,"other":null}`), &got))
	assert.Equal(t, invoice{Price: 7}, got, "null changes nothing")

	for _, text := range []string{`"0.0412"`, `"null"`, `true`, `[]`, `{}`, `--1`, `-`, `1e12`, `-1e12`} {
		got := invoice{Price: 7}
		require.Error(t, json.Unmarshal([]byte(`{"price":`+text+`}`), &got), text)
		assert.Equal(t, Price(7), got.Price, "%s must leave the price alone", text)
	}
}

// Every price that is written is read back, differences of prices included.
func TestPriceJSONSurvivesTheRoundTrip(t *testing.T) {
	for _, want := range []Price{math.MinInt64, -MaxPrice, -41_200_000, -1, 0, 1, MaxPrice} {
		data, err := json.Marshal(want)
		require.NoError(t, err)
		var got Price
		require.NoError(t, json.Unmarshal(data, &got), "%s", data)
		assert.Equal(t, want, got)
	}
}

// UnmarshalJSON may be called by other decoders than encoding/json, with anything.
func TestPriceUnmarshalJSONDirectly(t *testing.T) {
	for _, text := range []string{"", ".5", "+1", "01", "1.", "NaN", "0x1", "1 2", "\"1\"", "nul"} {
		var price Price
		require.Error(t, price.UnmarshalJSON([]byte(text)), "%q", text)
	}
}

func FuzzPriceJSON(f *testing.F) {
	for _, seed := range []string{"0.0412", "null", `"1"`, "1e5", "-1", "-0", " 1", "[]", "9223372036.854775807", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var price Price
		if json.Unmarshal(data, &price) != nil {
			return
		}
		written, err := json.Marshal(price)
		require.NoError(t, err)
		var again Price
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, price, again)
		var number json.Number
		require.NoError(t, json.Unmarshal(written, &number), "%s is a JSON number", written)
	})
}
