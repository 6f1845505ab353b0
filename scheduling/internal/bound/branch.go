package bound

import (
	"cmp"
	"math"
)

// Parted tells plans apart by how many machines they buy that cost at least so much. Whole
// machines are what no worths know of: where it would be best to buy two machines and a half,
// plans with at most two and plans with at least three both cost more, and each of them is
// proven with worths of its own.
type Parted struct {
	// From is the price from which on machines are counted, Domain where: 0 for everywhere.
	From   int64
	Domain int
	// AtMost is how many there are at most in the one case; in the other there are more.
	AtMost int64
	// Fewer and More are the proofs for either case.
	Fewer, More *Assigned
}

// branch is a case, or several that are told apart.
type branch struct {
	*countProposal
	by          kindCount
	number      int64
	fewer, more *branch
}

// leastCaseGain is the share of the bound that the cases have to add.
const leastCaseGain = 5e-4

const (
	// fewestSolves is how often there has to be work for a solution.
	fewestSolves = 8
	// tightly is the share of its price that a machine holds at least to be bought.
	tightly = 1 - 1e-4
	// mostCases bounds how many cases are told apart, and mostCounted up to how many machines it
	// matters that they are whole.
	mostCases, mostCounted = 64, 64
)

// divided tells cases apart while the bound is less than wanted, the one with the least bound
// first. It returns what is known already where nothing is gained.
func (a *assignment) divided(known Assigned, e Effort) Assigned {
	if len(a.market.Supplies) > 0 || a.best == nil {
		return known
	}
	few := a.tight()
	if newRelaxation(a.problem(few)).solver.Work()*usualSteps*fewestSolves > e.Cases {
		return known
	}
	d := &division{assignment: a, choices: a.market.everything(), work: e.Cases}
	root := &branch{countProposal: d.begin(&countProposal{prices: a, few: few, value: a.proven()}, nil)}
	open := []*branch{root}
	wanted := float64(e.Wanted) / a.price
	for cases := 1; !a.late(); {
		least := leastAt(open, func(x *branch) float64 { return x.value })
		x := open[least]
		if x.value >= wanted {
			break
		}
		if x.next != nil {
			x.advance(&d.work)
			continue
		}
		by, number := x.halfway()
		if by.from == 0 || cases == mostCases || x.bought() > mostCounted {
			break
		}
		cases++
		x.by, x.number = by, number
		x.fewer = d.branch(x, count{kindCount: by, number: number})
		x.more = d.branch(x, count{kindCount: by, number: number + 1, least: true})
		open[least] = x.fewer
		open = append(open, x.more)
	}
	out, least, ok := root.prove()
	if !ok || root.fewer == nil || float64(least) < float64(known.Bound)*(1+leastCaseGain) {
		return known
	}
	known.Bound, known.Parted = least, out.Parted
	return known
}

// tight are the machines that hold as much worth as they cost.
func (a *assignment) tight() (out []candidate) {
	for i := range a.machines {
		if len(out) < mostMachines && a.isTight(i) {
			out = append(out, a.candidate(i))
		}
	}
	return out
}

// division is what cases are told apart with.
type division struct {
	*assignment
	choices []Choice
	work    int64
}

// branch is a case of another one.
func (d *division) branch(x *branch, c count) *branch {
	return &branch{countProposal: d.begin(x.countProposal, append(x.counts[:len(x.counts):len(x.counts)], c))}
}

func (d *division) begin(before *countProposal, counts []count) *countProposal {
	return d.among(d.choices, counts).begin(before, counts)
}

// prove turns the cases into whole numbers. It returns the least bound of them.
func (x *branch) prove() (out *Assigned, least int64, ok bool) {
	if x.fewer == nil {
		out := x.prices.certifyCase()
		out.CountMultipliers = x.multipliers
		return &out, out.Bound + owed(x.counts, x.multipliers), out.Bound > 0
	}
	fewer, a, ok := x.fewer.prove()
	if !ok {
		return nil, 0, false
	}
	more, b, ok := x.more.prove()
	return &Assigned{Parted: &Parted{From: x.by.from, Domain: x.by.domain, AtMost: x.number, Fewer: fewer, More: more}}, min(a, b), ok
}

// leastAt is the place of the least of some cases, the first of several.
func leastAt[T any](cases []T, value func(T) float64) (at int) {
	for i, x := range cases {
		if value(x) < value(cases[at]) {
			at = i
		}
	}
	return at
}

// isTight says that a machine holds as much worth as it costs.
func (a *assignment) isTight(i int) bool {
	return a.holds(i, &a.best.vectors[a.best.proof[i]], a.best.worths, math.Inf(1)) >= tightly*a.prices[i]
}

// Divided goes on from a bound by telling cases apart, see [Parted], where that is less than
// wanted and there is work for it.
func (x Assigned) Divided(e Effort) Assigned {
	a := x.rest
	x.rest = nil
	if a == nil || e.Cases <= 0 || x.Bound <= 0 || x.Bound >= cmp.Or(e.CasesWanted, e.Wanted) {
		return x
	}
	return a.divided(x, e)
}

// Where pods are spread over domains, cases are sought for the numbers of pods by domain that the
// best worths were sought for. Each of them has multipliers of its own: what its worths prove holds
// wherever the pods are.

// proven is what the best worths prove, wherever pods are that are spread.
func (a *assignment) proven() float64 {
	if a.shares == nil {
		return a.best.value
	}
	s := *a.shares
	s.assignment = a
	value, _ := s.proven(a.best)
	return value
}

// certifyCase is certify for prices with the multipliers of a case.
func (a *assignment) certifyCase() Assigned {
	if a.shares == nil {
		return a.certify()
	}
	s := *a.shares
	s.assignment, s.best = a, a.best
	s.value, s.multipliers = s.proven(a.best)
	return s.certify()
}
