package bound

import (
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/interior"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// search alternates between solving for a few machines and looking for machines that
// hold too much worth then, which join the few.
func (a *assignment) search(start []*big.Int, e Effort) {
	first, work := a.starting(start), e.Work
	a.best = a.makeFeasible(slices.Clone(first.worths), []vector{first})
	few := a.rounds(&first, a.few(&first, work), &work)
	a.best = a.polish(a.best)
	if a.best.value*a.price < float64(e.Wanted) && work < e.Work/2 {
		work = e.Further
		a.rounds(&first, few, &work)
		a.best = a.polish(a.best)
	}
}

// rounds returns the last few machines.
func (a *assignment) rounds(start *vector, few []candidate, work *int64) []candidate {
	for range mostRounds {
		p := newRelaxation(a.problem(few))
		if !a.solve(p.solver, roughly, work) {
			break
		}
		next := a.propose(p, few, start, 0)
		if !fresh(few, next.broken) && a.solve(p.solver, exactly, work) {
			next = a.propose(p, few, start, 0)
			a.best = a.polish(a.best)
			a.propose(p, few, start, nothing)
		}
		wider := a.more(p, few, next.broken, *work)
		if wider == nil {
			break
		}
		few = wider
	}
	return few
}

// fresh reports whether machines broke that are not among the few.
func fresh(few []candidate, broken []int) bool {
	return slices.ContainsFunc(broken, func(i int) bool {
		return !slices.ContainsFunc(few, func(x candidate) bool { return x.machine == i })
	})
}

// solve takes the problem to a gap, as far as the work allows. It reports whether it
// came far enough for a proposal.
func (a *assignment) solve(p *interior.Solver, gap float64, work *int64) bool {
	price := max(1, p.Work())
	limit := min(mostSteps, *work/price)
	if limit < fewestSteps || a.late() {
		return false
	}
	*work -= int64(p.Run(gap, int(limit))) * price
	return !a.late()
}

// propose settles what the problem says and remembers the best. Values below a share of
// their machine's price count as 0.
func (a *assignment) propose(p *relaxation, few []candidate, start *vector, least float64) *proposal {
	worths, vectors := a.suggestion(p), a.suggested(p, few, least)
	snap(worths, vectors, few, least)
	next := a.settled(worths, append([]vector{*start}, vectors...))
	if next.value > a.best.value {
		a.best = next
	}
	return next
}

// settled settles worths and, where there are so few classes that it takes no time,
// polishes them: what is exact proves plans optimal.
func (a *assignment) settled(worths []float64, vectors []vector) *proposal {
	p := a.makeFeasible(worths, vectors)
	if len(a.demand) < fewClasses {
		p = a.polish(p)
	}
	return p
}

// snap moves worths onto what the vectors say or onto 0, if they are that near. An
// interior point is never quite on an edge, and the best worths are.
func snap(worths []float64, vectors []vector, few []candidate, least float64) {
	most := 0.0
	for _, w := range worths {
		most = max(most, w)
	}
	for c, w := range worths {
		if w < least*most {
			worths[c] = 0
			continue
		}
		for o := range vectors {
			if v := vectors[o].worths[c]; v < worths[c] && w-v < least*w && few[o].users.Has(c) {
				worths[c] = v
			}
		}
	}
}

// starting is the vector of the start, or one that values every resource a little.
func (a *assignment) starting(start []*big.Int) vector {
	values := make([]float64, len(a.dims))
	if len(start) == a.market.Dims {
		for e, d := range a.dims {
			values[e] = fixed.Float64(start[d]) * a.unit[e] / a.price
		}
	}
	return a.vector(values)
}

// relaxation is the assignment of some classes to a few machines.
type relaxation struct {
	solver  *interior.Solver
	classes []int
}

func newRelaxation(p interior.Problem, classes []int) *relaxation {
	return &relaxation{interior.New(p), classes}
}

// problem sets up the relaxation for a few machines and the classes that may use any of them.
func (a *assignment) problem(few []candidate) (p interior.Problem, classes []int) {
	n := len(a.dims)
	p = interior.Problem{Dims: n, First: []int{0}, Late: a.late}
	limits := make(map[int]int)
	for o := range few {
		for _, v := range few[o].cap {
			if v <= 0 {
				v = 1 // nobody asks for it; its value goes to 0
			}
			p.Caps = append(p.Caps, v)
		}
		p.Prices = append(p.Prices, few[o].price)
		if s := few[o].supply; s >= 0 {
			at, known := limits[s]
			if !known {
				at = len(p.Limits)
				limits[s] = at
				p.Limits = append(p.Limits, interior.Limit{Count: few[o].count})
			}
			p.Limits[at].Machines = append(p.Limits[at].Machines, o)
		}
	}
	for c := range a.demand {
		if a.demand[c] == 0 {
			continue
		}
		size := a.size(c)
		for o := range few {
			if !few[o].users.Has(c) {
				continue
			}
			share := 0.0
			for e, v := range size {
				share = max(share, v/p.Caps[o*n+e])
			}
			q := interior.Pair{Class: len(classes), Machine: o}
			if i := few[o].machine; i >= 0 {
				k := float64(a.market.alone(&a.machines[i], c))
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

// suggestion is what the solved problem says that the classes are worth. Those that
// are in none of its machines begin at what they cost when they are alone.
func (a *assignment) suggestion(p *relaxation) []float64 {
	worths := make([]float64, len(a.demand))
	known := model.NewBits(len(worths))
	for i, c := range p.classes {
		known.Set(c)
		worths[c] = max(0, p.solver.Worth(i))
	}
	for c, sellers := range a.usersOf() {
		if known.Has(c) || a.demand[c] == 0 {
			continue
		}
		worths[c] = math.Inf(1)
		for _, i := range sellers {
			worths[c] = min(worths[c], a.prices[i]/a.fits.places(a, i, c))
		}
		if math.IsInf(worths[c], 1) {
			worths[c] = 0
		}
	}
	return worths
}

// suggested are the vectors of the solved problem, values below a share of their
// machine's price left out.
func (a *assignment) suggested(p *relaxation, few []candidate, least float64) []vector {
	out := make([]vector, len(few))
	for o := range few {
		values := slices.Clone(p.solver.Values(o))
		for e, n := range values {
			if few[o].cap[e] <= 0 || n*few[o].cap[e] < least*few[o].price {
				values[e] = 0
			}
		}
		out[o] = a.vector(values)
	}
	return out
}

// more adds broken machines to the few, and leaves out such as nobody wants while
// there are too many. It returns nil where nothing changes.
func (a *assignment) more(p *relaxation, few []candidate, broken []int, work int64) []candidate {
	busy := make([]bool, len(few))
	var total float64
	for o := range few {
		total += p.solver.Bought(o) * max(few[o].price, 1e-9)
	}
	kept := 0
	for o := range few {
		busy[o] = few[o].supply >= 0 || p.solver.Bought(o)*few[o].price > 1e-7*total
		if busy[o] {
			kept++
		}
	}
	most := max(a.affordable(work/nextShare), min(kept+moreMachines, a.affordable(work)))
	var out []candidate
	room := max(0, most-kept)
	for o := range few {
		if busy[o] || len(broken) < room && o < most-len(broken) {
			out = append(out, few[o])
		}
	}
	before := len(out)
	for _, i := range broken {
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
