package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Sharp values leave a machine no more worth than any others, and just the worth of the
// pods that it would hold if they could be cut into pieces.
func TestSharpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	gained := 0
	for range 60 {
		m := largeMarket(rng, 40, 6)
		a := newAssignment(&m)
		first := a.starting(Resource(m.input()).Values)
		worths := make([]float64, len(a.demand))
		for c := range worths {
			worths[c] = first.worths[c] * (0.5 + rng.Float64())
		}
		for i := range a.machines {
			given := a.holds(i, &first, worths, math.Inf(1))
			sharp := a.vector(a.sharpen(i, first.values, worths))
			held := a.holds(i, &sharp, worths, math.Inf(1))
			require.LessOrEqual(t, held, given)
			if held < given*0.999 {
				gained++
			}
			for range 20 {
				values := make([]float64, len(a.dims))
				for e := range values {
					values[e] = first.values[e] * 2 * rng.Float64()
				}
				other := a.vector(values)
				require.GreaterOrEqual(t, a.holds(i, &other, worths, math.Inf(1)), held*(1-1e-9))
			}
		}
	}
	assert.Greater(t, gained, 60)
}

// Nobody is worth anything: no values are sharper than none.
func TestSharpenNothing(t *testing.T) {
	m := largeMarket(rand.New(rand.NewPCG(53, 2)), 10, 2)
	a := newAssignment(&m)
	none := make([]float64, len(a.dims))
	assert.Equal(t, none, a.sharpen(0, none, make([]float64, len(a.demand))))
}

// zonalMarket is many classes of one pod each, some of which may use one of three zones
// only, with machines of a few shapes in each zone at prices of its own.
func zonalMarket(rng *rand.Rand, classes int) Market {
	m := Market{Dims: 2}
	users := [3]model.Bits{}
	for z := range users {
		users[z] = model.NewBits(classes)
	}
	for c := range classes {
		cpu := int64(50 * math.Exp(3*rng.Float64()))
		m.Classes = append(m.Classes, Class{Size: []int64{cpu, int64(float64(cpu) * (0.5 + 6*rng.Float64()))}, Count: 1})
		bound := rng.IntN(24)
		for z := range users {
			if bound == z || bound > 2 {
				users[z].Set(c)
			}
		}
	}
	for z := range users {
		for cores := int64(2); cores <= 128; cores *= 2 {
			for _, per := range []int64{2, 4, 8} {
				price := float64(cores) * (30 + 2*float64(per)) * (0.5 + rng.Float64())
				m.Options = append(m.Options, Choice{Cap: []int64{960 * cores, 900 * cores * per}, Price: int64(1e6 * price), Users: users[z]})
			}
		}
	}
	return m
}

// With the least work that a solver spends hardly less is proven than with any amount of it.
func TestManyClassesInZones(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 3))
	for range 3 {
		m := zonalMarket(rng, 400)
		start := Resource(m.input()).Values
		usual, most := Assignment(m, start, 14_000_000, nil), Assignment(m, start, 3_000_000_000, nil)
		proven(t, m, usual, math.MaxInt64)
		assert.Greater(t, float64(usual.Bound), 0.999*float64(most.Bound))
	}
}
