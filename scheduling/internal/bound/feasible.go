package bound

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// proposal is class duals with the vector that proves each machine.
type proposal struct {
	duals   []float64
	vectors []dualVector
	proof   []int // by machine: number of its vector
	value   float64
	// widths is the number of states of the pattern search that proves a machine, where its vector does not; 0
	// for none, nil for none at all.
	widths []int
	// violated are the machines whose constraint the duals violated before they were lowered, in the order of
	// lowering.
	violated []int
}

// dualVector is a vector of resource duals.
type dualVector struct {
	values      []float64 // by resource of dims
	classValues []float64 // by class: values times size
}

// roundingErrors is the relative violation of a constraint that is taken for a rounding error.
const roundingErrors = 1e-14

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// mostValue returns the right side of the assignment bound: the value of the capacity, and the excess of each
// class's dual over the value of its resources, once for each pod that fits. It returns +Inf as soon as it
// exceeds the limit.
func (sm *scaledMarket) mostValue(i int, v *dualVector, duals []float64, limit float64) float64 {
	sum := dot(v.values, sm.cap(i))
	x := &sm.machines[i]
	for w, word := range x.users {
		for ; word != 0; word &= word - 1 {
			c := w<<6 + bits.TrailingZeros64(word)
			excess := duals[c] - v.classValues[c]
			if excess <= 0 {
				continue
			}
			if sum+excess > limit {
				return math.Inf(1)
			}
			sum += excess * sm.fits.places(sm, i, c)
		}
		if sum > limit {
			return math.Inf(1)
		}
	}
	return sum
}

// bestVector returns the number of the vector that bounds the value on a machine lowest, and this bound. hint
// is the vector that is tried first, −1 for none.
func (sm *scaledMarket) bestVector(i int, vectors []dualVector, duals []float64, hint int) (at int, worth float64) {
	at, worth = 0, math.Inf(1) // the first one, where all are +Inf
	if hint >= 0 {
		at, worth = hint, sm.mostValue(i, &vectors[hint], duals, math.Inf(1))
	}
	for k := range vectors {
		if k == hint {
			continue
		}
		if w := sm.mostValue(i, &vectors[k], duals, worth); w < worth {
			at, worth = k, w
		}
	}
	return at, worth
}

// makeFeasible lowers duals until the constraint of every machine on sale holds, the most violated machine
// first. It owns the duals that it is given. [scaledMarket.improve] raises them again where constraints have
// slack.
func (sm *scaledMarket) makeFeasible(duals []float64, vectors []dualVector) *proposal {
	p := &proposal{duals: duals, vectors: vectors, proof: make([]int, len(sm.machines))}
	held := make([]float64, len(sm.machines))
	type breach struct {
		machine int
		ratio   float64
	}
	var breaches []breach
	hint := -1
	for i := range sm.machines {
		if sm.machines[i].supply >= 0 {
			continue
		}
		p.proof[i], held[i] = sm.bestVector(i, vectors, duals, hint)
		hint = p.proof[i]
		if held[i] > sm.prices[i]*(1+roundingErrors) {
			breaches = append(breaches, breach{i, held[i] / max(sm.prices[i], 1e-300)})
		}
	}
	slices.SortStableFunc(breaches, func(x, y breach) int { return cmp.Compare(y.ratio, x.ratio) })
	for _, b := range breaches {
		i := b.machine
		p.proof[i], held[i] = sm.bestVector(i, p.vectors, duals, p.proof[i])
		if held[i] <= sm.prices[i]*(1+roundingErrors) {
			continue
		}
		values := sm.improvedVector(i, p.vectors[p.proof[i]].values, duals)
		v := sm.vector(values)
		p.violated = append(p.violated, i)
		if held[i] = sm.mostValue(i, &v, duals, math.Inf(1)); held[i] > sm.prices[i]*(1+roundingErrors) {
			v, held[i] = sm.lowerUsers(i, values, duals, sm.prices[i]/held[i]), sm.prices[i]
		}
		p.proof[i] = len(p.vectors)
		p.vectors = append(p.vectors, v)
	}
	sm.evaluate(p)
	return p
}

// improve raises duals and vectors where constraints have slack, as long as the value of the proposal rises.
func (sm *scaledMarket) improve(p *proposal) *proposal {
	for range polishes {
		for _, change := range []func(*proposal){sm.scaleVectors, sm.raiseDuals} {
			next := *p
			if change(&next); next.value > p.value {
				p = &next
			}
		}
	}
	return p
}

// polishes is how often that is done, because an interior point stays away from the vertex where the optimum
// is.
const polishes = 2

// scaleVectors scales every vector up by the largest factor that is feasible for the machines that it proves,
// and then raises the duals.
func (sm *scaledMarket) scaleVectors(p *proposal) {
	factors := make([]float64, len(p.vectors))
	for i := range sm.machines {
		if sm.machines[i].supply >= 0 {
			continue
		}
		at := p.proof[i]
		f := sm.prices[i] / max(sm.mostValue(i, &p.vectors[at], p.duals, math.Inf(1)), 1e-300)
		if factors[at] == 0 || f < factors[at] {
			factors[at] = max(1, f)
		}
	}
	p.vectors = slices.Clone(p.vectors)
	for at, f := range factors {
		if f <= 1 || math.IsInf(f, 1) {
			continue
		}
		values := slices.Clone(p.vectors[at].values)
		for e := range values {
			values[e] *= f
		}
		p.vectors[at] = sm.vector(values)
	}
	sm.raiseDuals(p)
}

