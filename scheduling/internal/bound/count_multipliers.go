package bound

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/interior"
)

// kindCount is machines that are counted: those in a domain, 0 for everywhere, from a price on.
type kindCount struct {
	from   int64
	domain int
}

// has reports whether a machine is counted.
func (k kindCount) has(m *machine) bool {
	return m.price >= k.from && (k.domain == 0 || k.domain == m.domain)
}

// count is a bound on a number of machines, one way.
type count struct {
	kindCount
	number int64
	least  bool // at least so many, not at most
}

// countProposal is a proposal for plans that keep counts. What a machine costs more for those that
// are at most so many, it may hold more, and the multiplier of as many is lost; what it costs less
// for those that are at least so many is gained as many times.
type countProposal struct {
	counts      []count
	multipliers []int64
	on          *assignment // what is on sale
	prices      *assignment // with the multipliers
	value       float64     // of it all, in units of the search
	// few are machines of which parts are bought, next those to look at; nil where rounds are
	// over.
	few, next []candidate
	rounds    int
	// part is how many machines there are from each price of a machine on in its domain, in
	// parts.
	part map[kindCount]float64
}

// surcharge is what a machine costs more by multipliers; it may be negative.
func (m *machine) surcharge(counts []count, multipliers []int64) (sum int64) {
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

// withMultipliers is the assignment with other prices; ok is false where some are below 0.
func (a *assignment) withMultipliers(counts []count, multipliers []int64) (with *assignment, ok bool) {
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

// owed is what the multipliers come to.
func owed(counts []count, multipliers []int64) (sum int64) {
	for i, c := range counts {
		if c.least {
			sum += c.number * multipliers[i]
		} else {
			sum -= c.number * multipliers[i]
		}
	}
	return sum
}

// begin is a case before anything is solved for it: what is proven for the one that it is part
// of holds for it without further multipliers.
func (a *assignment) begin(before *countProposal, counts []count) *countProposal {
	t := &countProposal{
		counts: counts, multipliers: append(slices.Clone(before.multipliers), make([]int64, len(counts)-len(before.multipliers))...),
		on: a, prices: before.prices, value: before.value,
	}
	t.next = a.counted(a.found(before.few), counts)
	return t
}

// advance looks for worths and multipliers with the machines that are next, and notes which to try
// after them.
func (t *countProposal) advance(work *int64) {
	a, few := t.on, t.next
	t.next = nil
	p, used := a.countProblem(few, t.counts)
	if !a.solve(p.solver, countGap, work) {
		return
	}
	multipliers := make([]int64, len(t.counts))
	for i := range t.counts {
		if t.counts[i].none() {
			multipliers[i] = int64(t.value * a.price) // more than any of them could hold
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
	worths, vectors := a.suggestion(p), a.suggested(p, few, nothing)
	snap(worths, vectors, few, nothing)
	next := x.makeFeasible(worths, append(vectors, t.prices.best.vectors...))
	broken := next.broken
	x.best = x.polish(next)
	if value := x.proven() + float64(owed(t.counts, multipliers))/a.price; value > t.value {
		t.multipliers, t.prices, t.value = multipliers, x, value
	}
	if p.solver.Residual() <= countResidual {
		t.few, t.part = a.wanted(p, few), a.parted(p, few)
	}
	if t.rounds++; t.rounds < countRounds && fresh(few, broken) {
		t.next = a.counted(a.more(p, few, broken, *work), t.counts)
	}
}

// countProblem is the problem of a few machines where there are counts. used are the counts
// that its limits stand for.
func (a *assignment) countProblem(few []candidate, counts []count) (p *relaxation, used []int) {
	problem, classes := a.problem(few)
	problem.Exact = true
	for i, c := range counts {
		l := interior.Limit{Count: float64(c.number) + nearlyWhole}
		if c.least {
			l.Count, l.AtLeast = float64(c.number)-nearlyWhole, true
		}
		for o := range few {
			if c.has(&a.machines[few[o].machine]) {
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
	// countRounds bounds how often machines are added to a case.
	countRounds = 6
	// largestMultiplier is what the multipliers of a count may come to, in nano-USD.
	largestMultiplier = 1e16
	// countGap is the gap at which a run for a case ends.
	countGap = 1e-6
	// countResidual is how far from what is asked for a solution may be that tells of parts of
	// machines, and nearlyWhole what counts are loosened by so that there is one.
	countResidual, nearlyWhole = 1e-3, 1e-4
)

// wanted are the machines that a solved problem buys parts of.
func (a *assignment) wanted(p *relaxation, few []candidate) (out []candidate) {
	total := 0.0
	for o := range few {
		total += p.solver.Bought(o) * few[o].price
	}
	for o := range few {
		if p.solver.Bought(o)*few[o].price > leastBought*total {
			out = append(out, few[o])
		}
	}
	return out
}

// none says that there are no such machines.
func (c *count) none() bool { return !c.least && c.number == 0 }

// counted adds a machine for each count that there is none for, and drops those of which there
// are none.
func (a *assignment) counted(few []candidate, counts []count) []candidate {
	gone := func(m *machine) bool {
		return slices.ContainsFunc(counts, func(c count) bool { return c.none() && c.has(m) })
	}
	few = slices.DeleteFunc(slices.Clone(few), func(x candidate) bool { return gone(&a.machines[x.machine]) })
	for _, c := range counts {
		if slices.ContainsFunc(few, func(x candidate) bool { return c.has(&a.machines[x.machine]) }) {
			continue
		}
		at := -1
		for i := range a.machines {
			if m := &a.machines[i]; c.has(m) && !gone(m) && (at < 0 || m.price < a.machines[at].price) {
				at = i
			}
		}
		if at >= 0 {
			few = append(few, a.candidate(at))
		}
	}
	return few
}

// parted is how many machines of each kind a solved problem has.
func (a *assignment) parted(p *relaxation, few []candidate) map[kindCount]float64 {
	out := map[kindCount]float64{}
	for o := range few {
		m := &a.machines[few[o].machine]
		kind := kindCount{from: m.price, domain: m.domain}
		if _, known := out[kind]; known {
			continue
		}
		sum := 0.0
		for e := range few {
			if kind.has(&a.machines[few[e].machine]) {
				sum += p.solver.Bought(e)
			}
		}
		out[kind] = sum
	}
	return out
}

// bought is how many machines there are.
func (t *countProposal) bought() (sum float64) {
	most := map[int]float64{}
	for kind, n := range t.part {
		most[kind.domain] = max(most[kind.domain], n)
	}
	for _, domain := range slices.Sorted(maps.Keys(most)) {
		sum += most[domain]
	}
	return sum
}

// halfway is the kind of which the number of machines is furthest from a whole one, weighed by
// what they cost at least, and that number rounded down; from is 0 for none.
func (t *countProposal) halfway() (kind kindCount, number int64) {
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

// leastPartly is the least part of a machine that is told apart from none.
const leastPartly = 1e-3

// leastBought is the share of everything that machines cost at least that are bought.
const leastBought = 1e-6
