package table

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func result(instance, who string, placed int, price, bound string, elapsed time.Duration) peer.Result {
	r := peer.Result{Instance: instance, Peer: who, Pods: 10, Placed: placed, Nodes: 3, Elapsed: elapsed, CPU: 2 * elapsed, Allocated: 12_345_678}
	r.Price = offerings.MustPrice(price)
	if bound != "" {
		r.Bound = offerings.MustPrice(bound)
	}
	return r
}

func TestCompare(t *testing.T) {
	rows := Compare([]peer.Result{
		result("a", "karpenter", 10, "3", "", 4*time.Second),
		result("a", "plimsoll fast", 10, "2.5", "1.8", time.Millisecond),
		result("a", "plimsoll", 10, "2", "1.6", time.Second),
		result("a", "lazy", 9, "1", "", time.Second),
		result("a", "lazy with a bound", 9, "1", "0.8", time.Second),
	}, "plimsoll")
	require.Len(t, rows, 5)
	for i, want := range []struct{ overBound, cost, time float64 }{
		{3 / 1.8, 1.5, 4}, // the better of the two bounds
		{2.5 / 1.8, 1.25, 0.001},
		{2 / 1.8, 1, 1},
		{0, 0, 1}, // placed fewer: neither bound nor price is comparable
		{1.25, 0, 1},
	} {
		assert.InDelta(t, want.overBound, rows[i].OverBound, 1e-9, rows[i].Peer)
		assert.InDelta(t, want.cost, rows[i].Cost, 1e-9, rows[i].Peer)
		assert.InDelta(t, want.time, rows[i].Time, 1e-9, rows[i].Peer)
	}
}

func TestLosses(t *testing.T) {
	ours := func(name string) bool { return strings.HasPrefix(name, "plimsoll") }
	for name, tc := range map[string]struct {
		others []peer.Result
		want   []string
	}{
		"nobody else":    {nil, nil},
		"equal":          {[]peer.Result{result("a", "x", 8, "2", "", 1)}, nil},
		"dearer":         {[]peer.Result{result("a", "x", 8, "2.1", "", 1)}, nil},
		"places fewer":   {[]peer.Result{result("a", "x", 7, "1", "", 1)}, nil},
		"cheaper":        {[]peer.Result{result("a", "x", 8, "1.9", "", 1)}, []string{"a: x costs 1.9, plimsoll 2"}},
		"places more":    {[]peer.Result{result("a", "x", 9, "9", "", 1)}, []string{"a: x places 9 pods, plimsoll 8"}},
		"our own effort": {[]peer.Result{result("a", "plimsoll thorough", 8, "1.9", "", 1)}, nil},
		"elsewhere":      {[]peer.Result{result("b", "x", 8, "1.9", "", 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rows := Compare(append(tc.others, result("a", "plimsoll", 8, "2", "", 1)), "plimsoll")
			assert.Equal(t, tc.want, Losses(rows, "plimsoll", ours))
		})
	}
}

func TestWrite(t *testing.T) {
	late := result("b", "karpenter", 4, "3", "", 60*time.Second)
	late.Late = true
	rows := Compare([]peer.Result{result("a", "karpenter", 10, "3", "", 1500*time.Millisecond), result("a", "plimsoll", 10, "2", "1.6", 12345*time.Microsecond), late}, "plimsoll")
	var b strings.Builder
	require.NoError(t, Write(&b, rows))
	assert.Equal(t, `| a | karpenter | 10 | 3 | 3.000 | 1.8750 | 1.5 s | 3 s | 12.3 MB | 1.5000 | 121.51 |
|  | plimsoll | 10 | 3 | 2.000 | 1.2500 | 12.3 ms | 24.7 ms | 12.3 MB | 1.0000 | 1.00 |
| b | karpenter | 4 of 10 | 3 | 3.000 | – | stopped at 60 s | 120 s | 12.3 MB | – | – |
`, b.String())
	columns := strings.Count(strings.Split(b.String(), "\n")[0], "|")
	for line := range strings.Lines(Header()) {
		assert.Equal(t, columns, strings.Count(line, "|"))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteFails(t *testing.T) {
	assert.ErrorContains(t, Write(full{}, nil), "disk full")
}
