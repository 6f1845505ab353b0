package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// bestOnShelves is the best score of any class on shelves that can still join, -1 for none.
func (f *filler) bestOnShelves(shelves []shelf, remaining []int64, values []float64) float64 {
	best := -1.0
	for _, x := range shelves {
		if !model.Fits(f.left, f.requests[x.size]) {
			continue
		}
		share := 0.0
		for d, q := range f.requests[x.size] {
			share = max(share, float64(q)/float64(max(f.left[d], 1)))
		}
		for _, c := range x.classes {
			if f.taken[c] < remaining[c] && f.joining(c) > 0 {
				best = max(best, values[c]*density(share))
			}
		}
	}
	return best
}

// Of many shelves in racks the best comes out at every step, as if all were looked at, until
// nothing fits any more.
func TestRacks(t *testing.T) {
	for _, p := range []*model.Problem{logNormal(3_000, 600), logNormal(600, 300)} {
		for c := range p.Classes[:40] {
			p.Classes[c].Request[c%2] = 0 // some ask for nothing of one resource
		}
		s := newSearch(p, Params{})
		f, m := s.fill, s.markets[0]
		values, remaining := f.shareValues(), counts(p)
		for c := range remaining {
			remaining[c] -= int64(c % 3) // of some nothing is left
		}
		f.stock(&s.stage, m, m.all, f.those(counts(p), values))
		f.rack(&s.stage, values)
		k, shelves := s.stage.racksOf(0), s.stage.shelves[0]
		require.NotNil(t, k)
		steps := 0
		for o := range m.options {
			option := &p.Options[o]
			copy(f.left, option.Room)
			f.items, f.racks = f.items[:0], k
			f.enter(k)
			for {
				want := f.bestOnShelves(shelves, remaining, values)
				x := f.choose(remaining, values)
				if x == nil {
					require.Negative(t, want)
					break
				}
				require.InEpsilon(t, want, x.worth*density(f.share(x.size)), 1e-9)
				f.takeFrom(x, option, remaining, values)
				steps++
			}
			f.leave(f.items)
		}
		assert.Greater(t, steps, 5*len(m.options))
	}
}

// Machines that are filled from racks hold about as much as others, and most racks are passed
// by when the first pods are chosen.
func TestRacksPassedBy(t *testing.T) {
	p := logNormal(10_000, 1_000)
	s := newSearch(p, Params{})
	f, m := s.fill, s.markets[0]
	values, remaining := f.shareValues(), counts(p)
	f.stock(&s.stage, m, m.all, f.those(remaining, values))
	f.rack(&s.stage, values)
	k, shelves := s.stage.racksOf(0), s.stage.shelves[0]
	var full [2]float64
	opened, all := 0, 0
	for _, o := range m.options {
		for i, k := range []*racks{nil, k} {
			f.racks = k
			_, worth := f.fill(o, nil, shelves, remaining, values)
			full[i] += worth / f.costs[o]
		}
		f.enter(k)
		copy(f.left, p.Options[o].Room)
		require.NotNil(t, f.choose(remaining, values))
		for _, looked := range k.opened {
			if all++; looked {
				opened++
			}
		}
	}
	t.Logf("worth per price %.4f and %.4f, %d of %d racks opened", full[0], full[1], opened, all)
	assert.Greater(t, full[1], 0.995*full[0])
	assert.Less(t, 4*opened, all)
}

// Many machines are bought with racks, and racks do not stay for what comes after.
func TestBulkFromRacks(t *testing.T) {
	p := logNormal(30_000, 500)
	s := newSearch(p, Params{})
	values, remaining := s.fill.shareValues(), counts(p)
	nodes := s.bulk(0, remaining, values, newBudget(p))
	assert.Greater(t, model.Count(nodes), int64(rackedFrom))
	assert.NotEmpty(t, s.fill.shapes.rank)
	assert.Nil(t, s.fill.racks)
}
