package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Whatever pods an option holds, one that is left can hold in its place for no more.
func TestOptionsThatAreLeft(t *testing.T) {
	fewer := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 23))
		p := beside(r)
		for range 20 {
			o := p.Options[r.IntN(len(p.Options))]
			o.Room = []int64{o.Room[0] * (1 + r.Int64N(3)), o.Room[1] * (1 + r.Int64N(3))}
			o.Cost += r.Int64N(100)
			p.Options = append(p.Options, o)
		}
		s := slimmed(p)
		if s == nil {
			continue
		}
		fewer++
		used := usedRooms(p)
		for o := range p.Options {
			for range 20 {
				load := fill(r, p, p.Options[o].Room)
				require.True(t, model.Fits(used[o], load), "seed %d: %v of %v", seed, load, p.Options[o].Room)
				found := false
				for k := range s.Options {
					found = found || s.Options[k].Cost <= p.Options[o].Cost && model.Fits(s.Options[k].Room, load)
				}
				require.True(t, found, "seed %d", seed)
			}
		}
		right(t, p, searchAmong(p, Params{}).Solution)
	}
	assert.Greater(t, fewer, 200)
}

// fill is what some pods ask for that are within a room.
func fill(r *rand.Rand, p *model.Problem, room []int64) []int64 {
	load := make([]int64, p.Dims)
	for _, c := range r.Perm(len(p.Classes)) {
		for range r.Int64N(p.Classes[c].Count + 1) {
			next := []model.Item{{Class: model.ClassID(c), N: 1}}
			if p.Load(load, next); !model.Fits(room, load) {
				next[0].N = -1
				p.Load(load, next)
			}
		}
	}
	return load
}

// A machine has no use for memory beside the CPU that it has, nor for what nobody asks for.
func TestRoomOfUse(t *testing.T) {
	all := model.NewBits(1)
	all.Set(0)
	p := &model.Problem{Dims: 3, Groups: 1, Classes: []model.Class{
		{Request: []int64{2, 4, 1}, Count: 10}, {Request: []int64{1, 3, 1}, Count: 10},
	}}
	for _, tc := range []struct {
		room, want []int64
	}{
		{[]int64{10, 100, 50}, []int64{10, 31, 11}},
		{[]int64{10, 6, 50}, []int64{4, 6, 3}},
		{[]int64{90, 900, 90}, []int64{30, 70, 20}},
	} {
		p.Options = []model.Option{{Room: tc.room, Admits: all}}
		assert.Equal(t, tc.want, usedRooms(p)[0])
	}
}
