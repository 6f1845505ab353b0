package bound

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
)

// verdict is what a machine holds at most by some worths.
type verdict struct {
	bound  float64
	vector int // number of the vector that shows it
	width  int // or that helps to, when so many states of patterns are tried; 0 for none
}

// between are worths so far from the best ones that are proven to those of the master.
func (p *patterns) between(share float64) []float64 {
	worths := make([]float64, len(p.demand))
	for c, row := range p.rows {
		if row >= 0 {
			worths[c] = (1-share)*p.center.worths[c] + share*max(0, p.master.Duals()[row])
		}
	}
	return worths
}

// again looks for patterns of the machines of which some were found last time, and reports whether
// there are any.
func (p *patterns) again(share float64) (violated bool) {
	next, machines := &proposal{worths: p.between(share), vectors: p.center.vectors}, p.recent
	p.recent = nil
	for _, i := range machines {
		if p.work > 0 && !p.late() {
			p.judge(i, next, &violated)
		}
	}
	return violated
}

// round tries worths between the best ones that are proven and those of the master. It
// reports whether they show patterns that the master gains from.
func (p *patterns) round(share float64) (violated bool) {
	worths := p.between(share)
	next := &proposal{worths: worths, vectors: p.center.vectors, proof: make([]int, len(p.machines)), widths: make([]int, len(p.machines))}
	bounds := make([]float64, len(p.machines))
	p.fullest = 1
	for i := range p.machines {
		if p.work < 0 || p.late() {
			return violated
		}
		x := p.judge(i, next, &violated)
		bounds[i], next.proof[i], next.widths[i] = x.bound, x.vector, x.width
	}
	if p.sure {
		violated = p.refine(next, bounds) || violated
	}
	_, ratio := p.worst(bounds)
	next.scale(p.assignment, 1/ratio)
	surplus := make([]float64, len(p.market.Supplies))
	for c, n := range p.demand {
		next.value += n * next.worths[c]
	}
	next.used()
	for i := range p.machines {
		if s := p.machines[i].supply; s >= 0 {
			surplus[s] = max(surplus[s], bounds[i]/ratio-p.prices[i])
		}
	}
	for s, over := range surplus {
		next.value -= over * float64(p.market.Supplies[s].Count)
	}
	if next.value > p.center.value {
		p.center = next
	}
	return violated
}

// scale lowers worths and vectors by a factor.
func (p *proposal) scale(a *assignment, factor float64) {
	if factor == 1 {
		return
	}
	for c := range p.worths {
		p.worths[c] *= factor
	}
	vectors := make([]vector, len(p.vectors))
	for k := range p.vectors {
		values := make([]float64, len(p.vectors[k].values))
		for e, v := range p.vectors[k].values {
			values[e] = v * factor
		}
		vectors[k] = a.vector(values)
	}
	p.vectors = vectors
}

// worst is the machine on sale that may hold most for its price, and how many times that.
func (p *patterns) worst(bounds []float64) (at int, ratio float64) {
	at, ratio = -1, 1
	for i, bound := range bounds {
		if p.machines[i].supply < 0 && bound > ratio*p.prices[i] {
			at, ratio = i, bound/p.prices[i]
		}
	}
	return at, ratio
}

// judge finds what a machine holds at most, and adds a pattern to the master that is
// worth more than its price.
func (p *patterns) judge(i int, next *proposal, violated *bool) verdict {
	price := p.prices[i]
	last := p.center.proof[i]
	if held := p.holds(i, &next.vectors[last], next.worths, price); held <= price {
		return verdict{held, last, 0}
	}
	r := p.relax(i, next.worths)
	shares := r.Solve()
	v := p.knapsack(i)
	at := next.add(p.vector(p.valuesIn(v, shares)))
	held := p.holds(i, &next.vectors[at], next.worths, math.Inf(1))
	if held <= price || held > 4*price && p.machines[i].supply < 0 || !v.Countable() {
		return verdict{held, at, 0}
	}
	if p.pieces.Has(i) {
		*violated = p.learn(i, v, r.Amounts()) || *violated
		return verdict{held, at, 0}
	}
	return verdict{min(held, p.try(i, next, quickWidth, held, price, violated)), at, quickWidth}
}

