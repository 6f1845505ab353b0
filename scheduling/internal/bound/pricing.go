package bound

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
)

// verdict is an upper bound of the value that a machine can hold by given duals, with its proof.
type verdict struct {
	bound  float64
	vector int // number of the vector that proves it, alone or with a search
	width  int // number of states of the search; 0 for none
}

// interpolated returns duals between the best proven ones (share 0) and those of the master (share 1).
func (p *patterns) interpolated(share float64) []float64 {
	duals := make([]float64, len(p.scaled.demand))
	for c, row := range p.rows {
		if row >= 0 {
			duals[c] = (1-share)*p.center.duals[c] + share*max(0, p.master.Duals()[row])
		}
	}
	return duals
}

// retryRecent prices only the machines that yielded patterns last time, which is cheaper than a round. It
// reports whether there are new patterns.
func (p *patterns) retryRecent(share float64) (violated bool) {
	next, machines := &proposal{duals: p.interpolated(share), vectors: p.center.vectors}, p.recent
	p.recent = nil
	for _, i := range machines {
		if !p.spent() && !p.late() {
			p.priceMachine(i, next, &violated)
		}
	}
	return violated
}

// round prices all machines by interpolated duals, scales the duals to feasibility and keeps them if they prove
// more. It reports whether the master has new patterns.
func (p *patterns) round(share float64) (violated bool) {
	duals := p.interpolated(share)
	next := &proposal{duals: duals, vectors: p.center.vectors, proof: make([]int, len(p.scaled.machines)), widths: make([]int, len(p.scaled.machines))}
	bounds := make([]float64, len(p.scaled.machines))
	p.mostRatio = 1
	for i := range p.scaled.machines {
		if p.spent() || p.late() {
			return violated
		}
		x := p.priceMachine(i, next, &violated)
		bounds[i], next.proof[i], next.widths[i] = x.bound, x.vector, x.width
	}
	if p.exact {
		violated = p.refine(next, bounds) || violated
	}
	_, ratio := p.worst(bounds)
	next.scale(p.scaled, 1/ratio)
	surplus := make([]float64, len(p.scaled.exact.Supplies))
	for c, n := range p.scaled.demand {
		next.value += n * next.duals[c]
	}
	next.dropUnusedVectors()
	for i := range p.scaled.machines {
		if s := p.scaled.machines[i].supply; s >= 0 {
			surplus[s] = max(surplus[s], (bounds[i]/ratio-p.scaled.prices[i])/p.scaled.supplyShare(i))
		}
	}
	for s, over := range surplus {
		next.value -= over * p.scaled.supplyCount(s)
	}
	if next.value > p.center.value {
		p.center = next
	}
	return violated
}

// scale multiplies duals and vectors by a factor.
func (p *proposal) scale(sm *scaledMarket, factor float64) {
	if factor == 1 {
		return
	}
	for c := range p.duals {
		p.duals[c] *= factor
	}
	vectors := make([]dualVector, len(p.vectors))
	for k := range p.vectors {
		values := make([]float64, len(p.vectors[k].values))
		for e, v := range p.vectors[k].values {
			values[e] = v * factor
		}
		vectors[k] = sm.vector(values)
	}
	p.vectors = vectors
}

// worst returns the machine on sale with the largest ratio of bound to price above 1, and the ratio; −1 and 1
// for none.
func (p *patterns) worst(bounds []float64) (at int, ratio float64) {
	at, ratio = -1, 1
	for i, bound := range bounds {
		if p.scaled.machines[i].supply < 0 && bound > ratio*p.scaled.prices[i] {
			at, ratio = i, bound/p.scaled.prices[i]
		}
	}
	return at, ratio
}

// priceMachine bounds the value on a machine by the duals of next, and adds a pattern of more value than the
// price to the master. It sets violated if it does.
func (p *patterns) priceMachine(i int, next *proposal, violated *bool) verdict {
	price := p.scaled.prices[i]
	last := p.center.proof[i]
	if held := p.scaled.mostValue(i, &next.vectors[last], next.duals, price); held <= price {
		return verdict{held, last, 0}
	}
	r := p.relax(i, next.duals)
	shares := r.Solve()
	v := p.knapsack(i)
	at := next.add(p.scaled.vector(p.valuesIn(v, shares)))
	held := p.scaled.mostValue(i, &next.vectors[at], next.duals, math.Inf(1))
	if held <= price || held > 4*price && p.scaled.machines[i].supply < 0 || !v.Countable() {
		return verdict{held, at, 0}
	}
	if p.fractional.Has(i) {
		*violated = p.addPattern(i, v, r.Amounts(), false) || *violated
		return verdict{held, at, 0}
	}
	return verdict{min(held, p.searchPatterns(i, next, quickWidth, held, price, violated)), at, quickWidth}
}

