package bound

import (
	"cmp"
	"math"
)

// Branched divides all plans by the number of machines that they buy of at least a given price. No dual value
// knows that machines are whole: where the relaxation buys two machines and a half, plans with at most two and
// plans with at least three both cost more, and each branch is proven with duals of its own.
type Branched struct {
	// From is the least price of the machines that are counted, in nano-USD per hour. Domain is their domain, 0
	// for all.
	From   int64
	Domain int
	// AtMost is the largest number of these machines in the branch Fewer; the branch More has at least one
	// more.
	AtMost int64
	// Fewer and More are the proofs of the two branches.
	Fewer, More *Assigned
}

// branchNode is a node of the branch-and-bound tree: a leaf with a bound, or a division into two nodes.
type branchNode struct {
	*countProposal
	by          countedKind
	number      int64
	fewer, more *branchNode
}

// leastCaseGain is the share of the bound that branching must add, because a longer certificate takes longer to
// verify.
const leastCaseGain = 5e-4

const (
	// fewestSolves is the number of interior-point solutions that the work must allow for branching to start.
	fewestSolves = 8
	// tightShare is the share of its price that a machine's value must reach for its constraint to count as
	// tight.
	tightShare = 1 - 1e-4
	// mostCases bounds the leaves of the tree. Above mostCounted machines no count is divided, because a
	// fraction of a machine matters little then.
	mostCases, mostCounted = 64, 64
)

// divided branches on the leaf with the lowest bound while that is less than wanted. It returns the known proof
// where branching gains too little.
func (a *assignment) divided(known Assigned, e Effort) Assigned {
	if len(a.scaled.exact.Supplies) > 0 || a.best == nil {
		return known
	}
	chosen := a.tight()
	if newRelaxation(a.scaled, chosen, a.late).solver.Work()*usualSteps*fewestSolves > e.Cases {
		return known
	}
	d := &branchAndBound{a: a, choices: a.scaled.exact.everything(), work: e.Cases}
	root := &branchNode{countProposal: d.begin(&countProposal{prices: a, chosen: chosen, value: a.proven()}, nil)}
	open := []*branchNode{root}
	wanted := float64(e.Wanted) / a.scaled.price
	for cases := 1; !a.late(); {
		least := leastAt(open, func(x *branchNode) float64 { return x.value })
		x := open[least]
		if x.value >= wanted {
			break
		}
		if x.next != nil {
			x.advance(&d.work)
			continue
		}
		by, number := x.mostFractional()
		if by.from == 0 || cases == mostCases || x.machinesBought() > mostCounted {
			break
		}
		cases++
		x.by, x.number = by, number
		x.fewer = d.branch(x, countBound{countedKind: by, number: number})
		x.more = d.branch(x, countBound{countedKind: by, number: number + 1, least: true})
		open[least] = x.fewer
		open = append(open, x.more)
	}
	out, least, ok := root.prove()
	if !ok || root.fewer == nil || float64(least) < float64(known.Bound)*(1+leastCaseGain) {
		return known
	}
	known.Bound, known.Branched = least, out.Branched
	return known
}

// among returns the assignment for a branch with some bounds on counts. A choice that is dominated may be worth
// buying because it counts: a machine must then be dominated by one that counts in every bound of AtLeast form
// that it counts in.
func (a *assignment) among(choices []Choice, counts []countBound) *assignment {
	sm := *a.scaled
	sm.machines = a.scaled.exact.machinesAmong(choices, counts)
	sm.buyable, sm.slack, sm.classValues = nil, nil, nil
	sm.rate()
	x := *a
	x.scaled = &sm
	return &x
}

// tight returns the machines with a tight constraint, at most mostMachines.
func (a *assignment) tight() (out []candidate) {
	for i := range a.scaled.machines {
		if len(out) < mostMachines && a.isTight(i) {
			out = append(out, a.scaled.candidate(i))
		}
	}
	return out
}

// branchAndBound holds the market with all choices and the remaining work of one tree.
type branchAndBound struct {
	a       *assignment
	choices []Choice
	work    int64
}

// branch returns the child of a node with one more bound on a count.
func (d *branchAndBound) branch(x *branchNode, c countBound) *branchNode {
	return &branchNode{countProposal: d.begin(x.countProposal, append(x.counts[:len(x.counts):len(x.counts)], c))}
}

// begin returns the proposal of a node before anything is solved for it.
func (d *branchAndBound) begin(before *countProposal, counts []countBound) *countProposal {
	return newCountProposal(d.a.among(d.choices, counts), before, counts)
}

// prove turns the tree into whole numbers. least is the lowest bound of its leaves; ok is false where a leaf
// has no proof.
func (x *branchNode) prove() (out *Assigned, least int64, ok bool) {
	if x.fewer == nil {
		out := x.prices.certifyCase()
		out.CountMultipliers = x.multipliers
		return &out, out.Bound + countTerm(x.counts, x.multipliers), out.Bound > 0
	}
	fewer, a, ok := x.fewer.prove()
	if !ok {
		return nil, 0, false
	}
	more, b, ok := x.more.prove()
	return &Assigned{Branched: &Branched{From: x.by.from, Domain: x.by.domain, AtMost: x.number, Fewer: fewer, More: more}}, min(a, b), ok
}

// leastAt returns the index of the case with the lowest value, the first of equal ones.
func leastAt[T any](cases []T, value func(T) float64) (at int) {
	for i, x := range cases {
		if value(x) < value(cases[at]) {
			at = i
		}
	}
	return at
}

// isTight reports whether the value that machine i can hold reaches its price.
func (a *assignment) isTight(i int) bool {
	return a.scaled.mostValue(i, &a.best.vectors[a.best.proof[i]], a.best.duals, math.Inf(1)) >= tightShare*a.scaled.prices[i]
}

// Divided continues a search by branching, see [Branched], where the bound is less than wanted and the effort has
// work for cases.
func (x Assigned) Divided(e Effort) Assigned {
	a := x.rest
	x.rest = nil
	if a == nil || e.Cases <= 0 || x.Bound <= 0 || x.Bound >= cmp.Or(e.CasesWanted, e.Wanted) {
		return x
	}
	return a.divided(x, e)
}

// Where pods are spread over domains, branches are solved for the numbers of pods by domain of the best duals.
// Each branch has multipliers of its own, so its bound holds wherever the pods are.

// proven returns the bound by the best duals, for all numbers of pods by domain where pods are spread.
func (a *assignment) proven() float64 {
	if a.spread == nil {
		return a.best.value
	}
	s := *a.spread
	s.a = a
	value, _ := s.proven(a.best)
	return value
}

// certifyCase is certify for a leaf, with domain multipliers of its own where pods are spread.
func (a *assignment) certifyCase() Assigned {
	if a.spread == nil {
		return a.certify()
	}
	s := *a.spread
	s.a, s.best = a, a.best
	s.value, s.multipliers = s.proven(a.best)
	return s.certify()
}
