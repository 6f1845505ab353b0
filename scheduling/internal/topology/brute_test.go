package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reachable lists, for each spread rule, the domains to which a class that holds it
// could go, as the planner has to count with them.
func reachable(p *Problem) [][]int32 {
	extra := make([][]int32, len(p.Rules))
	for _, class := range p.Classes {
		for l, link := range class.Links {
			for _, site := range class.Sites {
				if !p.links(link) {
					continue
				}
				if link.Holds && site.Limit != 0 && (site.Cost >= 0 || len(site.Bins) > 0) && site.Domains[l] >= 0 {
					extra[link.Rule] = append(extra[link.Rule], site.Domains[l])
				}
			}
		}
	}
	return extra
}

// links reports whether a link leads to a rule.
func (p *Problem) links(l Link) bool { return l.Rule >= 0 && int(l.Rule) < len(p.Rules) }

// binds reports whether counts bind completely, whether or not domains stay empty.
func binds(p *Problem, counts [][]int64, extra [][]int32) bool {
	same := func(bound [][]int64) bool { return slices.EqualFunc(bound, counts, slices.Equal[[]int64]) }
	return same(Replay(p, counts, nil)) && same(Replay(p, counts, extra))
}

// brute finds the best plan by looking at all of them.
type brute struct {
	p      *Problem
	extra  [][]int32
	counts [][]int64
	best   [][]int64
	value  []int64
}

// optimum returns the counts of a best plan, and its numbers of pods by priority, the
// highest first.
func optimum(p *Problem) ([][]int64, []int64) {
	b := &brute{p: p, extra: reachable(p)}
	for c := range p.Classes {
		b.counts = append(b.counts, make([]int64, len(p.Classes[c].Sites)))
	}
	b.value = value(p, b.counts)
	b.best = clone(b.counts)
	b.search()
	return b.best, b.value
}

func clone(counts [][]int64) [][]int64 {
	out := make([][]int64, len(counts))
	for i := range counts {
		out[i] = slices.Clone(counts[i])
	}
	return out
}

// value is the number of pods by priority. Priorities in random problems are 0 and 1.
func value(p *Problem, counts [][]int64) []int64 {
	v := []int64{0, 0}
	for c := range counts {
		for _, n := range counts[c] {
			v[1-p.Classes[c].Priority] += n
		}
	}
	return v
}

func (b *brute) search() {
	eachPlan(b.p, b.counts, 0, 0, func() bool {
		if v := value(b.p, b.counts); slices.Compare(v, b.value) > 0 && roomy(b.p, b.counts) && binds(b.p, b.counts, b.extra) {
			b.best, b.value = clone(b.counts), v
		}
		return true
	})
}

// eachPlan puts the pods of a class and of those after it at sites, from the given one
// on, in every way that the limits of sites allow, and calls f each time until it
// returns false.
func eachPlan(p *Problem, counts [][]int64, class, site int, f func() bool) bool {
	if class == len(p.Classes) {
		return f()
	}
	c := &p.Classes[class]
	if site == len(c.Sites) {
		return eachPlan(p, counts, class+1, 0, f)
	}
	most := c.Count
	for _, n := range counts[class][:site] {
		most -= n
	}
	s := &c.Sites[site]
	if s.Limit >= 0 {
		most = min(most, s.Limit)
	}
	if !s.usable() {
		most = 0
	}
	for n := most; n >= 0; n-- {
		counts[class][site] = n
		if !eachPlan(p, counts, class, site+1, f) {
			return false
		}
	}
	counts[class][site] = 0
	return true
}

// roomy reports whether the pods at sites where nothing can be bought fit on machines
// that run, in some way.
func roomy(p *Problem, counts [][]int64) bool {
	free := make([][]int64, len(p.Bins))
	for i := range free {
		free[i] = slices.Clone(p.Bins[i])
	}
	type pod struct{ class, site int }
	var pods []pod
	for c := range counts {
		for s, n := range counts[c] {
			for range n {
				if p.Classes[c].Sites[s].Cost < 0 {
					pods = append(pods, pod{c, s})
				}
			}
		}
	}
	var fits func(k int) bool
	fits = func(k int) bool {
		if k == len(pods) {
			return true
		}
		class := &p.Classes[pods[k].class]
		for _, b := range class.Sites[pods[k].site].Bins {
			if free[b][0] >= class.Request[0] {
				free[b][0] -= class.Request[0]
				if fits(k + 1) {
					return true
				}
				free[b][0] += class.Request[0]
			}
		}
		return false
	}
	return fits(0)
}

// TestPlanNearOptimum compares with brute force: as many pods of the highest priority as
// possible, then of the next.
func TestPlanNearOptimum(t *testing.T) {
	const rounds = 4000
	rng := rand.New(rand.NewPCG(7, 1))
	best := 0
	for round := range rounds {
		p := randomProblem(rng, shape{pods: 6, classes: 4, places: 3, rules: 3, bins: 2})
		_, want := optimum(p)
		got := Plan(p)
		have := value(p, got.Counts)
		require.LessOrEqual(t, slices.Compare(have, want), 0, "round %d: better than the optimum", round)
		if slices.Equal(have, want) {
			best++
		}
	}
	rate := float64(best) / rounds
	t.Logf("optimal in %.2f %% of %d problems", 100*rate, rounds)
	assert.GreaterOrEqual(t, rate, 0.98)
}
