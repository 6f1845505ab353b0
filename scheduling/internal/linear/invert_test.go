package linear

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A matrix times its inverse is one.
func TestInvert(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 6))
	for range 300 {
		n := 1 + rng.IntN(12)
		a, b := make([][]float64, n), make([][]float64, n)
		for i := range a {
			for range n {
				a[i] = append(a[i], float64(rng.IntN(3))*rng.NormFloat64())
			}
			a[i][(i+3)%n] += 10
			b[i] = slices.Clone(a[i])
		}
		inverse, ok := Invert(b, 1e-12)
		require.True(t, ok)
		for i := range a {
			for j := range a {
				sum := 0.0
				for d, v := range a[i] {
					sum += v * inverse[d][j]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				require.InDelta(t, want, sum, 1e-9)
			}
		}
	}
}

func TestInvertRefuses(t *testing.T) {
	for name, m := range map[string][][]float64{
		"zero":            {{0}},
		"a row twice":     {{1, 2}, {1, 2}},
		"a column of 0":   {{1, 0, 3}, {4, 0, 6}, {7, 0, 9}},
		"less than least": {{1, 0}, {0, 1e-13}},
		"no number":       {{math.NaN()}},
	} {
		_, ok := Invert(m, 1e-12)
		assert.False(t, ok, name)
	}
	_, ok := Invert(nil, 1e-12)
	assert.True(t, ok, "nothing is its own inverse")
	inverse, ok := Invert([][]float64{{0, 2}, {4, 0}}, 1e-12)
	assert.True(t, ok)
	assert.Equal(t, [][]float64{{0, 0.25}, {0.5, 0}}, inverse)
}
