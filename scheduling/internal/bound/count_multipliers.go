package bound

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/interior"
)

// countedKind says which machines a count includes: those in a domain, 0 for all, of at least a price.
type countedKind struct {
	from   int64
	domain int
}

// has reports whether the count includes a machine.
func (k countedKind) has(m *machine) bool {
	return m.price >= k.from && (k.domain == 0 || k.domain == m.domain)
}

// countBound bounds the number of machines of a kind from above, or from below if least is set.
type countBound struct {
	countedKind
	number int64
	least  bool // number is a lower bound
}

// countProposal is a proposal for the plans that keep some bounds on counts. The multiplier of an upper bound n
// is added to the price of each machine that it counts, and n times it is subtracted from the bound; the
// multiplier of a lower bound n is subtracted from prices, and n times it is added.
type countProposal struct {
	counts      []countBound
	multipliers []int64
	on          *assignment // the market before multipliers
	prices      *assignment // the market with prices changed by the multipliers
	value       float64     // the bound, in units of the search
	// chosen are the machines that the relaxation buys, next the machines of the next problem; next is nil when
	// the rounds are over.
	chosen, next []candidate
	rounds       int
	// part is the fractional number of machines in the relaxation, by kind: all of its domain that cost at
	// least as much.
	part map[countedKind]float64
}

// surcharge returns the change of a machine's price by the multipliers, in nano-USD per hour; it may be
// negative.
func (m *machine) surcharge(counts []countBound, multipliers []int64) (sum int64) {
	for i, c := range counts {
		switch {
		case !c.has(m):
		case c.least:
			sum -= multipliers[i]
		default:
			sum += multipliers[i]
		}
	}
	return sum
}

// withMultipliers returns the market with the surcharges added to the prices. ok is false where a price
// falls below 0.
func (sm *scaledMarket) withMultipliers(counts []countBound, multipliers []int64) (with *scaledMarket, ok bool) {
	x := *sm
	x.machines, x.prices = slices.Clone(sm.machines), slices.Clone(sm.prices)
	for i := range x.machines {
		m := &x.machines[i]
		if m.price += m.surcharge(counts, multipliers); m.price < 0 {
			return nil, false
		}
		x.prices[i] = float64(m.price) / sm.price
	}
	return &x, true
}

// countTerm returns the constant that the multipliers add to the bound, in nano-USD per hour.
func countTerm(counts []countBound, multipliers []int64) (sum int64) {
	for i, c := range counts {
		if c.least {
			sum += c.number * multipliers[i]
		} else {
			sum -= c.number * multipliers[i]
		}
	}
	return sum
}

// newCountProposal returns the proposal of a branch before its first solution: the proof of the parent holds for it
// with multipliers of 0.
func newCountProposal(a *assignment, before *countProposal, counts []countBound) *countProposal {
	t := &countProposal{
		counts: counts, multipliers: append(slices.Clone(before.multipliers), make([]int64, len(counts)-len(before.multipliers))...),
		on: a, prices: before.prices, value: before.value,
	}
	t.next = a.scaled.withCounted(a.scaled.found(before.chosen), counts)
	return t
}

// advance solves one problem with the next machines, keeps duals and multipliers that improve the bound, and
// chooses the machines of the problem after it.
func (t *countProposal) advance(work *int64) {
	a, chosen := t.on, t.next
	t.next = nil
	p, used := newCountRelaxation(a, chosen, t.counts)
	if !p.solve(countGap, work) {
		return
	}
	multipliers := make([]int64, len(t.counts))
	for i := range t.counts {
		if t.counts[i].excludesAll() {
			multipliers[i] = int64(t.value * a.scaled.price) // more than the value that any machine can hold
		}
	}
	for k, i := range used {
		multiplier := p.solver.LimitDual(k) * a.scaled.price
		if !(multiplier*float64(max(1, t.counts[i].number)) < largestMultiplier) {
			return
		}
		multipliers[i] = int64(multiplier)
	}
	with, ok := a.scaled.withMultipliers(t.counts, multipliers)
	if !ok {
		return
	}
	x := *a
	x.scaled = with
	duals, vectors := p.suggestion(), p.suggested(negligible)
	snap(duals, vectors, chosen, negligible)
	next := with.makeFeasible(duals, append(vectors, t.prices.best.vectors...))
	violated := next.violated
	x.best = with.improve(next)
	if value := x.proven() + float64(countTerm(t.counts, multipliers))/a.scaled.price; value > t.value {
		t.multipliers, t.prices, t.value = multipliers, &x, value
	}
	if p.solver.Residual() <= countResidual {
		t.chosen, t.part = p.wanted(), p.machineCounts()
	}
	if t.rounds++; t.rounds < countRounds && p.lacksAny(violated) {
		t.next = a.scaled.withCounted(p.withViolated(violated, *work), t.counts)
	}
}

