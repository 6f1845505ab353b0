package bound

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// candidate is a machine of an interior-point problem: one machine of the market, or several existing nodes
// aggregated into equal ones of the same total capacity. With a limited supply, capacity, price and number are those for one
// unit of the supply, the use of the member with the largest use, so that each unit counts as one machine of a limit.
type candidate struct {
	machine int // number in the market, −1 for aggregated existing nodes
	cap     []float64
	price   float64
	supply  int     // number of the supply, −1 for none
	count   float64 // of the supply
	share   float64 // of a unit of the supply that one machine takes
	users   model.Bits
	domain  int
}

// firstShare is the part of the work, as a divisor, that the first problem may take, and nextShare the part
// that each further problem may take of the rest. moreMachines is the number of new machines for which a
// problem may take all of the rest.
const firstShare, nextShare, moreMachines = 9, 4, 8

// initialMachines chooses the machines of the first problem: for each class the one that seems cheapest,
// ordered by the demand for which they are cheapest, and the machines of limited supply.
func (sm *scaledMarket) initialMachines(v *dualVector, work int64) []candidate {
	scores := make([]float64, len(sm.machines))
	cheapest := make([]int, len(sm.demand))
	least := make([]float64, len(sm.demand))
	for c := range cheapest {
		cheapest[c], least[c] = -1, math.Inf(1)
	}
	inverse := make([]float64, len(sm.dims))
	for i := range sm.machines {
		if sm.machines[i].supply >= 0 {
			continue
		}
		caps := sm.cap(i)
		for e, n := range caps {
			inverse[e] = 1 / max(n, 1e-12)
		}
		factor := 0.0
		if full := dot(v.values, caps); full > 0 {
			factor = sm.prices[i] / full
		}
		sm.machines[i].users.Each(func(c int) {
			share := 0.0
			for e, n := range sm.size(c) {
				share = max(share, n*inverse[e])
			}
			if cost := sm.prices[i]*share + factor*v.classValues[c]; cost < least[c] {
				cheapest[c], least[c] = i, cost
			}
		})
	}
	out := sm.limited()
	most := sm.affordable(work / firstShare)
	open := model.NewBits(len(cheapest))
	for c, i := range cheapest {
		if i >= 0 {
			open.Set(c)
		}
	}
	// First machines until each class has one, then the machines that are cheapest for the largest demand.
	for taken := model.NewBits(len(sm.machines)); len(out) < mostMachines; {
		covering := open.Any()
		clear(scores)
		for c, i := range cheapest {
			if i >= 0 && !taken.Has(i) && (!covering || open.Has(c)) {
				scores[i] += sm.demand[c] * least[c]
			}
		}
		best := 0
		for i, score := range scores {
			if score > scores[best] {
				best = i
			}
		}
		if scores[best] == 0 || !covering && len(out) >= most {
			break
		}
		taken.Set(best)
		open.AndNot(sm.machines[best].users)
		out = append(out, sm.candidate(best))
	}
	return out
}

func (sm *scaledMarket) candidate(i int) candidate {
	x := candidate{machine: i, cap: sm.cap(i), price: sm.prices[i], supply: sm.machines[i].supply, users: sm.machines[i].users, domain: sm.machines[i].domain, share: 1}
	if s := x.supply; s >= 0 {
		x.count, x.share = sm.supplyCount(s), sm.supplyShare(i)
	}
	if x.share == 1 {
		return x
	}
	x.price /= x.share
	x.cap = slices.Clone(x.cap)
	for e := range x.cap {
		x.cap[e] /= x.share
	}
	return x
}

// supplyCount returns the count of a supply in units, see [candidate].
func (sm *scaledMarket) supplyCount(s int) float64 {
	return float64(sm.exact.Supplies[s].Count) / float64(sm.supplyUnits[s])
}

// supplyShare returns the share of a unit of its supply that a machine of limited supply takes.
func (sm *scaledMarket) supplyShare(i int) float64 {
	return float64(sm.machines[i].use) / float64(sm.supplyUnits[sm.machines[i].supply])
}

// affordable returns the number of machines of a problem that usualSteps iterations solve within the work.
func (sm *scaledMarket) affordable(work int64) int {
	n := fewestMachines
	for n < mostMachines {
		side := int64((n + 1) * (len(sm.dims) + 1))
		step := int64(len(sm.demand))*(side*side/2+int64(60*(n+1))) + side*side*side/6
		if step*usualSteps > work {
			break
		}
		n++
	}
	return n
}

// mostLimited bounds the candidates of limited supply in one problem.
const mostLimited = 8

// limited returns the candidates of limited supply with the largest capacity: reservations, and existing nodes,
// of which those that admit the same classes are aggregated.
func (sm *scaledMarket) limited() []candidate {
	var out []candidate
	weight := func(x candidate) float64 {
		sum := 0.0
		for _, n := range x.cap {
			sum += n
		}
		return sum * x.count
	}
	var nodes []candidate
	for i := range sm.machines {
		if sm.machines[i].supply < 0 {
			continue
		}
		if x := sm.candidate(i); x.price > 0 {
			out = append(out, x)
		} else {
			nodes = append(nodes, x)
		}
	}
	heaviest := func(x, y candidate) int { return cmp.Compare(weight(y), weight(x)) }
	slices.SortStableFunc(nodes, heaviest)
	var kinds []candidate
	for _, x := range nodes {
		at := slices.IndexFunc(kinds, func(k candidate) bool { return k.users.Contains(x.users) })
		if at < 0 {
			if len(kinds) < mostLimited {
				x.cap = slices.Clone(x.cap)
				kinds = append(kinds, x)
			}
			continue
		}
		k := &kinds[at]
		k.machine = -1
		for e, n := range x.cap {
			k.cap[e] = (k.cap[e]*k.count + n*x.count) / (k.count + x.count)
		}
		k.count += x.count
	}
	out = append(out, kinds...)
	slices.SortStableFunc(out, heaviest)
	return out[:min(len(out), mostLimited)]
}

// found returns the candidates that this market has too, with their machine numbers here.
func (sm *scaledMarket) found(chosen []candidate) (out []candidate) {
	for _, x := range chosen {
		for i, price := range sm.prices {
			if price == x.price && slices.Equal(sm.cap(i), x.cap) && slices.Equal(sm.machines[i].users, x.users) && sm.machines[i].domain == x.domain {
				out = append(out, sm.candidate(i))
				break
			}
		}
	}
	return out
}
