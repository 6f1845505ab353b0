package greedy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// Every pod finds a bin of its own among the useful ones, if there is one at all.
func TestUsefulBinsHoldEverybody(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 10))
		p := modeltest.Cluster(r, 65+r.IntN(200))
		kept := Useful(p)
		for c := range p.Classes {
			all, left := 0, 0
			for i := range p.Bins {
				if p.BinTakes(i, model.ClassID(c)) {
					all++
				}
			}
			for _, i := range kept {
				if p.BinTakes(i, model.ClassID(c)) {
					left++
				}
			}
			require.GreaterOrEqual(t, left, min(all, int(p.Classes[c].Count)), "seed %d", seed)
		}
	}
}

// Looked for in the order of their room, the useful bins are the same.
func TestUsefulBinsInOrder(t *testing.T) {
	fewer := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := modeltest.Cluster(r, 65+r.IntN(400))
		if r.IntN(3) == 0 {
			p.Classes[0].Request[r.IntN(2)] = 0
		}
		if r.IntN(3) == 0 { // pods keep each other off some bins
			p.PerNodeLimits = []model.PerNodeLimit{{Max: 1}}
			p.Classes[0].PerNodeLimits = []model.Membership{{Weight: 1, Holds: true}}
			for i := range p.Bins {
				if r.IntN(3) == 0 {
					p.Bins[i].Present = []model.Presence{{N: 1}}
				}
			}
		}
		want := Useful(p)
		rooms := make([][]int64, len(p.Bins))
		for i := range p.Bins {
			rooms[i] = p.Bins[i].Room
		}
		p.Rooms = model.NewRooms(p.Dims, rooms)
		require.Equal(t, want, Useful(p), "seed %d", seed)
		for g := range p.Groups {
			p.Open = append(p.Open, model.NewBits(len(p.Bins)))
			for i := range p.Bins {
				if p.Bins[i].Admits.Has(g) {
					p.Open[g].Set(i)
				}
			}
		}
		require.Equal(t, want, Useful(p), "seed %d", seed)
		if len(want) < len(p.Bins) {
			fewer++
		}
	}
	assert.Greater(t, fewer, 400)
}

// fullest returns the n bins of p that pods with a request fill best, the best first: among bins that take the pods at
// all, and with bins that they prefer to avoid last. It compares rooms alone.
func fullest(p *model.Problem, request []int64, n int64, takes func(bin int) (takes, soft bool)) []int32 {
	y := binSearch{p: p, rooms: p.Rooms}
	if y.rooms == nil {
		y.open = model.Every[int](len(p.Bins))
	}
	y.pick(request, n, takes)
	slices.SortFunc(y.best, func(a, b reversed) int { return first(b.before(a), a.before(b)) })
	out := make([]int32, len(y.best))
	for i := range y.best {
		out[i] = int32(y.best[i].candidate.bin)
	}
	return out
}

// The fullest bins are the same whether or not they are known in order.
func TestFullest(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 13))
		p := modeltest.Cluster(r, 1+r.IntN(300))
		class := &p.Classes[0]
		takes := func(i int) (takes, soft bool) {
			return p.Bins[i].Admits.Has(int(class.Group)), p.Bins[i].Soft.Has(int(class.Group))
		}
		n := 1 + r.Int64N(60)
		var all []binCandidate
		for i := range p.Bins {
			if takes, soft := takes(i); takes && model.Fits(p.Bins[i].Room, class.Request) {
				all = append(all, binCandidate{bin: i, soft: soft, left: spare(p.Bins[i].Room, p.Bins[i].Room, class.Request)})
			}
		}
		slices.SortFunc(all, func(a, b binCandidate) int { return first(a.before(b), b.before(a)) })
		want := []int32{}
		for _, x := range all[:min(n, int64(len(all)))] {
			want = append(want, int32(x.bin))
		}
		require.Equal(t, want, fullest(p, class.Request, n, takes), "seed %d", seed)
		rooms := make([][]int64, len(p.Bins))
		for i := range rooms {
			rooms[i] = p.Bins[i].Room
		}
		p.Rooms = model.NewRooms(p.Dims, rooms)
		require.Equal(t, want, fullest(p, class.Request, n, takes), "seed %d", seed)
	}
}
