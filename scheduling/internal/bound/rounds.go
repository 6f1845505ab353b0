package bound

import (
	"math/big"
	"slices"
)

// search generates rows: it solves the relaxation for a few machines, and adds the machines that its duals
// violate.
func (a *assignment) search(start []*big.Int, e Effort) {
	first, work := a.scaled.starting(start), e.Work
	a.best = a.scaled.makeFeasible(slices.Clone(first.classValues), []dualVector{first})
	chosen := a.rounds(&first, a.scaled.initialMachines(&first, work), &work)
	a.best = a.scaled.improve(a.best)
	if a.best.value*a.scaled.price < float64(e.Wanted) && work < e.Work/2 {
		work = e.Further
		a.rounds(&first, chosen, &work)
		a.best = a.scaled.improve(a.best)
	}
}

// rounds runs at most mostRounds of it and returns the machines of the last one.
func (a *assignment) rounds(start *dualVector, chosen []candidate, work *int64) []candidate {
	for range mostRounds {
		p := newRelaxation(a.scaled, chosen, a.late)
		if !p.solve(looseGap, work) {
			break
		}
		next := a.propose(p, start, 0)
		if !p.lacksAny(next.violated) && p.solve(exactGap, work) {
			next = a.propose(p, start, 0)
			a.best = a.scaled.improve(a.best)
			a.propose(p, start, negligible)
		}
		wider := p.withViolated(next.violated, *work)
		if wider == nil {
			break
		}
		chosen = wider
	}
	return chosen
}

// propose makes the duals of the relaxation feasible and keeps them if they are the best so far. Resource
// values below the share least of their machine's price count as 0.
func (a *assignment) propose(p *relaxation, start *dualVector, least float64) *proposal {
	duals, vectors := p.suggestion(), p.suggested(least)
	snap(duals, vectors, p.machines, least)
	next := a.feasible(duals, append([]dualVector{*start}, vectors...))
	if next.value > a.best.value {
		a.best = next
	}
	return next
}

// feasible makes duals feasible. With few classes it polishes them, too, because exact duals prove plans
// optimal.
func (a *assignment) feasible(duals []float64, vectors []dualVector) *proposal {
	p := a.scaled.makeFeasible(duals, vectors)
	if len(a.scaled.demand) < fewClasses {
		p = a.scaled.improve(p)
	}
	return p
}

// snap moves duals onto the value of the class by a vector, or onto 0, if they are within the share least of
// it. An interior point is never exactly on a face of the polyhedron, and the best duals are.
func snap(duals []float64, vectors []dualVector, chosen []candidate, least float64) {
	most := 0.0
	for _, w := range duals {
		most = max(most, w)
	}
	for c, w := range duals {
		if w < least*most {
			duals[c] = 0
			continue
		}
		for o := range vectors {
			if v := vectors[o].classValues[c]; v < duals[c] && w-v < least*w && chosen[o].users.Has(c) {
				duals[c] = v
			}
		}
	}
}
