package speed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// sleeper takes as long as it is told, another time at each run, and places nothing.
type sleeper struct {
	name string
	runs *int
	took []time.Duration
	fail error
}

func (s sleeper) Name() string { return s.name }

func (s sleeper) Load(scheduling.Problem) (peer.Run, error) { return s, s.fail }

func (s sleeper) Solve(context.Context) error {
	time.Sleep(s.took[*s.runs])
	*s.runs++
	return nil
}

func (sleeper) Outcome() (peer.Outcome, error) { return peer.Outcome{}, nil }

// The standard runs as often as it is told, and of the others the median counts.
func TestMeasure(t *testing.T) {
	ms := time.Millisecond
	once, thrice := 0, 0
	in := corpus.Instance{Name: "i", Problem: scheduling.Problem{Pods: []*corev1.Pod{}}}
	results, err := Measure(t.Context(), in, []Entrant{
		{sleeper{name: "slow", runs: &once, took: []time.Duration{60 * ms}}, peer.Options{}},
		{sleeper{name: "quick", runs: &thrice, took: []time.Duration{400 * ms, 0, 30 * ms}}, peer.Options{Repeat: 3}},
	})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 3}, []int{once, thrice})
	assert.GreaterOrEqual(t, results[0].Elapsed, 60*ms)
	assert.GreaterOrEqual(t, results[1].Elapsed, 30*ms)
	assert.Less(t, results[1].Elapsed, 400*ms)

	_, err = Measure(t.Context(), in, []Entrant{{sleeper{name: "x", fail: errors.New("broken")}, peer.Options{}}})
	assert.ErrorContains(t, err, "x: load i: broken")
}

func result(who string, placed int, price string, elapsed time.Duration, mb uint64) peer.Result {
	return peer.Result{
		Instance: "i", Peer: who, Pods: 20_000, Placed: placed, Nodes: 3, Price: offerings.MustPrice(price),
		Elapsed: elapsed, CPU: elapsed / 2, Allocated: mb * 1e6,
	}
}

func TestWrite(t *testing.T) {
	results := []peer.Result{
		result("karpenter", 9, "3", 70*time.Second, 500),
		result("plimsoll", 9, "2", 200*time.Millisecond, 40),
		result("other", 8, "1", time.Second, 1000),
	}
	var b strings.Builder
	require.NoError(t, Write(&b, results, "karpenter"))
	assert.Equal(t, `| 20000 | karpenter | 9 | 3 | 3.000 | 70 s | 35 s | 500.0 MB | 1 × | 1 × | 1 × | 1 × |
| 20000 | plimsoll | 9 | 3 | 2.000 | 200 ms | 100 ms | 40.0 MB | 350 × | 350 × | 12.5 × | 1.500 × |
| 20000 | other | 8 | 3 | 1.000 | 1 s | 500 ms | 1000.0 MB | 70 × | 70 × | 0.5 × | – |
`, b.String())
	head := Header("karpenter")
	assert.Contains(t, head, "| karpenter's time |")
	assert.Equal(t, 2*strings.Count(strings.Split(b.String(), "\n")[0], "|"), strings.Count(head, "|"))

	b.Reset()
	require.NoError(t, Write(&b, results[1:2], "karpenter"))
	assert.Contains(t, b.String(), "| 40.0 MB | – | – | – | – |")
}

func TestBroken(t *testing.T) {
	standard := result("karpenter", 9, "3", 70*time.Second, 500)
	for name, tc := range map[string]struct {
		ours peer.Result
		want []string
	}{
		"kept":        {result("plimsoll fast", 9, "3", 350*time.Millisecond, 64), nil},
		"more placed": {result("plimsoll fast", 10, "4", 350*time.Millisecond, 64), nil},
		"slow":        {result("plimsoll fast", 9, "3", 700*time.Millisecond, 64), []string{"i: plimsoll fast is 100 times as fast as karpenter, under 200"}},
		"fat":         {result("plimsoll fast", 9, "3", 350*time.Millisecond, 65), []string{"i: plimsoll fast allocates 65.0 MB, over 64.0 MB"}},
		"dear":        {result("plimsoll fast", 9, "3.1", 350*time.Millisecond, 64), []string{"i: plimsoll fast costs 3.1, karpenter 3"}},
		"lazy":        {result("plimsoll fast", 8, "1", 350*time.Millisecond, 64), []string{"i: plimsoll fast places 8 pods, karpenter 9"}},
		"default":     {result("plimsoll", 9, "3", 1400*time.Millisecond, 999), nil},
		"slow, too":   {result("plimsoll", 9, "3", 2*time.Second, 999), []string{"i: plimsoll is 35 times as fast as karpenter, under 50"}},
		"no promise":  {result("somebody", 1, "9", time.Hour, 999), nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Broken([]peer.Result{standard, tc.ours}, "karpenter", Promises()))
		})
	}
	fat := result("plimsoll fast", 9, "3", time.Hour, 65)
	assert.Len(t, Broken([]peer.Result{fat}, "karpenter", Promises()), 1, "without the standard only memory counts")
	fat.Pods = 5_000
	assert.Empty(t, Broken([]peer.Result{fat}, "karpenter", Promises()))
}
