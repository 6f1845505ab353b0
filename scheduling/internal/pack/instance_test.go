package pack

import (
	"math/rand/v2"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const gib = int64(1) << 30

// families is a small market: three shapes in nine sizes, at prices like a cloud's,
// with a little kept back on each machine.
func families() []model.Option {
	var out []model.Option
	admits := model.NewBits(1)
	admits.Set(0)
	none := model.NewBits(1)
	for _, f := range []struct{ perCPU, price int64 }{{2, 42_500_000}, {4, 48_000_000}, {8, 63_000_000}} {
		for _, cpus := range []int64{1, 2, 4, 8, 16, 32, 48, 64, 96} {
			out = append(out, model.Option{
				Room:   []int64{cpus*1000 - 70 - cpus*3, cpus*f.perCPU*gib*92/100 - gib/2, 8 + 7*cpus},
				Cost:   cpus * f.price,
				Price:  cpus * f.price,
				Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: none,
			})
		}
	}
	return out
}

// thirtySizes is n pods of thirty sizes drawn evenly.
func thirtySizes(n int) *model.Problem {
	random := rand.New(rand.NewPCG(1, 2))
	p := &model.Problem{Dims: 3, Groups: 1, Options: families(), Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	for _, cpu := range []int64{100, 250, 500, 1000, 1500} {
		for _, mib := range []int64{100, 256, 512, 1024, 2048, 4096} {
			p.Classes = append(p.Classes, model.Class{Request: []int64{cpu, mib << 20, 1}})
		}
	}
	for range n {
		p.Classes[random.IntN(len(p.Classes))].Count++
	}
	return p
}

// logNormal is n pods in k classes of requests spread over three orders of magnitude.
func logNormal(n, k int) *model.Problem {
	random := rand.New(rand.NewPCG(3, 4))
	p := &model.Problem{Dims: 3, Groups: 1, Options: families(), Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	for range k {
		cpu := int64(50 * pow(2, random.NormFloat64()*1.3+2))
		mem := int64(float64(cpu) * pow(2, random.NormFloat64()+1) * (1 << 20))
		p.Classes = append(p.Classes, model.Class{Request: []int64{min(cpu, 60_000), min(mem, 100*gib), 1}, Count: 1})
	}
	for range n - k {
		p.Classes[random.IntN(k)].Count++
	}
	return p
}

func pow(b, e float64) float64 {
	r := 1.0
	for e >= 1 {
		r *= b
		e--
	}
	for e < 0 {
		r /= b
		e++
	}
	return r * (1 + e*(b-1))
}

// resourceBound is the proven bound on a problem whose pods are all placed.
func resourceBound(p *model.Problem) int64 {
	in := covering.Input{Dims: p.Dims}
	for _, c := range p.Classes {
		in.Items = append(in.Items, covering.Item{Size: c.Request, Count: c.Count})
	}
	for _, o := range p.Options {
		in.Options = append(in.Options, covering.Option{Cap: o.Room, Price: o.Price})
	}
	return covering.Resource(in.Tighten()).Bound
}
