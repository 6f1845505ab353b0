package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rooms that are updated are equal to rooms that are made anew.
func TestRoomsRenewed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		draw := func() []int64 { return []int64{r.Int64N(9), r.Int64N(9), r.Int64N(2)} }
		var old, now [][]int64
		for range r.IntN(40) {
			old = append(old, draw())
		}
		var number []int32
		for _, room := range old {
			for r.IntN(6) == 0 {
				now = append(now, draw())
			}
			if r.IntN(5) == 0 {
				number = append(number, -1)
				continue
			}
			number = append(number, int32(len(now)))
			now = append(now, room)
		}
		if r.IntN(2) == 0 {
			now = append(now, draw())
		}
		want, got := NewRooms(3, now), NewRooms(3, old).Renewed(number, now)
		require.Equal(t, want.Of, got.Of, "seed %d", seed)
		require.Equal(t, want.Order, got.Order, "seed %d", seed)
	}
}

// The scarcest resource leaves no bin out that fits, and no more than any other.
func TestRoomsScarcest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 300 {
		var rooms [][]int64
		for range 1 + r.IntN(30) {
			rooms = append(rooms, []int64{r.Int64N(9), r.Int64N(9)})
		}
		x, request := NewRooms(2, rooms), []int64{r.Int64N(10), r.Int64N(10)}
		fit := 0
		for i, room := range rooms {
			require.Equal(t, Fits(room, request), x.Fit(int32(i), request))
			if Fits(room, request) {
				fit++
			}
		}
		require.Len(t, slices.Collect(x.Fitting(request)), fit)
		d, from := x.scarcest(request)
		for _, i := range x.Order[d][from:] {
			if x.Fit(i, request) {
				fit--
			}
		}
		require.Zero(t, fit)
		for d, q := range request {
			require.GreaterOrEqual(t, from, x.Above(d, q))
		}
	}
}
