package covering

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// market is a seeded catalog: families of machines whose sizes double, in zones with their own prices, less the
// resources that the kubelet and DaemonSets reserve.
func market(rng *rand.Rand, options, dims int) Input {
	in := Input{Dims: dims}
	for len(in.Options) < options {
		memPerCPU := []int64{2, 4, 8, 16}[rng.IntN(4)] << 30
		perCPU := 3e7 + rng.Float64()*3e7 + float64(memPerCPU>>30)*4e6
		disk := int64(20+rng.IntN(80)) << 30
		for size := int64(1); size <= 128 && len(in.Options) < options; size *= 2 {
			discount := 0.25 + 0.75*rng.Float64()
			caps := make([]int64, dims)
			full := []int64{size*1000 - 60 - size*3, size*memPerCPU - 300<<20 - size*11<<20, min(110, 8+size*8), disk, 0, 0}
			for d := range dims {
				if d < len(full) {
					caps[d] = full[d]
				}
			}
			price := perCPU * float64(size) * discount
			if g := rng.IntN(40); dims > 4 && g < dims-4 {
				caps[4+g] = max(1, size/8)
				price += 4e8 * float64(caps[4+g])
			}
			in.Options = append(in.Options, Option{Cap: caps, Price: int64(price)})
		}
	}
	for range 1000 {
		size := make([]int64, dims)
		full := []int64{int64(1+rng.IntN(40)) * 100, int64(1+rng.IntN(64)) << 27, 1, int64(rng.IntN(3)) << 30}
		copy(size, full)
		for d := 4; d < dims; d++ {
			if rng.IntN(60) == 0 {
				size[d] = 1
			}
		}
		in.Items = append(in.Items, Item{Size: size, Count: int64(1 + rng.IntN(200))})
	}
	return in
}

func BenchmarkResource(b *testing.B) {
	for _, dims := range []int{3, 6, 12} {
		in := market(rand.New(rand.NewPCG(1, uint64(dims))), 7000, dims)
		b.Run(fmt.Sprintf("options=7000/dims=%d", dims), func(b *testing.B) {
			b.ReportAllocs()
			var res Result
			for b.Loop() {
				res = Resource(in)
			}
			b.ReportMetric(float64(res.Bound)/1e9, "USD/h")
		})
	}
	in := market(rand.New(rand.NewPCG(2, 2)), 7000, 6)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		in.Free = append(in.Free, Bin{Cap: []int64{rng.Int64N(4000), rng.Int64N(16 << 30), rng.Int64N(30), rng.Int64N(1 << 34), 0, 0}, Count: 1})
	}
	for range 200 {
		o := in.Options[rng.IntN(len(in.Options))]
		in.Free = append(in.Free, Bin{Cap: o.Cap, Price: o.Price / 2, Count: 1 + rng.Int64N(20)})
	}
	b.Run("options=7000/dims=6/nodes=5000/reservations=200", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Resource(in)
		}
	})
}
