package pack

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// The number of processors is the whole process's, so this test is not parallel.
func TestAnyNumberOfHandsBuysTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, p := range []*model.Problem{mix(1_000, proportional(60, 3, 1), 3), thirtySizes(5_000), logNormal(3_000, 250)} {
		var want Outcome
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			got := Search(p, Params{Work: 2_000_000})
			if processors == 1 {
				want = got
			}
			require.Equal(t, want, got, "with %d processors", processors)
		}
	}
}

// begun is a search with a first answer, and a crew for its machines.
func begun(t *testing.T, p *model.Problem) (*search, *ranking, *crew) {
	t.Helper()
	s := newSearch(p, Params{Work: 1_000_000})
	values := s.fill.shareValues()
	s.budget = 1 << 40
	a := s.try(values, false)
	r := newRanking(p, unbundle(a.bought[0]), values)
	x := s.newCrew(s.markets[0], len(r.nodes), values, a.budget)
	return s, r, x
}

// A crew keeps every pod on some machine, never pays more, and never takes a machine twice.
func TestCrewKeepsPods(t *testing.T) {
	t.Parallel()
	p := mix(1_000, proportional(60, 3, 1), 3)
	s, r, x := begun(t, p)
	require.NotNil(t, x)
	held := func() []int64 {
		out := make([]int64, len(p.Classes))
		for _, node := range r.nodes {
			for _, it := range node.Items {
				out[it.Class] += it.N * node.N
			}
		}
		return out
	}
	want, cost, work := held(), p.Cost(r.nodes), s.fill.work
	random := rand.New(rand.NewPCG(1, 2))
	vain, made := 0, 0
	for range 100 {
		x.draw(r.nodes, random)
		require.Len(t, x.changes, batchSize)
		x.try(r.nodes)
		before := vain
		vain = x.make(r, vain)
		require.Equal(t, want, held())
		now := p.Cost(r.nodes)
		require.LessOrEqual(t, now, cost)
		if now < cost {
			made++
		}
		if slices.ContainsFunc(x.changes, func(c change) bool { return c.fresh != nil }) {
			require.Less(t, vain, batchSize, "tries in vain count from the last success")
		} else {
			require.Equal(t, before+batchSize, vain)
		}
		cost = now
	}
	assert.Positive(t, made)
	assert.Greater(t, s.fill.work, work, "what hands do is counted")
}

// Of two changes that concern one machine only the first is made.
func TestCrewMakesNoTwoChangesOfAMachine(t *testing.T) {
	t.Parallel()
	p := mix(1_000, proportional(60, 3, 1), 3)
	_, r, x := begun(t, p)
	all := slices.Clone(r.nodes)
	keep := func(at int) []model.Node { return slices.Clone(all[at : at+1]) }
	x.changes = []change{
		{picked: []int{3}, fresh: keep(3), work: 1},
		{picked: []int{2, 3}, fresh: keep(2), work: 1},
		{picked: []int{1}, work: 1},
		{picked: []int{0}, fresh: keep(0), work: 1},
		{picked: []int{4}, work: 1},
	}
	assert.Equal(t, 1, x.make(r, 7))
	assert.Len(t, r.nodes, len(all))
	assert.Equal(t, p.Cost(all), p.Cost(r.nodes))
}

// Few machines, and machines of which there is no number at will, are not for a crew.
func TestCrewIsForManyMachines(t *testing.T) {
	t.Parallel()
	p := mix(1_000, proportional(60, 3, 1), 3)
	s := newSearch(p, Params{Work: 1})
	assert.Nil(t, s.newCrew(s.markets[0], manyMachines-1, nil, newBudget(p)))
	assert.NotNil(t, s.newCrew(s.markets[0], manyMachines, nil, newBudget(p)))
	p.Pools[0].Limits = []int64{1_000}
	for o := range p.Options {
		p.Options[o].Use = []int64{1}
	}
	s = newSearch(p, Params{Work: 1})
	assert.Nil(t, s.newCrew(s.markets[0], manyMachines, nil, newBudget(p)))
}

// Where there is one track, another sets out from where it stands; each is followed in a
// search of its own, and what both do is counted.
func TestTwoTracks(t *testing.T) {
	t.Parallel()
	p := mix(1_000, proportional(60, 3, 1), 3)
	s := newSearch(p, Params{})
	values := s.fill.shareValues()
	first := s.try(values, false)
	tracks := s.twoTracks([]*track{{search: s, paced: true, values: values, last: first, step: correction}})
	require.Len(t, tracks, 2)
	assert.Same(t, s, tracks[0].search)
	assert.NotSame(t, s, tracks[1].search)
	assert.Same(t, first, tracks[1].last)
	assert.InDelta(t, fullCorrection, tracks[1].step, 0)
	twin := tracks[1].search
	assert.Same(t, twin, s.twoTracks(tracks)[1].search, "they stay as they are")

	work := s.fill.work
	s.follow(tracks)
	assert.Zero(t, twin.fill.work)
	for i, x := range tracks {
		require.NotSame(t, first, x.last)
		alone := newSearch(p, Params{})
		assert.Equal(t, alone.try(correct(p, first, values, x.step), false).cost, x.last.cost, "track %d", i)
		work += alone.fill.work
	}
	assert.Equal(t, work, s.fill.work)
}
