package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCountsKeepTheMinimum adds pods at random and compares what is kept up to date
// with what is counted anew.
func TestCountsKeepTheMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	eachRandom(6, 200, func(round int, p *Problem) {
		table := compile(p)
		s := newCounts(table)
		for r := range p.Rules {
			s.restart(int32(r), table.eligible)
		}
		if len(table.cells) == 0 {
			return
		}
		for range 20 {
			s.add(table.cells[rng.IntN(len(table.cells))].terms, int64(1+rng.IntN(3)))
		}
		for r := range p.Rules {
			low, lows, size := s.low[r], s.lows[r], s.size[r]
			if p.Rules[r].Kind != Spread {
				continue
			}
			s.measure(int32(r))
			require.Equal(t, s.low[r], low, "round %d: rule %d", round, r)
			require.Equal(t, s.lows[r], lows, "round %d: rule %d", round, r)
			require.Equal(t, s.size[r], size, "round %d: rule %d", round, r)
		}
	})
}

// TestAdmitsAgreesWithReading puts pods anywhere, allowed or not, and compares what the
// counts say about one more with a reading of the rules.
func TestAdmitsAgreesWithReading(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 4))
	for round := range 2500 {
		p := randomProblem(rng, shape{pods: 9, classes: 5, places: 4, rules: 4, bins: 1, preferences: true})
		counts := make([][]int64, len(p.Classes))
		for c := range counts {
			counts[c] = make([]int64, len(p.Classes[c].Sites))
			for s := range counts[c] {
				counts[c][s] = max(0, int64(rng.IntN(5)-2))
			}
		}
		plain := newNaive(p, counts)
		plain.bindAll(counts)
		table := compile(p)
		r := newReplay(table)
		for rule := range p.Rules {
			r.counts.restart(int32(rule), table.eligible)
		}
		for i := range table.cells {
			if n := counts[table.cells[i].class][table.cells[i].site]; n > 0 {
				r.counts.openCell(table.cells[i].terms)
				r.counts.add(table.cells[i].terms, n)
			}
		}
		for rule := range p.Rules {
			r.counts.measure(int32(rule))
		}
		for i := range table.cells {
			c := &table.cells[i]
			// The reading has it that the pod's own machine stands.
			if counts[c.class][c.site] == 0 {
				continue
			}
			n, _ := r.counts.admits(c.terms)
			require.Equal(t, plain.allows(int(c.class), int(c.site)), n > 0, "round %d: class %d at site %d\n%+v\n%v",
				round, c.class, c.site, p, counts)
		}
	}
}
