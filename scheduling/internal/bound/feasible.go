package bound

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// proposal is worths of classes, and the vector that proves each machine.
type proposal struct {
	worths  []float64
	vectors []vector
	proof   []int // vector of each machine
	value   float64
	// widths are how many states are tried of the patterns of machines for which no vector is proof, by
	// machine; 0 for none, nil for all.
	widths []int
	// broken are the machines that held too much worth before the worths of their
	// users were lowered, in the order in which that was done.
	broken []int
}

// vector is worths of resources, with what they say about the classes.
type vector struct {
	values []float64
	worths []float64 // by class: values times size
}

// roundingErrors is how far above its price a machine's worth may seem to be.
const roundingErrors = 1e-14

func (a *assignment) vector(values []float64) vector {
	v := vector{values: values, worths: make([]float64, len(a.demand))}
	a.weigh(&v)
	return v
}

// weigh works out what the values of a vector say about the classes.
func (a *assignment) weigh(v *vector) {
	for c := range v.worths {
		v.worths[c] = dot(v.values, a.size(c))
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// holds is the worth that a machine can hold at most, as far as a vector tells:
// resources hold their values, and what a pod is worth beyond its resources can be
// there as often as the machine has places for such pods. It stops beyond a limit.
func (a *assignment) holds(i int, v *vector, worths []float64, limit float64) float64 {
	sum := dot(v.values, a.cap(i))
	x := &a.machines[i]
	for w, word := range x.users {
		for ; word != 0; word &= word - 1 {
			c := w<<6 + bits.TrailingZeros64(word)
			excess := worths[c] - v.worths[c]
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

// tightest finds the vector that leaves a machine the least worth.
func (a *assignment) tightest(i int, vectors []vector, worths []float64, hint int) (at int, worth float64) {
	at, worth = 0, math.Inf(1) // that is, whichever, where all of them leave more than can be counted
	if hint >= 0 {
		at, worth = hint, a.holds(i, &vectors[hint], worths, math.Inf(1))
	}
	for k := range vectors {
		if k == hint {
			continue
		}
		if w := a.holds(i, &vectors[k], worths, worth); w < worth {
			at, worth = k, w
		}
	}
	return at, worth
}

// makeFeasible turns a suggestion into duals that every machine on sale can bear: where
// one holds too much, its users are lowered; what then is left is given back.
func (a *assignment) makeFeasible(worths []float64, vectors []vector) *proposal {
	p := &proposal{worths: worths, vectors: vectors, proof: make([]int, len(a.machines))}
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
		p.proof[i], held[i] = a.tightest(i, vectors, worths, hint)
		hint = p.proof[i]
		if held[i] > a.prices[i]*(1+roundingErrors) {
			breaches = append(breaches, breach{i, held[i] / max(a.prices[i], 1e-300)})
		}
	}
	slices.SortStableFunc(breaches, func(x, y breach) int { return cmp.Compare(y.ratio, x.ratio) })
	for _, b := range breaches {
		i := b.machine
		p.proof[i], held[i] = a.tightest(i, p.vectors, worths, p.proof[i])
		if held[i] <= a.prices[i]*(1+roundingErrors) {
			continue
		}
		values := a.sharpen(i, p.vectors[p.proof[i]].values, worths)
		v := a.vector(values)
		p.broken = append(p.broken, i)
		if held[i] = a.holds(i, &v, worths, math.Inf(1)); held[i] > a.prices[i]*(1+roundingErrors) {
			v, held[i] = a.lower(i, values, worths, a.prices[i]/held[i]), a.prices[i]
		}
		p.proof[i] = len(p.vectors)
		p.vectors = append(p.vectors, v)
	}
	a.complete(p)
	return p
}

// polish gives what machines have left to their values and users.
func (a *assignment) polish(p *proposal) *proposal {
	for range polishes {
		for _, change := range []func(*proposal){a.stretch, a.raise} {
			next := *p
			if change(&next); next.value > p.value {
				p = &next
			}
		}
	}
	return p
}

// polishes is how often that is done. It makes up for what the interior point stays away
// from the edge.
const polishes = 2

// stretch scales every vector up as far as the machines bear that it proves, and raises
// what classes are worth.
func (a *assignment) stretch(p *proposal) {
	factors := make([]float64, len(p.vectors))
	for i := range a.machines {
		if a.machines[i].supply >= 0 {
			continue
		}
		at := p.proof[i]
		f := a.prices[i] / max(a.holds(i, &p.vectors[at], p.worths, math.Inf(1)), 1e-300)
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
	a.raise(p)
}

// lower scales a machine's values down, and the worths of its users where they are
// above what is left of them.
func (a *assignment) lower(i int, values, worths []float64, factor float64) vector {
	before := a.vector(values)
	a.machines[i].users.Each(func(c int) {
		worths[c] = min(worths[c], factor*max(worths[c], before.worths[c]))
	})
	for e := range values {
		values[e] *= factor
	}
	return a.vector(values)
}

// sharpen finds values that leave a machine less worth than the given ones, if there are
// any: those by which it holds least.
func (a *assignment) sharpen(i int, values, worths []float64) []float64 {
	caps := a.cap(i)
	r := &knapsack.Relaxed{Dims: len(a.dims)}
	a.machines[i].users.Each(func(c int) {
		if worths[c] <= 0 {
			return
		}
		r.Worths, r.Most = append(r.Worths, worths[c]), append(r.Most, a.fits.places(a, i, c))
		for e, n := range a.size(c) {
			r.Sizes = append(r.Sizes, n/max(caps[e], leastRoom))
		}
	})
	next := slices.Clone(r.Solve())
	for e := range next {
		next[e] /= max(caps[e], leastRoom)
	}
	before, after := a.vector(values), a.vector(next)
	if a.holds(i, &after, worths, math.Inf(1)) < a.holds(i, &before, worths, math.Inf(1)) {
		return next
	}
	return slices.Clone(values)
}

// leastRoom stands for none where it is divided by.
const leastRoom = 1e-12

// complete finds the proofs and adds the worths up.
func (a *assignment) complete(p *proposal) {
	p.value, p.proof = 0, slices.Clone(p.proof)
	for c, n := range a.demand {
		p.value += n * p.worths[c]
	}
	surplus := make([]float64, len(a.market.Supplies))
	hint := -1
	for i := range a.machines {
		s := a.machines[i].supply
		if s < 0 {
			continue
		}
		at, worth := a.tightest(i, p.vectors, p.worths, hint)
		p.proof[i], hint = at, at
		surplus[s] = max(surplus[s], worth-a.prices[i])
	}
	for s, over := range surplus {
		p.value -= over * float64(a.market.Supplies[s].Count)
	}
}

// raise lifts worths as far as every machine on sale can bear, the weightiest first.
func (a *assignment) raise(p *proposal) {
	p.worths = slices.Clone(p.worths)
	a.slack, a.said = append(a.slack[:0], make([]float64, len(a.machines))...), a.said[:0]
	slack := a.slack
	for i := range a.machines {
		if a.machines[i].supply < 0 {
			slack[i] = max(0, a.prices[i]-a.holds(i, &p.vectors[p.proof[i]], p.worths, math.Inf(1)))
		}
	}
	order := make([]int, 0, len(a.demand))
	for c, n := range a.demand {
		if n > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(a.demand[y]*p.worths[y], a.demand[x]*p.worths[x])
	})
	users := a.usersOf()
	for _, at := range p.proof {
		a.said = append(a.said, p.vectors[at].worths)
	}
	said := a.said
	for _, c := range order {
		own, highest := p.worths[c], math.Inf(1)
		for _, i := range users[c] {
			if bears := max(own, said[i][c]); bears < highest {
				highest = min(highest, bears+slack[i]/a.fits.places(a, i, c))
			}
		}
		if !(highest > own) || math.IsInf(highest, 1) {
			continue
		}
		p.worths[c] = highest
		for _, i := range users[c] {
			if over := highest - max(own, said[i][c]); over > 0 {
				slack[i] = max(0, slack[i]-over*a.fits.places(a, i, c))
			}
		}
	}
	a.complete(p)
}

// usersOf lists, for each class, the machines on sale that it may use.
func (a *assignment) usersOf() [][]int {
	if a.sellers == nil {
		numbers := make([]int, len(a.demand))
		for i := range a.machines {
			if a.machines[i].supply < 0 {
				a.machines[i].users.Each(func(c int) { numbers[c]++ })
			}
		}
		a.sellers = spaces(numbers)
		for i := range a.machines {
			if a.machines[i].supply < 0 {
				a.machines[i].users.Each(func(c int) { a.sellers[c] = append(a.sellers[c], i) })
			}
		}
	}
	return a.sellers
}

// width is how many states are tried of a machine's patterns; 0 for none.
func (p *proposal) width(i int) int {
	if p.widths == nil {
		return 0
	}
	return p.widths[i]
}

// used drops the vectors that prove nothing.
func (p *proposal) used() {
	needed := model.NewBits(len(p.vectors))
	for _, at := range p.proof {
		needed.Set(at)
	}
	number := make([]int, len(p.vectors))
	var kept []vector
	needed.Each(func(at int) {
		number[at] = len(kept)
		kept = append(kept, p.vectors[at])
	})
	for i, at := range p.proof {
		p.proof[i] = number[at]
	}
	p.vectors = kept
}
