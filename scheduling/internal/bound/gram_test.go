package bound

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	var g gram
	for range 50 {
		n := 1 + rng.IntN(9)
		g.begin(n)
		want := make([][]float64, n)
		for i := range want {
			want[i] = make([]float64, i+1)
		}
		for range rng.IntN(15) {
			v, scale := g.next(), rng.Float64()-0.5
			require.Len(t, v, n)
			for i := range v {
				v[i] = float64(rng.IntN(3)) * rng.Float64()
			}
			for i, row := range want {
				for j := range row {
					row[j] += scale * v[i] * v[j]
				}
			}
			g.add(scale)
		}
		g.flush()
		for i, row := range want {
			require.InDeltaSlice(t, row, g.row(i), 1e-12)
		}
	}
}

// Classes of the same machines follow each other, and each class is there once.
func TestAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 2))
	for range 50 {
		p := randomInterior(rng)
		seen, runs := map[int]bool{}, map[string]int{}
		last := ""
		for _, c := range p.order {
			seen[c] = true
			key := ""
			for _, q := range p.pairsOf(c) {
				key += string(rune('a' + q.machine))
			}
			if key != last {
				runs[key]++
			}
			last = key
		}
		assert.Len(t, seen, p.classes)
		for key, n := range runs {
			assert.Equal(t, 1, n, key)
		}
	}
}
