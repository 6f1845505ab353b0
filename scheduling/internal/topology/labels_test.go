package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// labelled draws n pods with one of seven labels that spread over three zones by a label
// which need not be their own, and so many times more that just have a label.
func labelled(n int, plain float64, costs []int64, seed uint64) *Problem {
	rng := rand.New(rand.NewPCG(seed, 26))
	const values, zones = 7, 3
	p := &Problem{Dims: 2}
	for range values {
		p.Rules = append(p.Rules, Rule{Kind: Spread, Max: 1, Domains: make([]Domain, zones)})
	}
	index := map[string]int{}
	add := func(links []Link) {
		req := []int64{[]int64{100, 250, 500, 1000, 1500}[rng.IntN(5)], []int64{100, 256, 512, 1024, 2048, 4096}[rng.IntN(6)]}
		key := fmt.Sprint(links, req)
		if at, ok := index[key]; ok {
			p.Classes[at].Count++
			return
		}
		class := Class{Count: 1, Request: req, Links: links}
		for z := range 2 * zones { // spot and on demand
			site := Site{Cost: req[0] * costs[z/2] * int64(2-(z%2)), Limit: -1}
			for range links {
				site.Domains = append(site.Domains, int32(z/2))
				site.Counted = append(site.Counted, true)
			}
			class.Sites = append(class.Sites, site)
		}
		index[key] = len(p.Classes)
		p.Classes = append(p.Classes, class)
	}
	for range int(float64(n) * plain) {
		add([]Link{{Rule: int32(rng.IntN(values)), Counts: 1}})
	}
	for range n {
		v, s := int32(rng.IntN(values)), int32(rng.IntN(values))
		if v == s {
			add([]Link{{Rule: v, Counts: 1, Holds: true}})
		} else {
			add([]Link{{Rule: v, Counts: 1}, {Rule: s, Holds: true}})
		}
	}
	return p
}

// TestLabels plans what other planners are measured by: pods that spread by labels which
// they pick at random. Given some pods that do not spread, the plan is certain, and given
// twice as many, it is even, too.
func TestLabels(t *testing.T) {
	same, different := []int64{10, 10, 10}, []int64{9, 10, 11}
	rng := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct {
		n     int
		plain float64
		costs []int64
		sure  bool
		even  bool
		lost  int64 // at most, of a thousand
	}{
		{n: 50, plain: 1, costs: same, sure: true},
		{n: 200, plain: 1, costs: different, sure: true},
		{n: 1000, plain: 1, costs: same, sure: true},
		{n: 1000, plain: 1, costs: different, sure: true},
		{n: 200, plain: 2, costs: same, sure: true},
		{n: 4000, plain: 2, costs: same, sure: true, even: true},
		{n: 4000, plain: 2, costs: different, sure: true},
		{n: 1000, plain: 0.5, costs: different, lost: 5},
		{n: 100, plain: 0, costs: same, lost: 20},
		{n: 1000, plain: 0, costs: same, lost: 80},
	} {
		t.Run(fmt.Sprintf("n=%d/plain=%v/costs=%v", c.n, c.plain, c.costs), func(t *testing.T) {
			for seed := range uint64(2) {
				p := labelled(c.n, c.plain, c.costs, seed)
				got := Plan(p)
				for class := range got.Unplaced {
					require.Zero(t, got.Unplaced[class])
				}
				s, all := planned(p, got.Counts)
				if c.sure {
					assert.Zero(t, s.certifier.doubtful(all), "seed %d", seed)
				}
				for range 3 {
					assert.LessOrEqual(t, lostInOrder(p, got.Counts, rng), int64(c.n)*c.lost/1000, "seed %d", seed)
				}
				for r := range p.Rules {
					n := s.plan.counts.count[s.plan.domFirst[r]:s.plan.domFirst[r+1]]
					if c.even {
						assert.LessOrEqual(t, max(n[0], n[1], n[2])-min(n[0], n[1], n[2]), int64(1), "seed %d: %v", seed, n)
					}
				}
			}
		})
	}
}
