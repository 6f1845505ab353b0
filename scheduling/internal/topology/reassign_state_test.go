package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dealt is a reassignment for the plan of a problem.
func dealt(t *testing.T, p *Problem) (*reassignment, *cluster) {
	s, all := planned(p, Plan(p).Counts)
	x := s.newReassignment(all)
	require.NotNil(t, x)
	return x, all
}

// stir moves pods about.
func (x *reassignment) stir(r *rand.Rand, moves int) {
	for range moves {
		h := x.groups[r.IntN(len(x.groups))]
		from, to := r.IntN(len(h.choices)), r.IntN(len(h.choices))
		if n := h.count[from]; from != to && n > 0 {
			n = 1 + r.Int64N(n)
			x.move(h, from, to, n)
			h.pass(from, to, n)
		}
	}
	x.lack = x.missing(many)
}

// Nothing is missing for a proof where there is one, and something where there is none.
func TestMissingIsWhatTheProofSays(t *testing.T) {
	proven, unproven := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := letters(2+int32(seed%4), 2+int64(seed%3), 5+int64(seed%7)*10)
		for i := range p.Rules {
			p.Rules[i].Max = 1 + r.Int64N(3)
			for d := range p.Rules[i].Domains {
				p.Rules[i].Domains[d].Count = r.Int64N(4)
			}
		}
		for c := range p.Classes {
			if l := &p.Classes[c].Links[0]; r.IntN(6) == 0 {
				l.Holds = true // its own pods, too
			}
		}
		x, all := dealt(t, p)
		for range 50 {
			x.stir(r, r.IntN(6))
			x.put(all)
			if x.certified(all) {
				proven++
				require.Zero(t, x.lack, "seed %d: %v", seed, x.n)
			} else {
				unproven++
				require.Positive(t, x.lack, "seed %d: %v", seed, x.n)
			}
		}
	}
	assert.Greater(t, proven, 50)
	assert.Greater(t, unproven, 100)
}

// A limit ends the search early, and changes nothing for those below it.
func TestMissingStopsAtTheLimit(t *testing.T) {
	x, _ := dealt(t, letters(5, 4, 30))
	r := rand.New(rand.NewPCG(1, 2))
	stopped := 0
	for range 300 {
		x.stir(r, 3)
		for _, limit := range []int64{-3, 0, 1, 5, 20} {
			if got := x.missing(limit); x.lack < limit {
				assert.Equal(t, x.lack, got)
			} else if assert.GreaterOrEqual(t, got, max(0, limit)); got < x.lack {
				stopped++
			}
		}
	}
	assert.Positive(t, stopped)
}

// However pods are moved, a reassignment knows where they are, and takes them back.
func TestDealerKeepsCount(t *testing.T) {
	x, all := dealt(t, letters(4, 3, 20))
	r := rand.New(rand.NewPCG(3, 4))
	begin, lack, cost := x.save(), x.lack, x.cost()
	for range 50 {
		x.stir(r, 10)
		x.put(all)
		fresh := x.planner.newReassignment(all)
		assert.Equal(t, fresh.n, x.n)
		assert.Equal(t, fresh.firm, x.firm)
		assert.Equal(t, fresh.proofGroups, x.proofGroups)
		assert.Equal(t, fresh.lack, x.lack)
		for i, h := range x.groups {
			assert.Equal(t, fresh.groups[i].count, h.count)
		}
	}
	x.load(begin)
	assert.Equal(t, lack, x.lack)
	assert.Equal(t, cost, x.cost())
	assert.Equal(t, begin, x.save())
}

// What a move costs is what it changes, and those go for which it costs least.
func TestHandsPassWhatCostsLeast(t *testing.T) {
	h := &podGroup{choices: make([]siteChoice, 2), count: []int64{5, 0}, shares: []classShare{
		{cost: []int64{10, 30}, n: []int64{2, 0}}, {cost: []int64{10, 15}, n: []int64{3, 0}},
	}}
	h.sort()
	assert.Equal(t, int64(5), h.over(0, 1, 1))
	assert.Equal(t, int64(3*5+20), h.over(0, 1, 4))
	h.pass(0, 1, 4)
	assert.Equal(t, []int64{1, 1}, h.shares[0].n)
	assert.Equal(t, []int64{0, 3}, h.shares[1].n)
	assert.Equal(t, int64(-20), h.over(1, 0, 1))
}
