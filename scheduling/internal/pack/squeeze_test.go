package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// tight is machines of two rows and pods that just about fill them.
func tight(r *rand.Rand) (p *model.Problem, fleet []model.Node) {
	p = &model.Problem{Dims: 2, Groups: 2, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	for row := range 2 {
		admits := model.NewBits(2)
		admits.Set(0)
		if row == 1 {
			admits.Set(1)
		}
		for _, per := range []int64{2, 4, 8} {
			p.Options = append(p.Options, model.Option{
				Room: []int64{4_000, 4_000 * per}, Cost: 1, Price: 1, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(2),
			})
		}
	}
	for range 3 + r.IntN(4) {
		o := r.IntN(len(p.Options))
		option := &p.Options[o]
		fleet = append(fleet, model.Node{Option: model.OptionID(o), N: 1})
		left := []int64{option.Room[0], option.Room[1]}
		for left[0] > 200 {
			cpu := min(left[0]-100, 100+r.Int64N(500))
			memory := min(left[1], cpu*option.Room[1]/option.Room[0]/2+r.Int64N(cpu*option.Room[1]/option.Room[0]))
			group := int32(0)
			if option.Admits.Has(1) && r.IntN(3) == 0 {
				group = 1
			}
			p.Classes = append(p.Classes, model.Class{Group: group, Count: 1, Request: []int64{cpu, memory}})
			left[0], left[1] = left[0]-cpu, left[1]-memory
		}
	}
	return p, fleet
}

// Machines that were filled with pods hold them again, however these are dealt out first.
func TestSqueeze(t *testing.T) {
	held, all := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		p, fleet := tight(r)
		s := newSearch(p, Params{})
		q := s.newSqueeze(s.markets[0], cloneNodes(fleet), everyClass(p), counts(p), r)
		for _, c := range everyClass(p) {
			q.add(c)
		}
		require.Empty(t, q.out, "seed %d", seed)
		for _, margin := range margins() {
			q.spread(margin, squeezeSteps)
		}
		assert.Equal(t, q.excess() < 1e-9, q.fits(), "seed %d", seed)
		all++
		if q.fits() {
			held++
			require.NoError(t, check(p, model.Solution{Nodes: q.used(), Unplaced: make([]int64, len(p.Classes))}), "seed %d", seed)
			continue
		}
		remaining := make([]int64, len(p.Classes))
		left := q.unload(remaining)
		assert.NotEmpty(t, left, "seed %d", seed)
		require.NoError(t, check(p, model.Solution{Nodes: q.used(), Unplaced: remaining}), "seed %d", seed)
	}
	assert.Greater(t, held*100, all*60, "of %d", all)
}

func TestSqueezeKnowsWhatNoMachineHolds(t *testing.T) {
	p, fleet := tight(rand.New(rand.NewPCG(1, 4)))
	p.Classes = append(p.Classes, model.Class{Count: 1, Request: []int64{5_000, 1}})
	s := newSearch(p, Params{})
	q := s.newSqueeze(s.markets[0], fleet, everyClass(p), counts(p), rand.New(rand.NewPCG(1, 1)))
	last := model.ClassID(len(p.Classes) - 1)
	q.add(last)
	assert.Equal(t, []model.ClassID{last}, q.out)
	assert.Greater(t, q.burden(last, 1), q.burden(0, 1))
	remaining := make([]int64, len(p.Classes))
	assert.Equal(t, []model.ClassID{last}, q.unload(remaining))
	assert.Equal(t, int64(1), remaining[last])
}
