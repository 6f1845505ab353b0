package bound

import (
	"cmp"
	"math"
	"slices"
)

// parting is what cases are told apart with.
type parting struct {
	// all is everything on sale that could matter, choices the same as they are offered, and
	// alike the same with alike classes merged.
	all, alike *assignment
	choices    []Choice
	kept       map[int][]int // see keptFrom
	merged     []int         // by class: the merged one; nil for none
	share      []float64     // by class: what it asks for of what its merged one does
	cuts       []*cut
	work       int64
	dearest    float64 // what no case is worth more than
	growth     int64   // work for telling cases apart by cuts alone
}

const (
	// caseSteps is how finely merging tells apart what pods pay for, beside where they are
	// cheapest.
	caseSteps = 8
	// mostTimes is how many times the bound no case is worth more than.
	mostTimes = 4
	// caseRounds bounds how often a case is solved, with mostFew machines.
	caseRounds, mostFew = 6, 24
	// caseGap is the gap at which a solution of a case ends.
	caseGap = 1e-5
	// nearlyBought is the share of its price that a machine may lack to be one that a case of
	// the case begins with, and broken the share that it holds more than it costs to join.
	nearlyBought, broken = 1e-3, 3e-3
)

func (a *assignment) divide(work int64) *parting {
	d := &parting{work: work, growth: work, dearest: mostTimes * a.best.value}
	d.all, d.choices = a.everywhere()
	a.best.used()
	common := a.vector(a.commonValues())
	c, merged := a.coarse(&common, caseSteps, a.cheapestOf())
	if c == nil {
		d.alike = d.all
		return d
	}
	c.keep(a.dear())
	d.alike, d.merged = c.with(d.all.mergedMachines(merged, len(c.demand))), merged
	d.alike.loose = true
	whole := c.vector(d.narrowed(common.values))
	d.share = make([]float64, len(merged))
	for k, m := range merged {
		if d.share[k] = 1; whole.worths[m] > 0 {
			d.share[k] = common.worths[k] / whole.worths[m]
		}
	}
	return d
}

// root is all plans, with what is proven of them.
func (d *parting) root(a *assignment) *twig {
	x := &twig{machines: d.amongRows(nil)}
	for i := range a.machines {
		if !a.isTight(i) {
			continue
		}
		at := slices.IndexFunc(x.machines, func(k int) bool {
			m := &d.all.machines[k]
			return m.price == a.machines[i].price && slices.Equal(m.cap, a.machines[i].cap) && slices.Equal(m.users, a.machines[i].users)
		})
		if at >= 0 && len(x.few) < mostFew {
			x.few = append(x.few, x.machines[at])
		}
	}
	d.cuts = append(d.cuts, d.newCut(a.best.worths, a.best.vectors, nil, nil))
	d.weigh(x)
	return x
}

// cheapestOf says for each class on which of the machines that are bought it costs least.
func (a *assignment) cheapestOf() []int {
	out, least := make([]int, len(a.demand)), make([]float64, len(a.demand))
	for k := range least {
		least[k] = math.Inf(1)
	}
	for i := range a.machines {
		if !a.isTight(i) {
			continue
		}
		v := &a.best.vectors[a.best.proof[i]]
		a.machines[i].users.Each(func(k int) {
			if v.worths[k] < least[k] {
				out[k], least[k] = i+1, v.worths[k]
			}
		})
	}
	return out
}

// commonValues are the means of all vectors.
func (a *assignment) commonValues() []float64 {
	values := make([]float64, len(a.dims))
	for _, v := range a.best.vectors {
		for e, n := range v.values {
			values[e] += n / float64(len(a.best.vectors))
		}
	}
	return values
}

func (a *assignment) candidates(numbers []int) (out []candidate) {
	for _, i := range numbers {
		out = append(out, a.candidate(i))
	}
	return out
}

// solve looks for the best worths for a case by itself, which make another cut for all of them.
func (d *parting) solve(x *twig) {
	x.done = true
	a := d.alike
	few := a.counted(a.candidates(x.few), x.counts)
	p, used := a.countProblem(few, x.counts)
	if !a.solve(p, caseGap, &d.work) {
		return
	}
	tolls := make([]int64, len(x.counts))
	for i := range x.counts {
		if x.counts[i].none() {
			tolls[i] = int64(d.dearest * a.price)
		}
	}
	for k, i := range used {
		toll := p.s[p.limits[k].pi] * a.price
		if !(toll*float64(max(1, x.counts[i].number)) < dearestTolls) {
			return
		}
		tolls[i] = int64(toll)
	}
	c := d.cutOf(p, few, x.counts, tolls)
	d.cuts = append(d.cuts, c)
	d.weigh(x)
	x.few = x.few[:0:0]
	bought := []int(nil)
	for o := range few {
		x.few = append(x.few, few[o].machine)
		if p.s[p.budget+o] < nearlyBought*few[o].price {
			bought = append(bought, few[o].machine)
		}
	}
	wider := d.wider(x, c)
	if p.astray <= countAstray {
		x.part = a.partedBy(p, few)
	}
	if x.rounds++; len(wider) > 0 && x.rounds < caseRounds {
		x.few, x.done = append(x.few, wider...), false
	} else if p.astray <= countAstray {
		x.few = bought
	}
}

// wider are machines that hold more than they cost by a cut and are not among the few, those
// first that hold most.
func (d *parting) wider(x *twig, c *cut) (out []int) {
	for _, i := range x.machines {
		if c.holds[i] > c.price(d.all, i)*(1+broken) && !slices.Contains(x.few, i) {
			out = append(out, i)
		}
	}
	over := func(i int) float64 { return c.holds[i] / max(c.price(d.all, i), 1e-300) }
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(over(j), over(i)) })
	return out[:min(len(out), max(0, mostFew-len(x.few)))]
}