// lowerUsers scales the values of a machine's vector down, and lowers the duals of the classes that it admits
// to the same share.
func (sm *scaledMarket) lowerUsers(i int, values, duals []float64, factor float64) dualVector {
	before := sm.vector(values)
	sm.machines[i].users.Each(func(c int) {
		duals[c] = min(duals[c], factor*max(duals[c], before.classValues[c]))
	})
	for e := range values {
		values[e] *= factor
	}
	return sm.vector(values)
}

// improvedVector returns a vector that bounds the value on machine i lower than the given one, or else a copy
// of the given one. It is the dual solution of the machine's fractional knapsack.
func (sm *scaledMarket) improvedVector(i int, values, duals []float64) []float64 {
	caps := sm.cap(i)
	r := &knapsack.Relaxed{Dims: len(sm.dims)}
	sm.machines[i].users.Each(func(c int) {
		if duals[c] <= 0 {
			return
		}
		r.PodValues, r.Most = append(r.PodValues, duals[c]), append(r.Most, sm.fits.places(sm, i, c))
		for e, n := range sm.size(c) {
			r.Sizes = append(r.Sizes, n/max(caps[e], leastRoom))
		}
	})
	next := slices.Clone(r.Solve())
	for e := range next {
		next[e] /= max(caps[e], leastRoom)
	}
	before, after := sm.vector(values), sm.vector(next)
	if sm.mostValue(i, &after, duals, math.Inf(1)) < sm.mostValue(i, &before, duals, math.Inf(1)) {
		return next
	}
	return slices.Clone(values)
}

// leastRoom replaces a capacity of 0 where a division by it follows.
const leastRoom = 1e-12

// evaluate chooses the vectors of machines of limited supply and computes the value of the proposal.
func (sm *scaledMarket) evaluate(p *proposal) {
	p.value, p.proof = 0, slices.Clone(p.proof)
	for c, n := range sm.demand {
		p.value += n * p.duals[c]
	}
	surplus := make([]float64, len(sm.exact.Supplies))
	hint := -1
	for i := range sm.machines {
		s := sm.machines[i].supply
		if s < 0 {
			continue
		}
		at, worth := sm.bestVector(i, p.vectors, p.duals, hint)
		p.proof[i], hint = at, at
		surplus[s] = max(surplus[s], (worth-sm.prices[i])/sm.supplyShare(i))
	}
	for s, over := range surplus {
		p.value -= over * sm.supplyCount(s)
	}
}

// raiseDuals raises duals one class after the other, the class with the largest total first, as far as the
// slack of every machine on sale allows.
func (sm *scaledMarket) raiseDuals(p *proposal) {
	p.duals = slices.Clone(p.duals)
	sm.slack, sm.classValues = append(sm.slack[:0], make([]float64, len(sm.machines))...), sm.classValues[:0]
	slack := sm.slack
	for i := range sm.machines {
		if sm.machines[i].supply < 0 {
			slack[i] = max(0, sm.prices[i]-sm.mostValue(i, &p.vectors[p.proof[i]], p.duals, math.Inf(1)))
		}
	}
	order := make([]int, 0, len(sm.demand))
	for c, n := range sm.demand {
		if n > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(sm.demand[y]*p.duals[y], sm.demand[x]*p.duals[x])
	})
	users := sm.buyableOf()
	for _, at := range p.proof {
		sm.classValues = append(sm.classValues, p.vectors[at].classValues)
	}
	said := sm.classValues
	for _, c := range order {
		own, highest := p.duals[c], math.Inf(1)
		for _, i := range users[c] {
			if bears := max(own, said[i][c]); bears < highest {
				highest = min(highest, bears+slack[i]/sm.fits.places(sm, i, c))
			}
		}
		if !(highest > own) || math.IsInf(highest, 1) {
			continue
		}
		p.duals[c] = highest
		for _, i := range users[c] {
			if over := highest - max(own, said[i][c]); over > 0 {
				slack[i] = max(0, slack[i]-over*sm.fits.places(sm, i, c))
			}
		}
	}
	sm.evaluate(p)
}

// width returns the number of states of the pattern search for a machine; 0 for no search.
func (p *proposal) width(i int) int {
	if p.widths == nil {
		return 0
	}
	return p.widths[i]
}

// dropUnusedVectors removes the vectors that prove no machine.
func (p *proposal) dropUnusedVectors() {
	needed := model.NewBits(len(p.vectors))
	for _, at := range p.proof {
		needed.Set(at)
	}
	number := make([]int, len(p.vectors))
	var kept []dualVector
	needed.Each(func(at int) {
		number[at] = len(kept)
		kept = append(kept, p.vectors[at])
	})
	for i, at := range p.proof {
		p.proof[i] = number[at]
	}
	p.vectors = kept
}
