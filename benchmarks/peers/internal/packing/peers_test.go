package packing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// pods asks for as many milli-cores each.
func pods(milliCPU ...int64) []*corev1.Pod {
	var out []*corev1.Pod
	for i, n := range milliCPU {
		out = append(out, st.Pod(fmt.Sprintf("p%d-%d", i, n), st.Requests(st.MilliCPU(n))))
	}
	return out
}

// solve writes machines as type: requests, and leaves the order of machines open.
func solve(t *testing.T, h Peer, p scheduling.Problem) []string {
	t.Helper()
	_, outcome, err := peer.Measure(t.Context(), h, "test", p, peer.Options{})
	require.NoError(t, err)
	var lines []string
	for _, machine := range outcome.Machines {
		var amounts []string
		for _, pod := range machine.Pods {
			amounts = append(amounts, pod.Spec.Containers[0].Resources.Requests.Cpu().String())
		}
		slices.Sort(amounts)
		lines = append(lines, machine.InstanceType+": "+strings.Join(amounts, " "))
	}
	slices.Sort(lines)
	return lines
}

func TestHeuristics(t *testing.T) {
	for name, tc := range map[string]struct {
		problem scheduling.Problem
		want    map[Peer][]string
	}{
		// After 5, 5 and 4 of 10 the machines have 0 and 6 left; the 3 goes to the
		// second with both rules, and the last 3 as well.
		"one type": {
			problem(pods(5000, 5000, 4000, 3000, 3000), m("ten", 10, st.OnDemand("z", st.Cents(10)))),
			map[Peer][]string{
				{}:              {"ten: 3 3 4", "ten: 5 5"},
				{BestFit: true}: {"ten: 3 3 4", "ten: 5 5"},
			},
		},
		// 8 and 6 of 10 leave 2 and 4, the 3 makes that 2 and 1. The 1 goes to the
		// first machine with room, or to the one with least room.
		"first fit and best fit": {
			problem(pods(8000, 6000, 3000, 1000), m("ten", 10, st.OnDemand("z", st.Cents(10)))),
			map[Peer][]string{
				{}:              {"ten: 1 8", "ten: 3 6"},
				{BestFit: true}: {"ten: 1 3 6", "ten: 8"},
			},
		},
		"the last machine is as small as can be": {
			problem(pods(4000, 4000, 1000), m("one", 1, st.OnDemand("z", st.Cents(2))), m("eight", 8, st.OnDemand("z", st.Cents(8)))),
			map[Peer][]string{{}: {"eight: 4 4", "one: 1"}, {BestFit: true}: {"eight: 4 4", "one: 1"}},
		},
		"nothing fits": {
			problem(pods(4000), m("one", 1, st.OnDemand("z", st.Cents(2)))),
			map[Peer][]string{{}: nil},
		},
		"nothing to do": {
			problem(nil, m("one", 1, st.OnDemand("z", st.Cents(2)))),
			map[Peer][]string{{}: nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for h, want := range tc.want {
				assert.Equal(t, want, solve(t, h, tc.problem), h.Name())
			}
		})
	}
}

// On random problems all heuristics agree on which pods can be placed, the checks of Measure hold, and no heuristic
// buys less than the pods request.
func TestRandomProblems(t *testing.T) {
	for seed := range uint64(60) {
		d := rand.New(rand.NewPCG(seed, 1))
		var amounts []int64
		for range 1 + d.IntN(40) {
			amounts = append(amounts, 100*(1+d.Int64N(45)))
		}
		p := problem(pods(amounts...), m("a", 1, st.OnDemand("z", st.Cents(3))), m("b", 2, st.OnDemand("z", st.Cents(5))), m("c", 4, st.Spot("z", st.Cents(11))))
		placed := -1
		for _, h := range []Peer{{}, {BestFit: true}} {
			r, outcome, err := peer.Measure(t.Context(), h, "random", p, peer.Options{})
			require.NoError(t, err)
			if placed < 0 {
				placed = r.Placed
			}
			assert.Equal(t, placed, r.Placed, "seed %d, %s", seed, h.Name())
			var bought, wanted int64
			for _, machine := range outcome.Machines {
				it, _ := p.Catalog.Get(machine.InstanceType)
				bought += it.Capacity.Cpu().MilliValue()
				for _, pod := range machine.Pods {
					wanted += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
				}
			}
			assert.GreaterOrEqual(t, bought, wanted)
		}
	}
}