// try finds what a machine holds at most by so many states of its patterns, at least the floor, and adds
// one to the master that is worth more than its price.
func (p *patterns) try(i int, next *proposal, width int, held, floor float64, violated *bool) float64 {
	v := p.knapsack(i)
	out, whole := p.fill(v, p.relax(i, next.worths), width, held, floor)
	if p.machines[i].supply < 0 {
		p.fullest = max(p.fullest, float64(out.Best)/whole/p.prices[i])
	}
	if out.Best > int64(p.prices[i]*whole) {
		counts := make([]float64, len(out.Counts))
		for k, n := range out.Counts {
			counts[k] = float64(n)
		}
		if p.learn(i, v, counts) {
			p.recent, *violated = append(p.recent, i), true
		}
	}
	return float64(out.Bound) / whole
}

// refine looks at more and more patterns of the machine that may hold most for its price, until it
// is known how much the fullest does, but for what is of no interest. Where more patterns do not say
// much more, pods may be in pieces on that machine from then on. It reports whether the master gains.
func (p *patterns) refine(next *proposal, bounds []float64) (violated bool) {
	p.fullest = max(p.fullest, 1+looseShare*(p.master.Cost()/p.center.value-1))
	for p.work > 0 && !p.late() {
		i, ratio := p.worst(bounds)
		if ratio <= p.fullest || next.widths[i] == 0 {
			break
		}
		width, before := next.widths[i]*wider, bounds[i]
		bounds[i] = min(before, p.try(i, next, width, before, p.prices[i]*p.fullest, &violated))
		next.widths[i] = width
		if more := p.prices[i] * p.fullest; bounds[i] > more && (width*wider > mostStates || before-bounds[i] < leastNarrowed*(before-more)) {
			p.pieces.Set(i)
			r := p.relax(i, next.worths)
			r.Solve()
			return p.learn(i, p.knapsack(i), r.Amounts()) || violated
		}
	}
	return violated
}

// fill looks for the pattern of a knapsack that is worth most, at least the floor, among so many
// states. top is what it may be worth at most.
func (p *patterns) fill(v *knapsack.Knapsack, r *knapsack.Relaxed, width int, top, floor float64) (out knapsack.Outcome, whole float64) {
	shares := r.Solve()
	whole = math.Ldexp(1, wholeBits) / top
	s := &p.search
	s.Knapsack, s.Width, s.Floor = v, width, int64(floor*whole)
	s.Worths, s.Values = s.Worths[:0], s.Values[:0]
	for _, w := range r.Worths {
		s.Worths = append(s.Worths, int64(math.Ceil(w*whole)))
	}
	for d, share := range shares {
		s.Values = append(s.Values, int64(math.Ceil(share*whole/float64(max(1, v.Room[d])))))
	}
	out = s.Run()
	p.work -= out.Work * searchCost
	return out, whole
}

// relax sets a machine up for pods in pieces.
func (p *patterns) relax(i int, worths []float64) *knapsack.Relaxed {
	v := p.knapsack(i)
	p.work -= int64(len(v.Classes)*len(v.Rows)) * relaxCost
	return v.Relax(worths)
}

// valuesIn turns shares of a knapsack's resources into values of the search.
func (p *patterns) valuesIn(v *knapsack.Knapsack, shares []float64) []float64 {
	values := make([]float64, len(p.dims))
	for d, row := range v.Rows {
		for e, dim := range p.dims {
			if dim == row {
				values[e] = shares[d] / (float64(max(1, v.Room[d])) * float64(v.Units[d]) / p.unit[e])
			}
		}
	}
	return values
}

// add adds a vector and returns its number. Other proposals may have those before it.
func (p *proposal) add(v vector) int {
	p.vectors = append(p.vectors[:len(p.vectors):len(p.vectors)], v)
	return len(p.vectors) - 1
}
