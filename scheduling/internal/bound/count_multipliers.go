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

// withMultipliers returns the assignment with the surcharges added to the prices. ok is false where a price
// falls below 0.
func (a *assignment) withMultipliers(counts []countBound, multipliers []int64) (with *assignment, ok bool) {
	x := *a
	x.machines, x.prices = slices.Clone(a.machines), slices.Clone(a.prices)
	for i := range x.machines {
		m := &x.machines[i]
		if m.price += m.surcharge(counts, multipliers); m.price < 0 {
			return nil, false
		}
		x.prices[i] = float64(m.price) / a.price
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

// begin returns the proposal of a branch before its first solution: the proof of the parent holds for it with
// multipliers of 0.
func (a *assignment) begin(before *countProposal, counts []countBound) *countProposal {
	t := &countProposal{
		counts: counts, multipliers: append(slices.Clone(before.multipliers), make([]int64, len(counts)-len(before.multipliers))...),
		on: a, prices: before.prices, value: before.value,
	}
	t.next = a.withCounted(a.found(before.chosen), counts)
	return t
}

// advance solves one problem with the next machines, keeps duals and multipliers that improve the bound, and
// chooses the machines of the problem after it.
func (t *countProposal) advance(work *int64) {
	a, chosen := t.on, t.next
	t.next = nil
	p, used := a.countProblem(chosen, t.counts)
	if !a.solve(p.solver, countGap, work) {
		return
	}
	multipliers := make([]int64, len(t.counts))
	for i := range t.counts {
		if t.counts[i].excludesAll() {
			multipliers[i] = int64(t.value * a.price) // more than the value that any machine can hold
		}
	}
	for k, i := range used {
		multiplier := p.solver.LimitDual(k) * a.price
		if !(multiplier*float64(max(1, t.counts[i].number)) < largestMultiplier) {
			return
		}
		multipliers[i] = int64(multiplier)
	}
	x, ok := a.withMultipliers(t.counts, multipliers)
	if !ok {
		return
	}
	duals, vectors := a.suggestion(p), a.suggested(p, chosen, negligible)
	snap(duals, vectors, chosen, negligible)
	next := x.makeFeasible(duals, append(vectors, t.prices.best.vectors...))
	violated := next.violated
	x.best = x.polish(next)
	if value := x.proven() + float64(countTerm(t.counts, multipliers))/a.price; value > t.value {
		t.multipliers, t.prices, t.value = multipliers, x, value
	}
	if p.solver.Residual() <= countResidual {
		t.chosen, t.part = a.wanted(p, chosen), a.machineCounts(p, chosen)
	}
	if t.rounds++; t.rounds < countRounds && anyMissing(chosen, violated) {
		t.next = a.withCounted(a.withViolated(p, chosen, violated, *work), t.counts)
	}
}

// countProblem states the relaxation with limits for the bounds on counts. used has, by limit, the number of
// its bound.
func (a *assignment) countProblem(chosen []candidate, counts []countBound) (p *relaxation, used []int) {
	problem, classes := a.problem(chosen)
	problem.Exact = true
	for i, c := range counts {
		l := interior.Limit{Count: float64(c.number) + nearlyWhole}
		if c.least {
			l.Count, l.AtLeast = float64(c.number)-nearlyWhole, true
		}
		for o := range chosen {
			if c.has(&a.machines[chosen[o].machine]) {
				l.Machines = append(l.Machines, o)
			}
		}
		if len(l.Machines) > 0 {
			problem.Limits, used = append(problem.Limits, l), append(used, i)
		}
	}
	return newRelaxation(problem, classes), used
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

// wanted returns the machines that the relaxation buys.
func (a *assignment) wanted(p *relaxation, chosen []candidate) (out []candidate) {
	total := 0.0
	for o := range chosen {
		total += p.solver.Bought(o) * chosen[o].price
	}
	for o := range chosen {
		if p.solver.Bought(o)*chosen[o].price > leastBought*total {
			out = append(out, chosen[o])
		}
	}
	return out
}

// excludesAll reports whether the bound allows no machine of its kind.
func (c *countBound) excludesAll() bool { return !c.least && c.number == 0 }

// withCounted drops the candidates that a bound excludes, and adds the cheapest machine of each kind that has
// no candidate.
func (a *assignment) withCounted(chosen []candidate, counts []countBound) []candidate {
	gone := func(m *machine) bool {
		return slices.ContainsFunc(counts, func(c countBound) bool { return c.excludesAll() && c.has(m) })
	}
	chosen = slices.DeleteFunc(slices.Clone(chosen), func(x candidate) bool { return gone(&a.machines[x.machine]) })
	for _, c := range counts {
		if slices.ContainsFunc(chosen, func(x candidate) bool { return c.has(&a.machines[x.machine]) }) {
			continue
		}
		at := -1
		for i := range a.machines {
			if m := &a.machines[i]; c.has(m) && !gone(m) && (at < 0 || m.price < a.machines[at].price) {
				at = i
			}
		}
		if at >= 0 {
			chosen = append(chosen, a.candidate(at))
		}
	}
	return chosen
}

// machineCounts returns the number of machines in the relaxation by kind, one kind for each candidate's price
// and domain.
func (a *assignment) machineCounts(p *relaxation, chosen []candidate) map[countedKind]float64 {
	out := map[countedKind]float64{}
	for o := range chosen {
		m := &a.machines[chosen[o].machine]
		kind := countedKind{from: m.price, domain: m.domain}
		if _, known := out[kind]; known {
			continue
		}
		sum := 0.0
		for e := range chosen {
			if kind.has(&a.machines[chosen[e].machine]) {
				sum += p.solver.Bought(e)
			}
		}
		out[kind] = sum
	}
	return out
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
