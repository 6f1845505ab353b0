package bound

import (
	"fmt"
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// mostParties bounds how many parties of classes are told apart.
const mostParties = 12

// parties proposes worths for markets in which not everybody may use everything. Classes
// that may use the same machines are a party. Each resource is worth something to all, and
// something more to each party; what a machine has is worth what it is to all and to the
// parties that may use it. That is a bound on resources with as many of them as parties
// times resources, and a fair start. It returns nil where there is one party, or too many.
func (a *assignment) parties() *proposal {
	party, parties := a.partyOf()
	if parties < 2 || parties > mostParties {
		return nil
	}
	n := a.market.Dims
	in := Input{Dims: n * (parties + 1)}
	wanted := make([]int64, in.Dims) // by party and resource, all of them last
	for c := range a.market.Classes {
		if a.demand[c] == 0 {
			continue
		}
		for d, size := range a.market.Classes[c].Size {
			more := product(size, int64(math.Ceil(a.demand[c])))
			for _, at := range []int{party[c]*n + d, parties*n + d} {
				if wanted[at] += more; wanted[at] < 0 {
					wanted[at] = math.MaxInt64
				}
			}
		}
	}
	in.Items = []Item{{Size: wanted, Count: 1}}
	guests := make([]model.Bits, len(a.machines)) // by machine, the parties that may use it
	for i := range a.machines {
		x := &a.machines[i]
		guests[i] = model.NewBits(parties)
		x.users.Each(func(c int) { guests[i].Set(party[c]) })
		room := make([]int64, in.Dims)
		for g := range parties + 1 {
			if g < parties && !guests[i].Has(g) {
				continue
			}
			for d, have := range x.cap {
				room[g*n+d] = min(have, wanted[g*n+d])
			}
		}
		if x.supply < 0 {
			in.Options = append(in.Options, Option{Cap: room, Price: x.price})
		} else {
			in.Free = append(in.Free, Bin{Cap: room, Price: x.price, Count: a.market.Supplies[x.supply].Count})
		}
	}
	values := a.valuesOf(Resource(in).Values)
	worths, known := make([]float64, len(a.demand)), map[string]bool{}
	for c := range worths {
		if a.demand[c] > 0 {
			g := party[c]
			worths[c] = dot(values[g], a.size(c)) + dot(values[parties], a.size(c))
		}
	}
	var vectors []vector
	for i := range a.machines {
		name := fmt.Sprint(guests[i])
		if known[name] {
			continue
		}
		known[name] = true
		sum := append([]float64(nil), values[parties]...)
		guests[i].Each(func(g int) {
			for e, v := range values[g] {
				sum[e] += v
			}
		})
		vectors = append(vectors, a.vector(sum))
	}
	return a.settle(worths, vectors)
}

// partyOf numbers the classes by the machines that let them in, whether they fit or not.
func (a *assignment) partyOf() (party []int, parties int) {
	marks, n := make([][2]uint64, len(a.demand)), uint64(0)
	seen := map[string]bool{}
	note := func(x *Choice) {
		name := fmt.Sprint(x.Users)
		if seen[name] {
			return
		}
		seen[name] = true
		n += 2
		x.Users.Each(func(c int) {
			marks[c][0] += scrambled(n)
			marks[c][1] += scrambled(n + 1)
		})
	}
	for i := range a.market.Options {
		note(&a.market.Options[i])
	}
	for i := range a.market.Supplies {
		for k := range a.market.Supplies[i].Members {
			note(&a.market.Supplies[i].Members[k])
		}
	}
	party = make([]int, len(a.demand))
	number := map[[2]uint64]int{}
	for c, mark := range marks {
		if a.demand[c] == 0 {
			continue
		}
		at, known := number[mark]
		if !known {
			at = len(number)
			number[mark] = at
		}
		party[c] = at
	}
	return party, len(number)
}

// valuesOf are values in the units of the search, by party and resource that matters.
func (a *assignment) valuesOf(values []*big.Int) [][]float64 {
	n := a.market.Dims
	out := make([][]float64, len(values)/n)
	for g := range out {
		for e, d := range a.dims {
			v, _ := new(big.Float).SetInt(values[g*n+d]).Float64()
			out[g] = append(out[g], math.Ldexp(v, -Scale)*a.unit[e]/a.price)
		}
	}
	return out
}
