package modeltest

import (
	"math/rand/v2"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Random draws a small problem that mixes everything the engine knows.
func Random(seed uint64) *model.Problem {
	r := rand.New(rand.NewPCG(seed, 99)) //nolint:gosec // reproducible on purpose
	p := &model.Problem{Dims: 1 + r.IntN(3), Groups: 1 + r.IntN(4), BestEffort: r.IntN(2) == 0}
	vector := func(most int64) []int64 {
		v := make([]int64, p.Dims)
		for d := range v {
			v[d] = r.Int64N(most + 1)
		}
		return v
	}
	row := func() model.Bits {
		b := model.NewBits(p.Groups)
		for g := range p.Groups {
			if r.IntN(3) > 0 {
				b.Set(g)
			}
		}
		return b
	}
	for range 1 + r.IntN(5) {
		c := model.Class{Group: int32(r.IntN(p.Groups)), Request: vector(6), Count: 1 + r.Int64N(6), Priority: int32(r.IntN(3))}
		c.Request[0] = max(c.Request[0], 1)
		if r.IntN(4) == 0 {
			c.PerNode = 1 + r.Int64N(2)
		}
		p.Classes = append(p.Classes, c)
	}
	if n := len(p.Classes); n > 1 && r.IntN(3) == 0 {
		p.Classes[0].Conflicts = []model.ClassID{1}
		p.Classes[1].Conflicts = []model.ClassID{0}
	}
	weights, soft := int32(1+r.IntN(2)), r.IntN(2) == 0
	for w := range weights {
		p.Passes = append(p.Passes, model.Pass{Weight: w})
	}
	for w := range weights {
		p.Passes = append(p.Passes, model.Pass{Weight: w, Soft: true})
	}
	pools := 1 + r.IntN(3)
	for range pools {
		pool := model.Pool{}
		if r.IntN(2) == 0 {
			pool.Limits = []int64{r.Int64N(40) - 2, r.Int64N(8)}
		}
		p.Pools = append(p.Pools, pool)
	}
	if r.IntN(2) == 0 {
		p.Supply = []int64{2 * r.Int64N(3)}
	}
	for range 1 + r.IntN(6) {
		o := model.Option{Pool: model.PoolID(r.IntN(pools)), Room: vector(14), Cost: 1 + r.Int64N(20), Supply: model.NoSupply, Admits: row(), Floor: -1}
		o.Soft = row()
		o.Soft.And(o.Admits)
		if !soft {
			clear(o.Soft)
		}
		o.Price = o.Cost
		o.Weight = int32(o.Pool) % weights
		if len(p.Pools[o.Pool].Limits) > 0 {
			o.Use = []int64{o.Room[0], 1}
		}
		if len(p.Supply) > 0 && r.IntN(3) == 0 {
			o.Supply, o.SupplyUse, o.Cost = 0, 1+int64(len(p.Options)%2), 0
		}
		p.Options = append(p.Options, o)
	}
	if r.IntN(3) == 0 {
		floor := model.Floor{Keys: []model.FloorKey{{Min: 2, Values: 6}}}
		for i, o := range p.Options {
			floor.Members = append(floor.Members, model.FloorMember{Room: o.Room, Admits: o.Admits, Values: []int32{int32(i % 6)}})
		}
		p.Floors = append(p.Floors, floor)
		for i := range p.Options {
			if p.Options[i].Pool == 0 {
				p.Options[i].Floor = 0
			}
		}
	}
	for range r.IntN(3) {
		b := model.Bin{Room: vector(10), Admits: row(), Soft: model.NewBits(p.Groups)}
		p.Bins = append(p.Bins, b)
	}
	if r.IntN(2) == 0 {
		AddPerNodeLimits(p, r)
	}
	return p
}

// AddPerNodeLimits draws per-node limits of a problem's classes, some of which run on its bins already.
func AddPerNodeLimits(p *model.Problem, r *rand.Rand) {
	for k := range int32(1 + r.IntN(3)) {
		p.PerNodeLimits = append(p.PerNodeLimits, model.PerNodeLimit{Max: r.Int64N(6)})
		for c := range p.Classes {
			if r.IntN(2) == 0 {
				p.Classes[c].PerNodeLimits = append(p.Classes[c].PerNodeLimits, model.Membership{Limit: k, Weight: r.Int64N(4), Holds: r.IntN(2) == 0})
			}
		}
		for i := range p.Bins {
			if r.IntN(2) == 0 {
				p.Bins[i].Present = append(p.Bins[i].Present, model.Presence{Limit: k, N: r.Int64N(4)})
			}
		}
	}
}

// Cluster draws many bins of uneven room, and few pods.
func Cluster(r *rand.Rand, bins int) *model.Problem {
	p := &model.Problem{Dims: 2, Groups: 3, Passes: []model.Pass{{}}, Pools: []model.Pool{{}}}
	for range 1 + r.IntN(5) {
		p.Classes = append(p.Classes, model.Class{
			Group: int32(r.IntN(3)), Request: []int64{1 + r.Int64N(40), 1 + r.Int64N(40)}, Count: 1 + r.Int64N(8), Priority: int32(r.IntN(2)),
		})
	}
	all := model.NewBits(3)
	for range bins {
		b := model.Bin{Room: []int64{r.Int64N(50), r.Int64N(50)}, Admits: model.NewBits(3), Soft: model.NewBits(3)}
		for g := range 3 {
			all.Set(g)
			if r.IntN(4) > 0 {
				b.Admits.Set(g)
				if r.IntN(5) == 0 {
					b.Soft.Set(g)
				}
			}
		}
		p.Bins = append(p.Bins, b)
	}
	if r.IntN(3) > 0 {
		p.Options = []model.Option{{Room: []int64{100, 100}, Cost: 100, Price: 100, Supply: model.NoSupply, Floor: -1, Admits: all, Soft: model.NewBits(3)}}
	}
	return p
}
