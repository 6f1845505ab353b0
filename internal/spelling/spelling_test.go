package spelling_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1},
		{"abc", "xabc", 1}, {"kitten", "sitting", 3}, {"zone", "nozone", 2}, {"us-east-1", "us-west-1", 2}, {"flaw", "lawn", 2},
	} {
		assert.Equal(t, tc.want, spelling.Distance(tc.a, tc.b), "%s %s", tc.a, tc.b)
		assert.Equal(t, tc.want, spelling.Distance(tc.b, tc.a), "%s %s", tc.b, tc.a)
	}
}

// plain counts by trying all ways to begin.
func plain(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return plain(a[1:], b[1:])
	}
	return 1 + min(plain(a[1:], b), plain(a, b[1:]), plain(a[1:], b[1:]))
}

func TestDistanceIsThePlainOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	for range 2_000 {
		a, b := word(), word()
		assert.Equal(t, plain(a, b), spelling.Distance(a, b), "%q %q", a, b)
	}
}

func TestClosest(t *testing.T) {
	names := []string{"west", "east", "nest", "middle", "test"}
	within := func(most int) func(string) (int, bool) {
		return func(name string) (int, bool) {
			d := spelling.Distance("rest", name)
			return d, d <= most
		}
	}
	assert.Equal(t, []string{"nest", "test", "west", "east"}, spelling.Closest(names, 9, within(2)))
	assert.Equal(t, []string{"nest", "test"}, spelling.Closest(names, 2, within(2)))
	assert.Empty(t, spelling.Closest(names, 3, within(0)))
	assert.Empty(t, spelling.Closest(nil, 3, within(9)))
	assert.Equal(t, "west east nest middle test", strings.Join(names, " "), "the names stay as they were")
}
