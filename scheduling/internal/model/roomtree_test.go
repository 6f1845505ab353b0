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

// seat is a bin with the share of it that stays free.
type seat struct {
	left float64
	bin  int32
}

// fullest are the best of some seats, so many of them.
func fullest(seats []seat, n int) []seat {
	slices.SortFunc(seats, func(a, b seat) int { return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.bin, b.bin)) })
	return seats[:min(len(seats), n)]
}

// The fullest bins are among the visited ones, each once, while bins are added and removed; of many bins few are
// visited.
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
			var got, want []seat
			x.Nearly(request, func(i int32, left float64) float64 {
				require.False(t, seen[i])
				require.True(t, Fits(rooms[i], request))
				seen[i] = true
				if got = fullest(append(got, seat{left, i}), n); len(got) < n {
					return math.Inf(1)
				}
				return got[n-1].left
			})
			for i, room := range rooms {
				if !Fits(room, request) {
					continue
				}
				left := 0.0
				for d, q := range request {
					if q > 0 {
						left = max(left, float64(room[d]-q)/float64(room[d]))
					}
				}
				want = append(want, seat{left, int32(i)})
				all++
			}
			want = fullest(want, n)
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
