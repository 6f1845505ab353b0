package bound

import (
	"cmp"
	"math"
	"slices"
)

// bough is a case, or several that are told apart, by what cuts say of machines alone.
type bough struct {
	counts []count
	cuts   []int // those that matter
	basic  []int // the basic variables of the dictionary
	value  float64
	// weights are those of cuts, and tolls those of counts, that prove the value.
	weights []weight
	tolls   []float64
	// weighed says that all cuts were looked at, and enriched that some were added for it.
	weighed, enriched bool
	// mix is how many machines there are from each price on, in parts, as far as cuts tell, and
	// solved the same as the case was solved by itself; nil for not at all.
	mix, solved map[int64]float64

	by          half
	fewer, more *bough
}

// weight is how often a cut counts.
type weight struct {
	cut   int
	times float64
}

const (
	// mostBoughs bounds how many cases are told apart by cuts alone, and mostWeighings how often
	// cuts are added to a case.
	mostBoughs, mostWeighings = 1024, 20
	// mostCounts bounds how often plans of one case are told apart.
	mostCounts = 200
	// firstEnriched is how many cases there are when cuts are added for one for the first time, and
	// enrichedEvery how many there are more each time after that. They are added, too, for one that
	// cannot be told apart.
	firstEnriched, enrichedEvery = 4, 16
	// unmet is what a case is worth that no plan is of, as a multiple of what is wanted, and
	// dearestUnmet bounds the prices that show it, as a multiple of what they add.
	unmet, dearestUnmet = 1.01, 1e3
	// straying is how far from the value prices may be, as a share of what no case is worth more than.
	straying = 1e-6
)

// grow tells cases apart by cuts alone while the bound is less than wanted, the one with the least
// bound first.
func (d *parting) grow(few []int, wanted float64, late func() bool) *bough {
	root := &bough{}
	open := []*bough{root}
	for cases, next := 1, firstEnriched; d.growth > 0 && !late(); {
		at := leastAt(open, func(x *bough) float64 { return x.value })
		x := open[at]
		if x.value >= wanted {
			break
		}
		t := d.dictionary(x)
		if !x.weighed {
			d.weighAll(x, t, wanted)
			continue
		}
		if cases == mostBoughs || len(x.counts) == mostCounts || mostOf(x.mix) > mostWithSmall {
			break
		}
		due := cases >= next && !x.enriched
		if due {
			next = cases + enrichedEvery
		}
		if due && d.enrich(x, t, few) || !d.split(x, t, wanted) && d.enrich(x, t, few) {
			for _, y := range open {
				y.weighed = false
			}
			continue
		}
		if x.fewer == nil {
			break
		}
		cases++
		open[at] = x.fewer
		open = append(open, x.more)
	}
	return root
}

// ofCut is the variable of the row of a cut.
func ofCut(j int) int { return -1 - 2*j }

// ofCount is the variable of the row of a count.
func ofCount(k int) int { return -2 - 2*k }

// has is what a machine has of the row of a variable.
func (d *parting) has(counts []count, variable, i int) float64 {
	if at := -1 - variable; at%2 == 0 {
		return d.part(at/2, i)
	}
	return counts[(-2-variable)/2].sign(d.choices[i].Price)
}

// part is what a machine holds of a cut, as a share of what all pods are worth.
func (d *parting) part(j, i int) float64 {
	c := d.cuts[j]
	return d.held(c, i) / c.sum
}

// sign is 1 for a machine that is counted, -1 where there are at most so many, and 0 for others.
func (c *count) sign(price int64) float64 {
	switch {
	case price < c.from:
		return 0
	case c.least:
		return 1
	default:
		return -1
	}
}

// wanted is how many machines there are at least, or minus how many there are at most.
func (c *count) wanted() float64 {
	if c.least {
		return float64(c.number)
	}
	return -float64(c.number)
}

// dictionary is that of a case, as it was when it was left, if that can be told.
func (d *parting) dictionary(x *bough) *dictionary {
	t := d.unsolved(x)
	if !t.into(x.basic) {
		t = d.unsolved(x)
	}
	return t
}

// unsolved is the dictionary of a case in which there are no machines.
func (d *parting) unsolved(x *bough) *dictionary {
	t := newDictionary(d.amongRows(x.counts), d.all.prices)
	for _, j := range x.cuts {
		d.cut(t, j)
	}
	for k := range x.counts {
		d.count(t, x.counts, k)
	}
	return t
}

// cut adds the row of a cut.
func (d *parting) cut(t *dictionary, j int) {
	t.row(ofCut(j), 1, func(i int) float64 { return d.part(j, i) })
}

// count adds the row of a count.
func (d *parting) count(t *dictionary, counts []count, k int) {
	c := &counts[k]
	t.row(ofCount(k), c.wanted(), func(i int) float64 { return c.sign(d.choices[i].Price) })
}

// weighAll solves a case by all cuts.
func (d *parting) weighAll(x *bough, t *dictionary, wanted float64) {
	anew := false
	for range mostWeighings {
		short := t.solve()
		if !d.take(x, t, short, wanted) {
			if anew {
				break
			}
			anew = true
			d.growth -= t.work
			t = d.unsolved(x)
			continue
		}
		if short >= 0 || x.value >= wanted {
			break
		}
		missed := d.lacking(t)
		if len(missed) == 0 {
			break
		}
		for _, j := range missed {
			d.cut(t, j)
		}
	}
	x.weighed = true
	d.growth -= t.work
}

