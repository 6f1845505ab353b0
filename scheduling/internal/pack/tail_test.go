package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// zonal is log-normal pods of which some may be in one of two zones only, where the
// second is a little dearer.
func zonal(n, k int) *model.Problem {
	p := logNormal(n, k)
	p.Groups = 3 // anywhere, in the first zone, in the second
	for c := range p.Classes {
		p.Classes[c].Group = int32([]int{0, 0, 1, 2}[c%4])
	}
	var options []model.Option
	for zone := 1; zone <= 2; zone++ {
		for _, o := range p.Options {
			o.Admits, o.Soft = model.NewBits(3), model.NewBits(3)
			o.Admits.Set(0)
			o.Admits.Set(zone)
			o.Cost += o.Cost * int64(zone-1) / 50
			o.Price = o.Cost
			options = append(options, o)
		}
	}
	p.Options = options
	return p
}

// Pods that may be in one zone only get machines there, which others fill up.
func TestTailOfSeveralKinds(t *testing.T) {
	p := zonal(300, 40)
	s := newSearch(p, Params{})
	values, remaining, b := s.fill.shareValues(), counts(p), newBudget(p)
	classes := slices.Clone(s.fill.those(remaining, values))
	x := s.newBlend(s.markets[0], classes, remaining)
	require.True(t, x.solve(make([]float64, len(p.Options))))
	require.Len(t, x.kinds, 3)
	worths := x.values(classes, values)
	left := counts(p)
	alone := s.construct(0, left, worths, newBudget(p))
	require.Zero(t, total(left))
	nodes := s.tail(x, 0, remaining, worths, b)
	assert.Zero(t, total(remaining))
	assert.LessOrEqual(t, p.Cost(nodes), p.Cost(alone))
	shared := false
	for _, n := range nodes {
		require.NoError(t, checkPattern(p, n.Option, n.Items, counts(p)))
		groups := map[int32]bool{}
		for _, it := range n.Items {
			groups[p.Classes[it.Class].Group] = true
		}
		shared = shared || len(groups) > 1
	}
	assert.True(t, shared, "machines are filled up with pods that may be anywhere")
}

// What has no place keeps a tail from buying anything.
func TestTailBuysAllOrNothing(t *testing.T) {
	p := zonal(100, 10)
	s := newSearch(p, Params{})
	values, remaining, b := s.fill.shareValues(), counts(p), newBudget(p)
	classes := slices.Clone(s.fill.those(remaining, values))
	x := s.newBlend(s.markets[0], classes, remaining)
	require.True(t, x.solve(make([]float64, len(p.Options))))
	for o := range p.Options {
		p.Options[o].Supply = 0 // sold out since
	}
	b.supply = []int64{0}
	before := slices.Clone(remaining)
	assert.Empty(t, s.tail(x, 0, remaining, values, b))
	assert.Equal(t, before, remaining)
	assert.Equal(t, []int64{0}, b.supply)
}

func TestSampleKeepsOrder(t *testing.T) {
	p := zonal(200, 30)
	s := newSearch(p, Params{})
	all := s.markets[0].all
	random := rand.New(rand.NewPCG(1, 2))
	assert.Equal(t, all, s.sample(all, 1, random), "few classes, all places")
	for range 50 {
		some := s.sample(all, 1000, random)
		assert.Len(t, some, min(fewestPlaces, len(all)))
		assert.True(t, slices.IsSorted(some))
		for _, at := range some {
			assert.Contains(t, all, at)
		}
	}
}
