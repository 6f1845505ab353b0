package bound

import (
	"math"
)

// twig is a case, or several that are told apart.
type twig struct {
	counts   []count
	machines []int // that matter, of everything on sale
	few      []int // those of which parts may be bought, for a solution
	value    float64
	weights  []float64 // of the cuts that prove the value
	seen     int       // how many cuts there were
	rounds   int
	done     bool
	// part and mix are how many machines there are from each price on, in parts: as solved,
	// and as far as cuts tell.
	part, mix map[int64]float64
}

// byRows tells cases apart while the bound is less than wanted, the one with the least bound
// first, by rows that hold in all of them: worths found for one say something of every other.
// Those that are told apart to find rows are not yet the ones that prove most.
// It returns what is known already where nothing is gained.
func (a *assignment) byRows(known Assigned, work, wanted int64) Assigned {
	if len(a.market.Supplies) > 0 || a.best == nil || a.many() {
		return known
	}
	d := a.divide(work)
	root := d.root(a)
	if newInterior(d.alike.problem(d.alike.candidates(root.few))).work()*usualSteps*fewestSolves > work {
		return known
	}
	open := []*twig{root}
	for cases := 1; !a.late() && d.work > 0; {
		at := leastAt(open, func(x *twig) float64 { return x.value })
		x := open[at]
		if x.seen < len(d.cuts) {
			d.weigh(x)
			continue
		}
		if x.value*a.price >= float64(wanted) {
			break
		}
		if !x.done {
			d.solve(x)
			continue
		}
		by := d.halfway(x, float64(wanted)/a.price)
		if by.from == 0 || cases == mostCases || mostOf(x.part) > mostWithSmall {
			break
		}
		cases++
		counts := by.counts()
		open[at] = d.twig(x, counts[0])
		open = append(open, d.twig(x, counts[1]))
	}
	d.work = max(0, d.work) + work/moreWork
	return d.grown(known, root.few, float64(wanted)/a.price, a.late)
}

// moreWork says how much more work there is for cases in which the cuts do not do, one in so many
// parts of that for cuts.
const moreWork = 2

// grown proves what can be proven by all cuts.
func (d *parting) grown(known Assigned, few []int, wanted float64, late func() bool) Assigned {
	root := d.grow(few, wanted, late)
	p := &caseProof{parting: d, whole: make([]*wholeCut, len(d.cuts))}
	out, least, ok := p.proof(root)
	if !ok || float64(least) < float64(known.Bound)*(1+leastCaseGain) {
		return known
	}
	p.number(out)
	known.Bound, known.Rows, known.Cases = least, p.rows, out
	return known
}

// many says that so many machines are bought that it hardly matters that they are whole, even if
// all of them were the dearest that are.
func (a *assignment) many() bool {
	dearest := 0.0
	for i, price := range a.prices {
		if price > dearest && a.isTight(i) {
			dearest = price
		}
	}
	return a.best.value > mostCounted*dearest
}

// isTight says that a machine holds as much worth as it costs.
func (a *assignment) isTight(i int) bool {
	return a.holds(i, &a.best.vectors[a.best.proof[i]], a.best.worths, math.Inf(1)) >= tightly*a.prices[i]
}

// twig is a case of another one. What is proven for that holds for it as well.
func (d *parting) twig(x *twig, c count) *twig {
	y := &twig{
		counts: append(x.counts[:len(x.counts):len(x.counts)], c), few: x.few, machines: x.machines,
		value: x.value, weights: x.weights,
	}
	if c.least {
		y.machines = d.amongRows(y.counts)
	}
	d.weigh(y)
	return y
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

// mostOf is the most of some numbers of machines from prices on, which is how many there are.
func mostOf(numbers map[int64]float64) (most float64) {
	for _, n := range numbers {
		most = max(most, n)
	}
	return most
}
