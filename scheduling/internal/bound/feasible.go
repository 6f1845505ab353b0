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

func (a *assignment) vector(values []float64) dualVector {
	v := dualVector{values: values, classValues: make([]float64, len(a.demand))}
	a.weigh(&v)
	return v
}

// weigh fills in the values of the classes.
func (a *assignment) weigh(v *dualVector) {
	for c := range v.classValues {
		v.classValues[c] = dot(v.values, a.size(c))
	}
}

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
func (a *assignment) mostValue(i int, v *dualVector, duals []float64, limit float64) float64 {
	sum := dot(v.values, a.cap(i))
	x := &a.machines[i]
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
			sum += excess * a.fits.places(a, i, c)
		}
		if sum > limit {
			return math.Inf(1)
		}
	}
	return sum
}

// bestVector returns the number of the vector that bounds the value on a machine lowest, and this bound. hint
// is the vector that is tried first, −1 for none.
func (a *assignment) bestVector(i int, vectors []dualVector, duals []float64, hint int) (at int, worth float64) {
	at, worth = 0, math.Inf(1) // the first one, where all are +Inf
	if hint >= 0 {
		at, worth = hint, a.mostValue(i, &vectors[hint], duals, math.Inf(1))
	}
	for k := range vectors {
		if k == hint {
			continue
		}
		if w := a.mostValue(i, &vectors[k], duals, worth); w < worth {
			at, worth = k, w
		}
	}
	return at, worth
}

// makeFeasible lowers duals until the constraint of every machine on sale holds, the most violated machine
// first. It owns the duals that it is given. [assignment.polish] raises them again where constraints have
// slack.
func (a *assignment) makeFeasible(duals []float64, vectors []dualVector) *proposal {
	p := &proposal{duals: duals, vectors: vectors, proof: make([]int, len(a.machines))}
	held := make([]float64, len(a.machines))
	type breach struct {
		machine int
		ratio   float64
	}
	var breaches []breach
	hint := -1
	for i := range a.machines {
		if a.machines[i].supply >= 0 {
			continue
		}
		p.proof[i], held[i] = a.bestVector(i, vectors, duals, hint)
		hint = p.proof[i]
		if held[i] > a.prices[i]*(1+roundingErrors) {
			breaches = append(breaches, breach{i, held[i] / max(a.prices[i], 1e-300)})
		}
	}
	slices.SortStableFunc(breaches, func(x, y breach) int { return cmp.Compare(y.ratio, x.ratio) })
	for _, b := range breaches {
		i := b.machine
		p.proof[i], held[i] = a.bestVector(i, p.vectors, duals, p.proof[i])
		if held[i] <= a.prices[i]*(1+roundingErrors) {
			continue
		}
		values := a.improvedVector(i, p.vectors[p.proof[i]].values, duals)
		v := a.vector(values)
		p.violated = append(p.violated, i)
		if held[i] = a.mostValue(i, &v, duals, math.Inf(1)); held[i] > a.prices[i]*(1+roundingErrors) {
			v, held[i] = a.lowerUsers(i, values, duals, a.prices[i]/held[i]), a.prices[i]
		}
		p.proof[i] = len(p.vectors)
		p.vectors = append(p.vectors, v)
	}
	a.evaluate(p)
	return p
}

