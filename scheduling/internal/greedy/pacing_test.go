package greedy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// The price cap of a machine follows from the price that is left for each machine that pods under per-node limits need,
// and seeds are pods of the largest per-node limits.
func TestMeasure(t *testing.T) {
	admits := model.NewBits(1)
	admits.Set(0)
	class := func(count, perNode int64, crowds ...model.Membership) model.Class {
		return model.Class{Request: []int64{1}, Count: count, PerNode: perNode, PerNodeLimits: crowds}
	}
	for _, tt := range []struct {
		name          string
		classes       []model.Class
		perNodeLimits []model.PerNodeLimit
		slots         float64
		seeds         []model.ClassID
	}{
		{"nobody minds", []model.Class{class(50, 0), class(50, 0)}, nil, 0, nil},
		{"two to a machine", []model.Class{class(80, 0), class(20, 2)}, nil, 10, []model.ClassID{1}},
		{"one crowd of two classes", []model.Class{
			class(60, 0, model.Membership{Limit: 0, Weight: 1}),
			class(20, 0, model.Membership{Limit: 0, Weight: 1, Holds: true}),
			class(10, 0, model.Membership{Limit: 0, Weight: 2, Holds: true}),
			class(10, 0, model.Membership{Limit: 0, Holds: true}),
		}, []model.PerNodeLimit{{Max: 4}}, 10, []model.ClassID{1, 2}},
		{"the smaller crowd is no trouble", []model.Class{
			class(20, 0, model.Membership{Limit: 0, Weight: 1, Holds: true}),
			class(10, 0, model.Membership{Limit: 1, Weight: 1, Holds: true}),
			class(70, 0),
		}, []model.PerNodeLimit{{Max: 1}, {Max: 1}}, 20, []model.ClassID{0}},
		{"few machines are enough", []model.Class{class(99, 0), class(1, 1)}, nil, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &model.Problem{Dims: 1, Groups: 1, Classes: tt.classes, PerNodeLimits: tt.perNodeLimits, Passes: []model.Pass{{}}}
			for _, size := range []int64{4, 100} {
				p.Options = append(p.Options, model.Option{Room: []int64{size}, Cost: size, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(1)})
			}
			f := NewFiller(p)
			f.pace.slack = 1
			m := NewMarket(p, p.Passes[0])
			remaining, values := make([]int64, len(p.Classes)), make([]float64, len(p.Classes))
			for c := range p.Classes {
				remaining[c], values[c] = p.Classes[c].Count, 1
			}
			f.Index(m, m.All, f.Placeable(remaining), values)
			f.setPace(remaining, values)
			assert.InDelta(t, tt.slots, f.pace.slots[0], 1e-9)
			var seeds []model.ClassID
			for _, x := range f.pace.seeds[0] {
				seeds = append(seeds, x.classes...)
			}
			assert.Equal(t, tt.seeds, seeds)
			if tt.seeds == nil {
				assert.True(t, math.IsInf(f.pace.maxCost[0], 1), "no bound")
			} else {
				assert.InDelta(t, paceSlack*100/tt.slots, f.pace.maxCost[0], 1e-9)
			}
			f.Paced = false
			f.setPace(remaining, values)
			assert.Empty(t, f.pace.seeds[0])
		})
	}
}
