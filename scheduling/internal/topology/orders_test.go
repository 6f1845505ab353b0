package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// orders goes through all orders in which pods of a plan can bind.
type orders struct {
	p      *Problem
	counts [][]int64
	naive  *naive
	seen   map[string]bool
}

// stuck reports whether pods may be left over in some order.
func (o *orders) stuck(bound [][]int64) bool {
	key := fmt.Sprint(bound)
	if o.seen[key] {
		return false
	}
	o.seen[key] = true
	left, some := false, false
	for c := range bound {
		for s := range bound[c] {
			if bound[c][s] == o.counts[c][s] {
				continue
			}
			left = true
			if !o.naive.allows(c, s) {
				continue
			}
			some = true
			next := clone(bound)
			next[c][s]++
			o.naive.pods = append(o.naive.pods, naivePod{c, s})
			bad := o.stuck(next)
			o.naive.pods = o.naive.pods[:len(o.naive.pods)-1]
			if bad {
				return true
			}
		}
	}
	return left && !some
}

// mayBeStuck reports whether pods of a plan may be left over in some order.
func mayBeStuck(p *Problem, counts [][]int64) bool {
	none := clone(counts)
	for c := range none {
		clear(none[c])
	}
	o := &orders{p: p, counts: counts, naive: newNaive(p, counts), seen: map[string]bool{}}
	return o.stuck(none)
}

// sureSearch looks for a plan of some value that binds in any order.
type sureSearch struct {
	p      *Problem
	want   []int64
	counts [][]int64
	found  bool
}

func (b *sureSearch) search() {
	b.found = !eachPlan(b.p, b.counts, 0, 0, func() bool {
		return !slices.Equal(value(b.p, b.counts), b.want) || !roomy(b.p, b.counts) || mayBeStuck(b.p, b.counts)
	})
}

// TestSpreadsBindWhereTheyCan counts plans that do not bind in every order. Brute force
// knows for how many of them another plan with as many pods would.
func TestSpreadsBindWhereTheyCan(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 2))
	const rounds = 1000
	stuck, avoidable := 0, 0
	for _, b := range []shape{
		{pods: 6, classes: 4, places: 3, rules: 3},
		{pods: 9, classes: 4, places: 3, rules: 3},
		{pods: 8, classes: 5, places: 2, rules: 4},
	} {
		for range rounds {
			p := randomProblem(rng, b)
			for r := range p.Rules {
				if rng.IntN(2) > 0 {
					p.Rules[r].Kind, p.Rules[r].Max = Spread, 1
				}
				for d := range p.Rules[r].Domains {
					p.Rules[r].Domains[d].Eligible = true
				}
			}
			got := Plan(p)
			if !mayBeStuck(p, got.Counts) {
				continue
			}
			stuck++
			s := &sureSearch{p: p, want: value(p, got.Counts)}
			for c := range p.Classes {
				s.counts = append(s.counts, make([]int64, len(p.Classes[c].Sites)))
			}
			if s.search(); s.found {
				avoidable++
			}
		}
	}
	t.Logf("%d plans of %d depend on the order, %d of them needlessly", stuck, 3*rounds, avoidable)
	assert.Less(t, stuck, 3*rounds*8/100)
	assert.Less(t, avoidable, 3*rounds/100)
}

// TestPlansInRandomOrders binds plans of all sizes in random orders. In these problems
// nearly everything is tied to everything else, much more than in any cluster.
func TestPlansInRandomOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for k, b := range shapes() {
		const rounds = 500
		failed, certified := 0, 0
		for round := range rounds {
			p := randomProblem(rng, b)
			got := Plan(p)
			s, all := planned(p, got.Counts)
			sure := s.certifier.certified(all)
			lost := int64(0)
			for range 4 {
				lost += lostInOrder(p, got.Counts, rng)
			}
			if sure {
				certified++
				require.Zero(t, lost, "round %d: %+v", round, p)
			} else if lost > 0 {
				failed++
			}
		}
		t.Logf("%+v: %d of %d plans are certain, %d fail in some order", b, certified, rounds, failed)
		assert.Less(t, failed, rounds*[]int{2, 8, 25}[k]/100)
	}
}

// oneAffinity lets classes hold no more than one affinity each: of a pod with several,
// all count the same pods.
func oneAffinity(p *Problem) {
	for c := range p.Classes {
		seen := false
		for l := range p.Classes[c].Links {
			if link := &p.Classes[c].Links[l]; p.Rules[link.Rule].Kind == Affinity && link.Holds {
				link.Holds = !seen
				seen = true
			}
		}
	}
}

// TestAffinityNearOptimum compares with brute force where most rules are affinities.
func TestAffinityNearOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 1))
	const rounds = 2000
	best := 0
	for range rounds {
		p := withoutSpreads(randomProblem(rng, shape{pods: 6, classes: 4, places: 3, rules: 3, bins: 1}))
		for r := range p.Rules {
			if rng.IntN(3) > 0 {
				p.Rules[r].Kind = Affinity
			}
		}
		oneAffinity(p)
		_, want := optimum(p)
		if slices.Equal(want, value(p, Plan(p).Counts)) {
			best++
		}
	}
	t.Logf("optimal in %.2f %% of %d problems", 100*float64(best)/rounds, rounds)
	assert.Greater(t, best, rounds*99/100)
}