// newCountRelaxation states the relaxation with limits for the bounds on counts. used has, by limit, the number of its
// bound.
func newCountRelaxation(a *assignment, chosen []candidate, counts []countBound) (r *relaxation, used []int) {
	problem, classes := program(a.scaled, chosen, a.late)
	problem.Exact = true
	for i, c := range counts {
		l := interior.Limit{Count: float64(c.number) + nearlyWhole}
		if c.least {
			l.Count, l.AtLeast = float64(c.number)-nearlyWhole, true
		}
		for o := range chosen {
			if c.has(&a.scaled.machines[chosen[o].machine]) {
				l.Machines = append(l.Machines, o)
			}
		}
		if len(l.Machines) > 0 {
			problem.Limits, used = append(problem.Limits, l), append(used, i)
		}
	}
	return &relaxation{scaled: a.scaled, machines: chosen, late: a.late, solver: interior.New(problem), classes: classes}, used
}

const (
	// countRounds bounds the rounds in which machines are added for one branch.
	countRounds = 6
	// largestMultiplier bounds a multiplier times its count, in nano-USD per hour, so that sums stay within an
	// int64.
	largestMultiplier = 1e16
	// countGap is the relative gap at which a solution for a branch ends.
	countGap = 1e-6
	// countResidual is the largest primal residual of a solution whose numbers of machines are used.
	// nearlyWhole loosens the bounds on counts, because an interior point needs room inside.
	countResidual, nearlyWhole = 1e-3, 1e-4
)

// excludesAll reports whether the bound allows no machine of its kind.
func (c *countBound) excludesAll() bool { return !c.least && c.number == 0 }

// withCounted drops the candidates that a bound excludes, and adds the cheapest machine of each kind that has
// no candidate.
func (sm *scaledMarket) withCounted(chosen []candidate, counts []countBound) []candidate {
	gone := func(m *machine) bool {
		return slices.ContainsFunc(counts, func(c countBound) bool { return c.excludesAll() && c.has(m) })
	}
	chosen = slices.DeleteFunc(slices.Clone(chosen), func(x candidate) bool { return gone(&sm.machines[x.machine]) })
	for _, c := range counts {
		if slices.ContainsFunc(chosen, func(x candidate) bool { return c.has(&sm.machines[x.machine]) }) {
			continue
		}
		at := -1
		for i := range sm.machines {
			if m := &sm.machines[i]; c.has(m) && !gone(m) && (at < 0 || m.price < sm.machines[at].price) {
				at = i
			}
		}
		if at >= 0 {
			chosen = append(chosen, sm.candidate(at))
		}
	}
	return chosen
}

// machinesBought returns the number of machines in the relaxation, of all domains.
func (t *countProposal) machinesBought() (sum float64) {
	most := map[int]float64{}
	for kind, n := range t.part {
		most[kind.domain] = max(most[kind.domain], n)
	}
	for _, domain := range slices.Sorted(maps.Keys(most)) {
		sum += most[domain]
	}
	return sum
}

// mostFractional chooses the kind to branch on: its count is furthest from a whole number, weighted by the
// least price of its machines. number is the count rounded down; kind.from is 0 where all counts are whole.
func (t *countProposal) mostFractional() (kind countedKind, number int64) {
	most := 0.0
	for k, n := range t.part {
		down := math.Floor(n)
		part := min(n-down, down+1-n)
		if part < leastPartly {
			continue
		}
		weight := part * float64(k.from)
		if weight > most || weight == most && (k.from > kind.from || k.from == kind.from && k.domain < kind.domain) {
			kind, number, most = k, int64(down), weight
		}
	}
	return kind, number
}

// leastPartly is the least distance from a whole number that counts as fractional.
const leastPartly = 1e-3

// leastBought is the share of the relaxation's price that a candidate must contribute to count as bought.
const leastBought = 1e-6
