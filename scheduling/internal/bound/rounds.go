package bound

import (
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/interior"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// search generates rows: it solves the relaxation for a few machines, and adds the machines that its duals
// violate.
func (a *assignment) search(start []*big.Int, e Effort) {
	first, work := a.starting(start), e.Work
	a.best = a.makeFeasible(slices.Clone(first.classValues), []dualVector{first})
	chosen := a.rounds(&first, a.initialMachines(&first, work), &work)
	a.best = a.polish(a.best)
	if a.best.value*a.price < float64(e.Wanted) && work < e.Work/2 {
		work = e.Further
		a.rounds(&first, chosen, &work)
		a.best = a.polish(a.best)
	}
}

// rounds runs at most mostRounds of it and returns the machines of the last one.
func (a *assignment) rounds(start *dualVector, chosen []candidate, work *int64) []candidate {
	for range mostRounds {
		p := newRelaxation(a.problem(chosen))
		if !a.solve(p.solver, looseGap, work) {
			break
		}
		next := a.propose(p, chosen, start, 0)
		if !anyMissing(chosen, next.violated) && a.solve(p.solver, exactGap, work) {
			next = a.propose(p, chosen, start, 0)
			a.best = a.polish(a.best)
			a.propose(p, chosen, start, negligible)
		}
		wider := a.withViolated(p, chosen, next.violated, *work)
		if wider == nil {
			break
		}
		chosen = wider
	}
	return chosen
}

// anyMissing reports whether a violated machine is not among the chosen ones.
func anyMissing(chosen []candidate, violated []int) bool {
	return slices.ContainsFunc(violated, func(i int) bool {
		return !slices.ContainsFunc(chosen, func(x candidate) bool { return x.machine == i })
	})
}

// solve runs the interior-point method up to a gap within the work. It reports whether the result is good
// enough for a proposal.
func (a *assignment) solve(p *interior.Solver, gap float64, work *int64) bool {
	price := max(1, p.Work())
	limit := min(mostSteps, *work/price)
	if limit < fewestSteps || a.late() {
		return false
	}
	*work -= int64(p.Run(gap, int(limit))) * price
	return !a.late()
}

// propose makes the duals of the relaxation feasible and keeps them if they are the best so far. Resource
// values below the share least of their machine's price count as 0.
func (a *assignment) propose(p *relaxation, chosen []candidate, start *dualVector, least float64) *proposal {
	duals, vectors := a.suggestion(p), a.suggested(p, chosen, least)
	snap(duals, vectors, chosen, least)
	next := a.feasible(duals, append([]dualVector{*start}, vectors...))
	if next.value > a.best.value {
		a.best = next
	}
	return next
}

// feasible makes duals feasible. With few classes it polishes them, too, because exact duals prove plans
// optimal.
func (a *assignment) feasible(duals []float64, vectors []dualVector) *proposal {
	p := a.makeFeasible(duals, vectors)
	if len(a.demand) < fewClasses {
		p = a.polish(p)
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

// starting returns the given resource duals as a vector, or the zero vector if there are none.
func (a *assignment) starting(start []*big.Int) dualVector {
	values := make([]float64, len(a.dims))
	if len(start) == a.market.Dims {
		for e, d := range a.dims {
			values[e] = fixed.Float64(start[d]) * a.unit[e] / a.price
		}
	}
	return a.vector(values)
}

// relaxation is the linear program that assigns classes to a few machines in fractions.
type relaxation struct {
	solver  *interior.Solver
	classes []int
}

func newRelaxation(p interior.Problem, classes []int) *relaxation {
	return &relaxation{interior.New(p), classes}
}

// problem states the relaxation for the chosen machines. classes are those that some of them admits.
func (a *assignment) problem(chosen []candidate) (p interior.Problem, classes []int) {
	n := len(a.dims)
	p = interior.Problem{Dims: n, First: []int{0}, Late: a.late}
	limits := make(map[int]int)
	for o := range chosen {
		for _, v := range chosen[o].cap {
			if v <= 0 {
				v = 1 // no class requests it, so its dual goes to 0
			}
			p.Caps = append(p.Caps, v)
		}
		p.Prices = append(p.Prices, chosen[o].price)
		if s := chosen[o].supply; s >= 0 {
			at, known := limits[s]
			if !known {
				at = len(p.Limits)
				limits[s] = at
				p.Limits = append(p.Limits, interior.Limit{Count: chosen[o].count})
			}
			p.Limits[at].Machines = append(p.Limits[at].Machines, o)
		}
	}
	for c := range a.demand {
		if a.demand[c] == 0 {
			continue
		}
		size := a.size(c)
		for o := range chosen {
			if !chosen[o].users.Has(c) {
				continue
			}
			share := 0.0
			for e, v := range size {
				share = max(share, v/p.Caps[o*n+e])
			}
			q := interior.Pair{Class: len(classes), Machine: o}
			if i := chosen[o].machine; i >= 0 {
				k := float64(a.market.mostPods(&a.machines[i], c))
				if (k <= placesThatMatter || a.scarce.Has(c)) && k*share < 0.99 || share == 0 {
					q.Places = k
				}
			}
			p.Pairs = append(p.Pairs, q)
		}
		if len(p.Pairs) > p.First[len(classes)] {
			classes = append(classes, c)
			p.Demand = append(p.Demand, a.demand[c])
			p.Sizes = append(p.Sizes, size...)
			p.First = append(p.First, len(p.Pairs))
		}
	}
	return p, classes
}

// suggestion returns the class duals of the relaxation. A class that none of its machines admits starts with
// its least price per pod on a machine that holds only this class.
func (a *assignment) suggestion(p *relaxation) []float64 {
	duals := make([]float64, len(a.demand))
	known := model.NewBits(len(duals))
	for i, c := range p.classes {
		known.Set(c)
		duals[c] = max(0, p.solver.Worth(i))
	}
	for c, sellers := range a.buyableOf() {
		if known.Has(c) || a.demand[c] == 0 {
			continue
		}
		duals[c] = math.Inf(1)
		for _, i := range sellers {
			duals[c] = min(duals[c], a.prices[i]/a.fits.places(a, i, c))
		}
		if math.IsInf(duals[c], 1) {
			duals[c] = 0
		}
	}
	return duals
}

// suggested returns the resource duals of the relaxation's machines. Values below the share least of the
// machine's price are left out.
func (a *assignment) suggested(p *relaxation, chosen []candidate, least float64) []dualVector {
	out := make([]dualVector, len(chosen))
	for o := range chosen {
		values := slices.Clone(p.solver.Values(o))
		for e, n := range values {
			if chosen[o].cap[e] <= 0 || n*chosen[o].cap[e] < least*chosen[o].price {
				values[e] = 0
			}
		}
		out[o] = a.vector(values)
	}
	return out
}

// withViolated returns the chosen machines with the violated ones. Machines that the relaxation does not buy
// are dropped where there are too many. It returns nil where no machine is added.
func (a *assignment) withViolated(p *relaxation, chosen []candidate, violated []int, work int64) []candidate {
	busy := make([]bool, len(chosen))
	var total float64
	for o := range chosen {
		total += p.solver.Bought(o) * max(chosen[o].price, 1e-9)
	}
	kept := 0
	for o := range chosen {
		busy[o] = chosen[o].supply >= 0 || p.solver.Bought(o)*chosen[o].price > 1e-7*total
		if busy[o] {
			kept++
		}
	}
	most := max(a.affordable(work/nextShare), min(kept+moreMachines, a.affordable(work)))
	var out []candidate
	room := max(0, most-kept)
	for o := range chosen {
		if busy[o] || len(violated) < room && o < most-len(violated) {
			out = append(out, chosen[o])
		}
	}
	before := len(out)
	for _, i := range violated {
		if len(out) >= most || len(out)-before >= max(8, before/2) {
			break
		}
		if !slices.ContainsFunc(out, func(x candidate) bool { return x.machine == i }) {
			out = append(out, a.candidate(i))
		}
	}
	if len(out) == before {
		return nil
	}
	return out
}
