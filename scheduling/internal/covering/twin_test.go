package covering

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// plane is coef·y = rhs.
type plane struct {
	coef []int64
	rhs  int64
}

// bestVertex tries every point in which Dims of the planes meet: where an option is
// fully used, a bin breaks even, or a worth is 0. The objective is concave and
// linear between these planes, so that its maximum stands in one of the points.
func bestVertex(in Input) int64 {
	var planes []plane
	for _, o := range in.Options {
		planes = append(planes, plane{o.Cap, o.Price})
	}
	for _, f := range in.Free {
		planes = append(planes, plane{f.Cap, f.Price})
	}
	for d := range in.Dims {
		unit := make([]int64, in.Dims)
		unit[d] = 1
		planes = append(planes, plane{unit, 0})
	}
	best := new(big.Rat)
	chosen := make([]plane, 0, in.Dims)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == in.Dims {
			if y := meet(chosen); y != nil {
				if v, ok := objective(in, y); ok && v.Cmp(best) > 0 {
					best = v
				}
			}
			return
		}
		for i := from; i < len(planes); i++ {
			chosen = append(chosen, planes[i])
			choose(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
	up := new(big.Int).Add(best.Num(), new(big.Int).Sub(best.Denom(), big.NewInt(1)))
	return up.Quo(up, best.Denom()).Int64()
}

// meet solves the planes by Gauss–Jordan elimination in rationals.
func meet(planes []plane) []*big.Rat {
	m := len(planes)
	rows := make([][]*big.Rat, m)
	for i, p := range planes {
		for _, c := range p.coef {
			rows[i] = append(rows[i], new(big.Rat).SetInt64(c))
		}
		rows[i] = append(rows[i], new(big.Rat).SetInt64(p.rhs))
	}
	for k := range m {
		p := slices.IndexFunc(rows[k:], func(r []*big.Rat) bool { return r[k].Sign() != 0 })
		if p < 0 {
			return nil
		}
		rows[k], rows[k+p] = rows[k+p], rows[k]
		inv := new(big.Rat).Inv(rows[k][k])
		for d := range rows[k] {
			rows[k][d] = new(big.Rat).Mul(rows[k][d], inv)
		}
		for i := range m {
			if i == k {
				continue
			}
			f := rows[i][k]
			for d := range rows[i] {
				rows[i][d] = new(big.Rat).Sub(rows[i][d], new(big.Rat).Mul(f, rows[k][d]))
			}
		}
	}
	y := make([]*big.Rat, m)
	for i := range y {
		y[i] = rows[i][m]
	}
	return y
}

func objective(in Input, y []*big.Rat) (*big.Rat, bool) {
	worth := func(v []int64) *big.Rat {
		sum := new(big.Rat)
		for d := range y {
			sum.Add(sum, new(big.Rat).Mul(y[d], new(big.Rat).SetInt64(v[d])))
		}
		return sum
	}
	for _, v := range y {
		if v.Sign() < 0 {
			return nil, false
		}
	}
	for _, o := range in.Options {
		if worth(o.Cap).Cmp(new(big.Rat).SetInt64(o.Price)) > 0 {
			return nil, false
		}
	}
	total := new(big.Rat)
	for _, it := range in.Items {
		total.Add(total, new(big.Rat).Mul(worth(it.Size), new(big.Rat).SetInt64(it.Count)))
	}
	for _, f := range in.Free {
		gain := worth(f.Cap)
		gain.Sub(gain, new(big.Rat).SetInt64(f.Price))
		if gain.Sign() > 0 {
			total.Sub(total, gain.Mul(gain, new(big.Rat).SetInt64(f.Count)))
		}
	}
	return total, true
}

// randomPacking puts the items, in random order, into open bins first fit, and
// opens a random bin that holds the item where none does.
func randomPacking(rng *rand.Rand, in Input) (price int64, ok bool) {
	type machine struct {
		room  []int64
		price int64
	}
	var open []machine
	var waiting []machine
	for _, f := range in.Free {
		for range f.Count {
			waiting = append(waiting, machine{slices.Clone(f.Cap), f.Price})
		}
	}
	var pods [][]int64
	for _, it := range in.Items {
		for range it.Count {
			pods = append(pods, it.Size)
		}
	}
	rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	fits := func(room, pod []int64) bool {
		for d, v := range pod {
			if v > room[d] {
				return false
			}
		}
		return true
	}
	for _, pod := range pods {
		i := slices.IndexFunc(open, func(m machine) bool { return fits(m.room, pod) })
		if i < 0 {
			i = len(open)
			var candidates []machine
			w := slices.IndexFunc(waiting, func(m machine) bool { return fits(m.room, pod) })
			for _, o := range in.Options {
				if fits(o.Cap, pod) {
					candidates = append(candidates, machine{slices.Clone(o.Cap), o.Price})
				}
			}
			switch {
			case w >= 0 && (rng.IntN(4) > 0 || len(candidates) == 0):
				open = append(open, waiting[w])
				waiting = slices.Delete(waiting, w, w+1)
			case len(candidates) > 0:
				open = append(open, candidates[rng.IntN(len(candidates))])
			default:
				return 0, false
			}
			price += open[i].price
		}
		for d, v := range pod {
			open[i].room[d] -= v
		}
	}
	return price, true
}
