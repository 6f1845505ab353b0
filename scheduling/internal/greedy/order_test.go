package greedy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The heap of offers returns the best first, and of equal ones the earlier first, in whatever order they were added and
// scores fall meanwhile.
func TestOffersComeBestFirst(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var h offers
		for _, at := range r.Perm(1 + r.IntN(20)) {
			h = append(h, pricedOption{at: at, score: float64(r.IntN(5))})
		}
		h.order()
		for len(h) > 0 {
			best := slices.MinFunc(h, func(a, b pricedOption) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at, b.at)) })
			require.Equal(t, best, h[0], "seed %d", seed)
			second := 0.0
			for _, x := range h[1:] {
				second = max(second, x.score)
			}
			require.InDelta(t, second, h.second(), 0, "seed %d", seed)
			if r.IntN(2) == 0 && h[0].score > 0 {
				h[0].score--
			} else {
				h[0] = h[len(h)-1]
				h = h[:len(h)-1]
			}
			h.sink(0)
		}
	}
}

// Seats come in order however far one looks.
func TestSeatsComeInOrder(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		var want []binCandidate
		for i := range r.IntN(30) {
			want = append(want, binCandidate{bin: i, soft: r.IntN(3) == 0, left: float64(r.IntN(4))})
		}
		s := binCandidates{heap: slices.Clone(want)}
		s.heap.order()
		slices.SortFunc(want, func(a, b binCandidate) int {
			if a.soft != b.soft {
				if b.soft {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.bin, b.bin))
		})
		for range 40 {
			i := r.IntN(len(want) + 2)
			got, ok := s.at(i)
			require.Equal(t, i < len(want), ok, "seed %d", seed)
			if ok {
				require.Equal(t, want[i], got, "seed %d", seed)
			}
		}
	}
}
