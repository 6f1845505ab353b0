package pack

import (
	"math/rand/v2"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// mix draws n pods as Karpenter's own benchmark does, a fifth each of five kinds of
// thirty sizes: plain, spread over zones, spread over hosts by the label of another
// kind, with affinity in a zone, and alone of their kind on a host. A zone is given
// to each; what is left for the packer are hosts: per-node limits of at most one pod.
func mix(n int, options []model.Option, zones int) *model.Problem {
	const labels, nginx = 7, 7
	random := rand.New(rand.NewPCG(5, 6))
	p := &model.Problem{Dims: 3, Groups: zones, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}, Options: options}
	for range labels + 1 {
		p.PerNodeLimits = append(p.PerNodeLimits, model.PerNodeLimit{Max: 1})
	}
	type kind struct{ kind, cpu, mib, label, other, zone int }
	classes := map[kind]int{}
	for i := range n {
		k := kind{kind: i * 5 / n, cpu: random.IntN(5), mib: random.IntN(6), label: random.IntN(labels), zone: random.IntN(zones)}
		switch k.kind {
		case 1, 2:
			k.other = random.IntN(labels)
		case 3:
			k.zone = k.label % zones
		case 4:
			k.label = 0
		}
		c, ok := classes[k]
		if !ok {
			c = len(p.Classes)
			classes[k] = c
			p.Classes = append(p.Classes, model.Class{Group: int32(k.zone), PerNodeLimits: memberships(k.kind, k.label, k.other, nginx), Request: []int64{
				[]int64{100, 250, 500, 1000, 1500}[k.cpu], []int64{100, 256, 512, 1024, 2048, 4096}[k.mib] << 20, 1,
			}})
		}
		p.Classes[c].Count++
	}
	return p
}

// memberships are the per-node limits of a pod of mix.
func memberships(kind, label, other, nginx int) []model.Membership {
	counted := model.Membership{Limit: int32(label), Weight: 1}
	switch {
	case kind <= 1:
		return []model.Membership{counted}
	case kind == 2 && label == other:
		return []model.Membership{{Limit: int32(label), Weight: 1, Holds: true}}
	case kind == 2 && label < other:
		return []model.Membership{counted, {Limit: int32(other), Holds: true}}
	case kind == 2:
		return []model.Membership{{Limit: int32(other), Holds: true}, counted}
	case kind == 4:
		return []model.Membership{{Limit: int32(nginx), Weight: 1, Holds: true}}
	}
	return nil
}

// proportional is Karpenter's own market: sizes of 1 to n cores with 2 GiB each, at prices
// in proportion, in each of the zones, at so many prices each.
func proportional(n, zones, prices int) []model.Option {
	var out []model.Option
	for i := range int64(n) {
		for z := range zones {
			for k := range int64(prices) {
				admits := model.NewBits(zones)
				admits.Set(z)
				price := (i + 1) * (100_000_000 + 214_748_365) * (20 + k) / 20
				out = append(out, model.Option{
					Room: []int64{(i+1)*1000 - 100, (i+1)*2*gib - 10<<20, (i + 1) * 10},
					Cost: price, Price: price, Supply: model.NoSupply, Floor: -1, Admits: admits, Soft: model.NewBits(zones),
				})
			}
		}
	}
	return out
}

// clouds is a market of so many generations of the families, in each of the zones.
func clouds(generations, zones int) []model.Option {
	var out []model.Option
	for g := range int64(generations) {
		for z := range zones {
			for _, o := range families() {
				o.Admits, o.Soft = model.NewBits(zones), model.NewBits(zones)
				o.Admits.Set(z)
				o.Room = []int64{o.Room[0], o.Room[1] + g*64<<20, o.Room[2]}
				o.Cost = o.Cost * (100 + g) / 100
				o.Price = o.Cost
				out = append(out, o)
			}
		}
	}
	return out
}

// running adds n machines that run and have some room left to a problem of mix; some
// hold a pod that is alone of its kind already.
func running(p *model.Problem, n int) *model.Problem {
	random := rand.New(rand.NewPCG(7, 8))
	for range n {
		b := model.Bin{
			Room:   []int64{random.Int64N(4000), random.Int64N(8 * gib), random.Int64N(30)},
			Admits: model.NewBits(p.Groups), Soft: model.NewBits(p.Groups),
		}
		b.Admits.Set(random.IntN(p.Groups))
		for k := range p.PerNodeLimits {
			if random.IntN(3) == 0 {
				b.Present = append(b.Present, model.Presence{Limit: int32(k), N: 1})
			}
		}
		p.Bins = append(p.Bins, b)
	}
	return p
}

// scarce gives the pods of a problem of mix three priorities, and its pool a limit of
// so many cores.
func scarce(p *model.Problem, cores int64) *model.Problem {
	for c := range p.Classes {
		p.Classes[c].Priority = int32(c % 3)
	}
	p.Pools[0].Limits = []int64{cores * 1000}
	for o := range p.Options {
		p.Options[o].Use = []int64{p.Options[o].Room[0] + 100}
	}
	return p
}