// take notes what a dictionary tells of a case. It reports false where rounding errors have made
// it useless, which shows in prices that do not come to the value.
func (d *parting) take(x *bough, t *dictionary, short int, wanted float64) (ok bool) {
	var variable int
	var price float64
	if short >= 0 && t.cells[short][0] < -1/dearestUnmet {
		variable, price = t.basic[short], t.lift(short, max(0, min(wanted*unmet, d.dearest)-t.costs[0]))
	}
	var cuts []int
	var weights []weight
	tolls, sum := make([]float64, len(x.counts)), 0.0
	pay := func(v int, price float64) {
		switch at := -1 - v; {
		case v >= 0 || price == 0:
		case at%2 == 0:
			cuts, weights = append(cuts, at/2), append(weights, weight{cut: at / 2, times: price / d.cuts[at/2].sum})
			sum += price
		default:
			c := &x.counts[(-2-v)/2]
			tolls[(-2-v)/2] = price
			sum += price * c.wanted()
		}
	}
	for k, v := range t.zero {
		pay(v, t.costs[k+1])
	}
	pay(variable, price)
	if !(math.Abs(sum-t.costs[0]) <= straying*d.dearest) {
		x.basic = nil
		return false
	}
	x.basic, x.mix = slices.Clone(t.basic), map[int64]float64{}
	t.each(func(i int, n float64) { x.mix[d.choices[i].Price] += n })
	sumFrom(x.mix)
	if sum > x.value || x.weights == nil {
		slices.SortFunc(weights, func(a, b weight) int { return cmp.Compare(a.cut, b.cut) })
		slices.Sort(cuts)
		x.value, x.weights, x.tolls, x.cuts = sum, weights, tolls, cuts
	}
	return true
}

// lacking are the cuts that some machines do not meet: those of which most is missing.
func (d *parting) lacking(t *dictionary) (out []int) {
	had := make([]float64, len(d.cuts))
	t.each(func(i int, n float64) {
		for j := range had {
			had[j] += n * d.part(j, i)
		}
	})
	for j, n := range had {
		if n < 1-leastMissed && !slices.Contains(t.zero, ofCut(j)) && !slices.Contains(t.basic, ofCut(j)) {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(had[i], had[j]) })
	return out[:min(len(out), mostMissed)]
}

// split tells a case apart, so that much is proven of both halves. It reports false where there is no
// way to.
func (d *parting) split(x *bough, t *dictionary, wanted float64) bool {
	most := math.Inf(-1)
	tries := partly(x.mix)
	if len(tries) == 0 {
		tries = slices.DeleteFunc(partly(x.solved), x.implies)
	}
	for _, h := range tries[:min(len(tries), mostTried)] {
		product := 1.0
		var halves [2]*bough
		for k, c := range h.counts() {
			halves[k] = d.half(x, t, c, wanted)
			product *= gained(halves[k].value, x.value, wanted)
		}
		if product > most {
			most, x.by, x.fewer, x.more = product, h, halves[0], halves[1]
		}
	}
	return len(tries) > 0
}

// implies says that all plans of a case are in one of the halves.
func (x *bough) implies(h half) bool {
	return slices.ContainsFunc(x.counts, func(c count) bool {
		return c.least && c.from >= h.from && c.number > h.number || !c.least && c.from <= h.from && c.number <= h.number
	})
}

// enrich solves a case by itself, with the counts that matter to it and the machines that are in it
// by now, which adds cuts. It reports false where there is no work left for that, or it was done.
func (d *parting) enrich(x *bough, t *dictionary, few []int) bool {
	before := len(d.cuts)
	var counts []count
	for k, toll := range x.tolls {
		if toll > 0 {
			counts = append(counts, x.counts[k])
		}
	}
	y := &twig{counts: counts, machines: d.amongRows(counts), value: x.value, seen: before}
	t.each(func(i int, _ float64) { y.few = append(y.few, i) })
	for _, i := range few {
		if !slices.Contains(y.few, i) && len(y.few) < mostFew {
			y.few = append(y.few, i)
		}
	}
	for !x.enriched && !y.done && d.work > 0 {
		d.solve(y)
	}
	x.enriched, x.solved = true, y.part
	return len(d.cuts) > before
}

// half is a case of another one, by the cuts that matter to that.
func (d *parting) half(x *bough, t *dictionary, c count, wanted float64) *bough {
	y := &bough{
		counts: append(x.counts[:len(x.counts):len(x.counts)], c), cuts: x.cuts, value: x.value, weights: x.weights,
		tolls: append(x.tolls[:len(x.tolls):len(x.tolls)], 0),
	}
	var more []int
	if c.least {
		known := d.amongRows(x.counts)
		for _, i := range d.amongRows(y.counts) {
			if _, had := slices.BinarySearch(known, i); !had {
				more = append(more, i)
			}
		}
	}
	u := t.clone(len(more))
	for _, i := range more {
		u.column(i, d.all.prices[i], func(variable int) float64 { return d.has(x.counts, variable, i) })
	}
	d.count(u, y.counts, len(x.counts))
	d.take(y, u, u.solve(), wanted)
	d.growth -= u.work
	return y
}
