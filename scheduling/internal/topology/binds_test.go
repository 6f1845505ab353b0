package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lone takes each site of a problem's classes for a class of its own, whose pods have
// nowhere else to go, and lists pods of them in any order.
func lone(rng *rand.Rand, p *Problem, counts [][]int64) (q Problem, pods []int32) {
	q = *p
	q.Classes = nil
	for c, sites := range counts {
		for s, n := range sites {
			class := p.Classes[c]
			class.Sites = class.Sites[s : s+1]
			for range n {
				pods = append(pods, int32(len(q.Classes)))
			}
			q.Classes = append(q.Classes, class)
		}
	}
	rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	return q, pods
}

// each is the same with a class for every pod, as Replay takes it.
func each(q *Problem, pods []int32) (Problem, [][]int64) {
	out := *q
	out.Classes = nil
	given := make([][]int64, len(pods))
	for i, c := range pods {
		class := q.Classes[c]
		class.Priority = 0
		out.Classes = append(out.Classes, class)
		given[i] = []int64{1}
	}
	return out, given
}

func TestBindsIsReplayPodByPod(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 4))
	yes, no := 0, 0
	for i := range 3_000 {
		p := randomProblem(rng, shape{pods: 12, classes: 5, places: 4, rules: 4, bins: 1, preferences: i%2 == 0})
		counts := Plan(p).Counts
		if i%3 == 0 { // some that nobody has planned
			for c := range counts {
				for s := range counts[c] {
					counts[c][s] += rng.Int64N(2)
				}
			}
		}
		q, pods := lone(rng, p, counts)
		extra := standing(p, counts)
		single, given := each(&q, pods)
		all := true
		for _, n := range Replay(&single, given, extra) {
			all = all && n[0] == 1
		}
		require.Equal(t, all, Binds(&q, pods, extra), "problem %d", i)
		if all {
			yes++
		} else {
			no++
		}
	}
	assert.Greater(t, yes, 300)
	assert.Greater(t, no, 300)
}

// Pods that keep each other waiting bind in the rounds after.
func TestBindsTriesAgain(t *testing.T) {
	p := &Problem{
		Rules: []Rule{{Kind: Spread, Max: 1, Domains: make([]Domain, 2)}},
		Classes: []Class{
			{Links: []Link{{Holds: true, Counts: 1}}, Sites: []Site{{Domains: []int32{0}, Limit: -1}}},
			{Links: []Link{{Holds: true, Counts: 1}}, Sites: []Site{{Domains: []int32{1}, Limit: -1}}},
		},
	}
	for _, c := range []struct {
		pods []int32
		want bool
	}{
		{nil, true},
		{[]int32{0}, true},
		{[]int32{0, 1, 0, 1}, true},
		{[]int32{0, 0, 0, 1, 1, 1}, true},
		{[]int32{0, 0, 1, 0, 0}, false},
	} {
		t.Run(fmt.Sprint(c.pods), func(t *testing.T) {
			given := append([]int32(nil), c.pods...)
			assert.Equal(t, c.want, Binds(p, c.pods, nil))
			assert.Equal(t, given, c.pods, "the order is the caller's")
		})
	}
}
