package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullest are the bins that a request leaves the least free of, so many of them, as they are
// found among those that visit is called for.
func fullest(rooms [][]int64, request []int64, n int, look func(most func() float64, visit func(int32))) []int32 {
	type seat struct {
		left float64
		bin  int32
	}
	var best []seat
	look(func() float64 {
		if len(best) < n {
			return math.Inf(1)
		}
		return best[n-1].left
	}, func(i int32) {
		left := 0.0
		for d, q := range request {
			if q > 0 {
				left = max(left, float64(rooms[i][d]-q)/float64(rooms[i][d]))
			}
		}
		best = append(best, seat{left, i})
		slices.SortFunc(best, func(a, b seat) int { return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.bin, b.bin)) })
		best = best[:min(len(best), n)]
	})
	var out []int32
	for _, x := range best {
		out = append(out, x.bin)
	}
	return out
}

// The fullest bins are among those that are visited, each once, while bins come and go; and
// of many bins few are visited.
func TestNearlyVisitsTheFullest(t *testing.T) {
	visited, all := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		most := []int64{3, 40, 1 << 40}[r.IntN(3)]
		draw := func() []int64 { return []int64{r.Int64N(most), r.Int64N(1_000), r.Int64N(1 + r.Int64N(5))} }
		var rooms [][]int64
		for range r.IntN(600) {
			rooms = append(rooms, draw())
		}
		x := NewRooms(3, rooms)
		for range 6 {
			request := []int64{r.Int64N(1 + most/2), r.Int64N(600), r.Int64N(2)}
			n := 1 + r.IntN(12)
			seen := map[int32]bool{}
			got := fullest(rooms, request, n, func(most func() float64, visit func(int32)) {
				x.Nearly(request, most, func(i int32) {
					require.False(t, seen[i])
					require.True(t, Fits(rooms[i], request))
					seen[i] = true
					visit(i)
				})
			})
			want := fullest(rooms, request, n, func(_ func() float64, visit func(int32)) {
				for i, room := range rooms {
					if Fits(room, request) {
						visit(int32(i))
						all++
					}
				}
			})
			require.Equal(t, want, got, "seed %d", seed)
			visited += len(seen)

			var now [][]int64
			var number []int32
			for _, room := range rooms {
				if r.IntN(30) == 0 {
					now = append(now, draw())
				}
				if r.IntN(25) == 0 {
					number = append(number, -1)
					continue
				}
				number = append(number, int32(len(now)))
				now = append(now, room)
			}
			x, rooms = x.Renewed(number, now), now
		}
	}
	assert.Less(t, visited, all/2)
}
