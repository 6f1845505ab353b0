package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRoomsGiveBackWhatWasTaken takes and gives back at random, and compares what is
// free with what the books say is used.
func TestRoomsGiveBackWhatWasTaken(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for round := range 800 {
		p := randomProblem(rng, shape{pods: 9, classes: 4, places: 3, rules: 1, bins: 5})
		table := compile(p)
		r := newRooms(table)
		placed := make([]int64, len(table.cells))
		for range 40 {
			if len(table.cells) == 0 {
				break
			}
			i := int32(rng.IntN(len(table.cells)))
			class := table.cells[i].class
			from, to := table.first[class], table.first[class+1]
			switch rng.IntN(6) {
			case 0:
				if n := min(placed[i], int64(1+rng.IntN(2))); n > 0 {
					r.drop(i, n, placed[i])
					placed[i] -= n
				}
			case 1:
				used := append([]use(nil), r.used[class]...)
				r.clear(class)
				if rng.IntN(2) == 0 {
					r.restore(class, used, placed[from:to])
				} else {
					clear(placed[from:to])
				}
			default:
				if n, _ := r.find(i); n > 0 {
					n = min(n, int64(1+rng.IntN(3)))
					r.take(i, n, r.running(i))
					placed[i] += n
				}
			}
			requireBooks(t, r, placed, round)
		}
	}
}

func requireBooks(t *testing.T, r *rooms, placed []int64, round int) {
	t.Helper()
	free := make([]int64, len(r.t.p.Bins))
	for b := range free {
		free[b] = r.t.p.Bins[b][0]
	}
	onRunning := make([]int64, len(placed))
	for c := range r.used {
		for _, u := range r.used[c] {
			free[u.bin] -= u.n * r.t.p.Classes[c].Request[0]
			onRunning[u.cell] += u.n
		}
	}
	for b := range free {
		require.Equal(t, free[b], r.free(int32(b))[0], "round %d: machine %d", round, b)
		require.GreaterOrEqual(t, free[b], int64(0), "round %d: machine %d", round, b)
	}
	for i := range placed {
		require.LessOrEqual(t, onRunning[i], placed[i], "round %d: cell %d", round, i)
		if limit := r.t.cells[i].limit(r.t); limit != many {
			require.Equal(t, limit-placed[i], r.left[i], "round %d: cell %d", round, i)
		}
	}
}

func TestRoomsFindTheTightestMachine(t *testing.T) {
	p := &Problem{
		Dims: 2, Bins: [][]int64{{8, 8}, {1, 9}, {4, 9}, {9, 3}},
		Classes: []Class{{
			Count: 9, Request: []int64{2, 0},
			Sites: []Site{{Cost: 7, Limit: 9, Bins: []int32{0, 1, 2, 3}}},
		}},
	}
	r := newRooms(compile(p))
	type found struct{ n, cost int64 }
	var got []found
	for {
		n, cost := r.find(0)
		if n == 0 {
			break
		}
		got = append(got, found{n, cost})
		r.take(0, 1, r.running(0))
	}
	assert.Equal(t, []found{{2, 0}, {1, 0}, {4, 0}, {3, 0}, {2, 0}, {1, 0}, {3, 0}, {2, 0}, {1, 0}}, got)
	assert.Equal(t, [][]int64{{0, 8}, {1, 9}, {0, 9}, {3, 3}}, [][]int64{r.free(0), r.free(1), r.free(2), r.free(3)}, "the limit comes before the last machine is full")

	free, all := newRooms(compile(p)).capacity(0)
	assert.Equal(t, []int64{9, 9}, []int64{free, all}, "limits bound what machines hold")
}
