package requirements

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func checkInt(t *testing.T, s string) {
	t.Helper()
	want, err := strconv.ParseInt(s, 10, 64)
	got, ok := parseInt(s)
	require.Equal(t, err == nil, ok, "%q", s)
	if ok {
		require.Equal(t, want, got, "%q", s)
	}
	plain, ok := plainInt(s)
	require.Equal(t, err == nil && strconv.FormatInt(want, 10) == s, ok, "plain %q", s)
	if ok {
		require.Equal(t, want, plain, "plain %q", s)
	}
}

// The parser that does not allocate agrees with the one of the standard library.
func TestParseIntAgreesWithStrconv(t *testing.T) {
	for _, s := range []string{
		"", "-", "+", "0", "-0", "+0", "00", "-01", "1", "-1", "+1", "1_0", "0x1f", "1e3", "1.0", " 1", "1 ", "--1", "+-1", "١",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"+9223372036854775807", "+9223372036854775808", "00009223372036854775807", "92233720368547758070",
		"18446744073709551615", "18446744073709551616", strings.Repeat("9", 63), strings.Repeat("0", 62) + "1",
	} {
		checkInt(t, s)
	}
	r := rand.New(rand.NewPCG(4, 51))
	const alphabet = "0123456789-+x"
	for range 20_000 {
		b := make([]byte, r.IntN(22))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet)-3*r.IntN(2))]
		}
		checkInt(t, string(b))
		checkInt(t, strconv.FormatInt(int64(r.Uint64()), 10))
	}
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"0", "-1", "+7", "9223372036854775808", "007"} {
		f.Add(s)
	}
	f.Fuzz(checkInt)
}
