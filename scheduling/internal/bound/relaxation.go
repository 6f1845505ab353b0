package bound

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/interior"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// relaxation is the linear program that assigns classes to a few machines in fractions.
type relaxation struct {
	scaled   *scaledMarket
	machines []candidate
	late     func() bool
	solver   *interior.Solver
	classes  []int // the classes that some machine admits, as the solver numbers them
}

// newRelaxation states the relaxation for some machines of a market. Classes that none of them admits are left out.
// late reports whether the deadline has passed.
func newRelaxation(sm *scaledMarket, machines []candidate, late func() bool) *relaxation {
	p, classes := program(sm, machines, late)
	return &relaxation{scaled: sm, machines: machines, late: late, solver: interior.New(p), classes: classes}
}

// program states the linear program of [newRelaxation] with the classes that it has.
func program(sm *scaledMarket, chosen []candidate, late func() bool) (p interior.Problem, classes []int) {
	n := len(sm.dims)
	p = interior.Problem{Dims: n, First: []int{0}, Late: late}
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
	for c := range sm.demand {
		if sm.demand[c] == 0 {
			continue
		}
		size := sm.size(c)
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
				k := float64(sm.exact.mostPods(&sm.machines[i], c))
				if (k <= placesThatMatter || sm.scarce.Has(c)) && k*share < 0.99*chosen[o].share || share == 0 {
					q.Places = k / chosen[o].share
				}
			}
			p.Pairs = append(p.Pairs, q)
		}
		if len(p.Pairs) > p.First[len(classes)] {
			classes = append(classes, c)
			p.Demand = append(p.Demand, sm.demand[c])
			p.Sizes = append(p.Sizes, size...)
			p.First = append(p.First, len(p.Pairs))
		}
	}
	return p, classes
}

// solve runs the interior-point method up to a gap within the work. It reports whether the result is good
// enough for a proposal.
func (r *relaxation) solve(gap float64, work *int64) bool {
	price := max(1, r.solver.Work())
	limit := min(mostSteps, *work/price)
	if limit < fewestSteps || r.late() {
		return false
	}
	*work -= int64(r.solver.Run(gap, int(limit))) * price
	return !r.late()
}

// suggestion returns the class duals of the relaxation. A class that none of its machines admits starts with
// its least price per pod on a machine that holds only this class.
func (r *relaxation) suggestion() []float64 {
	duals := make([]float64, len(r.scaled.demand))
	known := model.NewBits(len(duals))
	for i, c := range r.classes {
		known.Set(c)
		duals[c] = max(0, r.solver.Worth(i))
	}
	for c, sellers := range r.scaled.buyableOf() {
		if known.Has(c) || r.scaled.demand[c] == 0 {
			continue
		}
		duals[c] = math.Inf(1)
		for _, i := range sellers {
			duals[c] = min(duals[c], r.scaled.prices[i]/r.scaled.fits.places(r.scaled, i, c))
		}
		if math.IsInf(duals[c], 1) {
			duals[c] = 0
		}
	}
	return duals
}

// suggested returns the resource duals of the relaxation's machines. Values below the share least of the
// machine's price are left out.
func (r *relaxation) suggested(least float64) []dualVector {
	out := make([]dualVector, len(r.machines))
	for o := range r.machines {
		values := slices.Clone(r.solver.Values(o))
		for e, n := range values {
			if r.machines[o].cap[e] <= 0 || n*r.machines[o].cap[e] < least*r.machines[o].price {
				values[e] = 0
			}
		}
		out[o] = r.scaled.vector(values)
	}
	return out
}

// withViolated returns the machines of the relaxation with the violated ones. Machines that the relaxation does not buy
// are dropped where there are too many. It returns nil where no machine is added.
func (r *relaxation) withViolated(violated []int, work int64) []candidate {
	busy := make([]bool, len(r.machines))
	var total float64
	for o := range r.machines {
		total += r.solver.Bought(o) * max(r.machines[o].price, 1e-9)
	}
	kept := 0
	for o := range r.machines {
		busy[o] = r.machines[o].supply >= 0 || r.solver.Bought(o)*r.machines[o].price > 1e-7*total
		if busy[o] {
			kept++
		}
	}
	most := max(r.scaled.affordable(work/nextShare), min(kept+moreMachines, r.scaled.affordable(work)))
	var out []candidate
	room := max(0, most-kept)
	for o := range r.machines {
		if busy[o] || len(violated) < room && o < most-len(violated) {
			out = append(out, r.machines[o])
		}
	}
	before := len(out)
	for _, i := range violated {
		if len(out) >= most || len(out)-before >= max(8, before/2) {
			break
		}
		if !slices.ContainsFunc(out, func(x candidate) bool { return x.machine == i }) {
			out = append(out, r.scaled.candidate(i))
		}
	}
	if len(out) == before {
		return nil
	}
	return out
}

// wanted returns the machines that the relaxation buys.
func (r *relaxation) wanted() (out []candidate) {
	total := 0.0
	for o := range r.machines {
		total += r.solver.Bought(o) * r.machines[o].price
	}
	for o := range r.machines {
		if r.solver.Bought(o)*r.machines[o].price > leastBought*total {
			out = append(out, r.machines[o])
		}
	}
	return out
}

// machineCounts returns the number of machines in the relaxation by kind, one kind for each candidate's price
// and domain.
func (r *relaxation) machineCounts() map[countedKind]float64 {
	out := map[countedKind]float64{}
	for o := range r.machines {
		m := &r.scaled.machines[r.machines[o].machine]
		kind := countedKind{from: m.price, domain: m.domain}
		if _, known := out[kind]; known {
			continue
		}
		sum := 0.0
		for e := range r.machines {
			if kind.has(&r.scaled.machines[r.machines[e].machine]) {
				sum += r.solver.Bought(e)
			}
		}
		out[kind] = sum
	}
	return out
}

// lacksAny reports whether a violated machine is not among those of the relaxation.
func (r *relaxation) lacksAny(violated []int) bool {
	return slices.ContainsFunc(violated, func(i int) bool {
		return !slices.ContainsFunc(r.machines, func(x candidate) bool { return x.machine == i })
	})
}