// searchPatterns bounds the value on a machine by a search over its patterns with width states a layer, and
// adds a pattern of more value than the price to the master. Bounds below the floor are not told apart from the
// floor; held is a known upper bound.
func (p *patterns) searchPatterns(i int, next *proposal, width int, held, floor float64, violated *bool) float64 {
	v := p.knapsack(i)
	before := p.work
	out, whole := p.fill(v, p.relax(i, next.duals), width, held, floor)
	p.searched[i] = before - p.work
	if p.scaled.machines[i].supply < 0 {
		p.mostRatio = max(p.mostRatio, float64(out.Best)/whole/p.scaled.prices[i])
	}
	if out.Best > int64(p.scaled.prices[i]*whole) {
		counts := make([]float64, len(out.Counts))
		for k, n := range out.Counts {
			counts[k] = float64(n)
		}
		if p.addPattern(i, v, counts, true) {
			p.recent, *violated = append(p.recent, i), true
		}
	}
	return float64(out.Bound) / whole
}

// refine raises the number of states for the machine with the largest ratio of bound to price, until that ratio
// is known as exactly as it matters. A machine for which mostStates do not suffice is handled with fractional patterns
// from then on. It reports whether the master has new patterns.
func (p *patterns) refine(next *proposal, bounds []float64) (violated bool) {
	p.mostRatio = max(p.mostRatio, 1+looseShare*(p.master.Cost()/p.center.value-1))
	for !p.spent() && !p.late() {
		i, ratio := p.worst(bounds)
		if ratio <= p.mostRatio || next.widths[i] == 0 {
			break
		}
		width, before := next.widths[i]*wider, bounds[i]
		if wider*p.searched[i] > p.work-p.stop {
			break // because the work does not suffice for so many states
		}
		bounds[i] = min(before, p.searchPatterns(i, next, width, before, p.scaled.prices[i]*p.mostRatio, &violated))
		next.widths[i] = width
		if more := p.scaled.prices[i] * p.mostRatio; bounds[i] > more && width*wider > mostStates {
			p.fractional.Set(i)
			r := p.relax(i, next.duals)
			r.Solve()
			return p.addPattern(i, p.knapsack(i), r.Amounts(), false) || violated
		}
	}
	return violated
}

// fill solves the integer knapsack of a machine with width states a layer. top is an upper bound of the value.
// whole is the factor from values to the whole numbers of the outcome.
func (p *patterns) fill(v *knapsack.Knapsack, r *knapsack.Relaxed, width int, top, floor float64) (out knapsack.Outcome, whole float64) {
	r.Solve()
	s := &p.search
	s.Knapsack, s.Width = v, width
	whole = s.Scale(r, top, floor)
	out = s.Run()
	p.work -= out.Work * searchCost
	return out, whole
}

// relax returns the fractional knapsack of a machine.
func (p *patterns) relax(i int, duals []float64) *knapsack.Relaxed {
	v := p.knapsack(i)
	p.work -= int64(len(v.Classes)*len(v.Rows)) * relaxCost
	return v.Relax(duals)
}

// valuesIn converts the duals of a fractional knapsack, as shares of its capacity, into a vector of the search.
func (p *patterns) valuesIn(v *knapsack.Knapsack, shares []float64) []float64 {
	values := make([]float64, len(p.scaled.dims))
	for d, row := range v.Rows {
		for e, dim := range p.scaled.dims {
			if dim == row {
				values[e] = shares[d] / (float64(max(1, v.Room[d])) * float64(v.Units[d]) / p.scaled.unit[e])
			}
		}
	}
	return values
}

// add appends a vector and returns its number. The slice is copied first, because proposals share the vectors
// before it.
func (p *proposal) add(v dualVector) int {
	p.vectors = append(p.vectors[:len(p.vectors):len(p.vectors)], v)
	return len(p.vectors) - 1
}