// polish raises duals and vectors where constraints have slack, as long as the value of the proposal rises.
func (a *assignment) polish(p *proposal) *proposal {
	for range polishes {
		for _, change := range []func(*proposal){a.scaleVectors, a.raiseDuals} {
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
func (a *assignment) scaleVectors(p *proposal) {
	factors := make([]float64, len(p.vectors))
	for i := range a.machines {
		if a.machines[i].supply >= 0 {
			continue
		}
		at := p.proof[i]
		f := a.prices[i] / max(a.mostValue(i, &p.vectors[at], p.duals, math.Inf(1)), 1e-300)
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
		p.vectors[at] = a.vector(values)
	}
	a.raiseDuals(p)
}

// lowerUsers scales the values of a machine's vector down, and lowers the duals of the classes that it admits
// to the same share.
func (a *assignment) lowerUsers(i int, values, duals []float64, factor float64) dualVector {
	before := a.vector(values)
	a.machines[i].users.Each(func(c int) {
		duals[c] = min(duals[c], factor*max(duals[c], before.classValues[c]))
	})
	for e := range values {
		values[e] *= factor
	}
	return a.vector(values)
}

// improvedVector returns a vector that bounds the value on machine i lower than the given one, or else a copy
// of the given one. It is the dual solution of the machine's fractional knapsack.
func (a *assignment) improvedVector(i int, values, duals []float64) []float64 {
	caps := a.cap(i)
	r := &knapsack.Relaxed{Dims: len(a.dims)}
	a.machines[i].users.Each(func(c int) {
		if duals[c] <= 0 {
			return
		}
		r.Worths, r.Most = append(r.Worths, duals[c]), append(r.Most, a.fits.places(a, i, c))
		for e, n := range a.size(c) {
			r.Sizes = append(r.Sizes, n/max(caps[e], leastRoom))
		}
	})
	next := slices.Clone(r.Solve())
	for e := range next {
		next[e] /= max(caps[e], leastRoom)
	}
	before, after := a.vector(values), a.vector(next)
	if a.mostValue(i, &after, duals, math.Inf(1)) < a.mostValue(i, &before, duals, math.Inf(1)) {
		return next
	}
	return slices.Clone(values)
}

// leastRoom replaces a capacity of 0 where a division by it follows.
const leastRoom = 1e-12

// evaluate chooses the vectors of machines of limited supply and computes the value of the proposal.
func (a *assignment) evaluate(p *proposal) {
	p.value, p.proof = 0, slices.Clone(p.proof)
	for c, n := range a.demand {
		p.value += n * p.duals[c]
	}
	surplus := make([]float64, len(a.market.Supplies))
	hint := -1
	for i := range a.machines {
		s := a.machines[i].supply
		if s < 0 {
			continue
		}
		at, worth := a.bestVector(i, p.vectors, p.duals, hint)
		p.proof[i], hint = at, at
		surplus[s] = max(surplus[s], worth-a.prices[i])
	}
	for s, over := range surplus {
		p.value -= over * float64(a.market.Supplies[s].Count)
	}
}

// raiseDuals raises duals one class after the other, the class with the largest total first, as far as the
// slack of every machine on sale allows.
func (a *assignment) raiseDuals(p *proposal) {
	p.duals = slices.Clone(p.duals)
	a.slack, a.classValues = append(a.slack[:0], make([]float64, len(a.machines))...), a.classValues[:0]
	slack := a.slack
	for i := range a.machines {
		if a.machines[i].supply < 0 {
			slack[i] = max(0, a.prices[i]-a.mostValue(i, &p.vectors[p.proof[i]], p.duals, math.Inf(1)))
		}
	}
	order := make([]int, 0, len(a.demand))
	for c, n := range a.demand {
		if n > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(a.demand[y]*p.duals[y], a.demand[x]*p.duals[x])
	})
	users := a.buyableOf()
	for _, at := range p.proof {
		a.classValues = append(a.classValues, p.vectors[at].classValues)
	}
	said := a.classValues
	for _, c := range order {
		own, highest := p.duals[c], math.Inf(1)
		for _, i := range users[c] {
			if bears := max(own, said[i][c]); bears < highest {
				highest = min(highest, bears+slack[i]/a.fits.places(a, i, c))
			}
		}
		if !(highest > own) || math.IsInf(highest, 1) {
			continue
		}
		p.duals[c] = highest
		for _, i := range users[c] {
			if over := highest - max(own, said[i][c]); over > 0 {
				slack[i] = max(0, slack[i]-over*a.fits.places(a, i, c))
			}
		}
	}
	a.evaluate(p)
}

// buyableOf lists, for each class, the machines on sale that admit it.
func (a *assignment) buyableOf() [][]int {
	if a.buyable == nil {
		numbers := make([]int, len(a.demand))
		for i := range a.machines {
			if a.machines[i].supply < 0 {
				a.machines[i].users.Each(func(c int) { numbers[c]++ })
			}
		}
		a.buyable = spaces(numbers)
		for i := range a.machines {
			if a.machines[i].supply < 0 {
				a.machines[i].users.Each(func(c int) { a.buyable[c] = append(a.buyable[c], i) })
			}
		}
	}
	return a.buyable
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
