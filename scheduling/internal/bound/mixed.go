package bound

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// fewHomePods is how many pods, pieces counted as pieces, a machine holds at most for
	// which fillings are tried beside machines that hold many, and mostHomeClasses how many
	// classes may fit there.
	fewHomePods, mostHomeClasses = 5, 256
	// mixedWidth is how many states a layer of a search may have at first, and fewGains how
	// few fillings are too few to go on like that.
	mixedWidth, fewGains = 200, 3
	// mixedGain is the share of the bound that is progress.
	mixedGain = 1e-5
	// mostEases is how often worths of classes at home on small machines alone are lowered
	// for the sake of a machine, before those of all are.
	mostEases = 2
)

// mixture is a search for patterns where some machines hold few pods and others many.
// Fillings are tried for those with few; on the others pods may be cut to pieces, which
// hardly matters there. Classes that are at home on none with few pods share rows of the
// master: their worths go up and down together.
type mixture struct {
	*patterns
	small model.Bits // machines for which fillings are tried
	homes []vector   // by machine: the values by which it holds least
}

// mixed replaces the best proposal where it finds a better one, and stops where that proves
// enough.
func (a *assignment) mixed(work int64, enough float64) {
	p := a.newMixture(work)
	if p == nil {
		return
	}
	share := leastStep
	p.width = mixedWidth
	for range patternRounds {
		value, pivots := p.master.solve()
		rows := int64(len(p.master.wanted))
		p.work -= int64(pivots) * rows * rows
		if p.work < 0 || a.late() || !(value > p.center.value*(1+patternGap)) || p.center.value >= enough {
			break
		}
		before := p.center.value
		gains := p.try(share)
		if p.center.value > before*(1+mixedGain) {
			share = max(leastStep, share/2)
			continue
		}
		if gains >= fewGains {
			continue
		}
		if p.width < p.widest {
			p.width = p.widest
			continue
		}
		if gains == 0 && share == 1 {
			break // nothing is left to be found
		}
		if gains == 0 {
			share = min(1, 2*share)
		}
	}
	a.best = p.center
}

// newMixture returns nil where no machine that counts holds few pods.
func (a *assignment) newMixture(work int64) *mixture {
	if len(a.market.Supplies) > 0 {
		return nil
	}
	p := &mixture{
		patterns: &patterns{assignment: a, work: work, center: a.best, vessels: make([]*vessel, len(a.machines))},
		small:    model.NewBits(len(a.machines)), homes: make([]vector, len(a.machines)),
	}
	p.widest = int(min(max(fewestStates, work/workPerState), mostStates))
	busy := model.NewBits(len(a.machines))
	found := false
	for i, price := range p.prices {
		if p.work < 0 || p.late() {
			return nil
		}
		v, r := p.vessel(i), p.relax(i, p.center.worths)
		p.homes[i] = p.vector(p.valuesIn(v, r.solve()))
		if p.holds(i, &p.homes[i], p.center.worths, math.Inf(1)) >= nearlyBusy*price {
			busy.Set(i)
		}
		if r.pods() <= fewHomePods && v.countable() {
			p.small.Set(i)
			if busy.Has(i) && len(v.classes) > mostHomeClasses {
				return nil
			}
			found = found || busy.Has(i)
		}
	}
	if !found || !p.group(busy) {
		return nil
	}
	p.width = quickWidth
	for i, price := range p.prices {
		v, r := p.vessel(i), p.relax(i, p.center.worths)
		if !p.small.Has(i) {
			r.solve()
			p.learnPieces(i, v, r)
		} else if price > 0 {
			out, _ := p.fill(v, r, 1.5*price, 0.9*price)
			p.learn(i, v, out.counts)
		}
	}
	return p
}

// try tries worths between those that are proven and those of the master, lowered to what
// every machine bears, and adds fillings by which machines hold more than they cost. It
// returns how many the master gains from.
func (p *mixture) try(share float64) (gains int) {
	next := &proposal{worths: make([]float64, len(p.demand)), vectors: p.center.vectors, proof: make([]int, len(p.machines)), exact: model.NewBits(len(p.machines)), width: p.width}
	for c, row := range p.rows {
		if row >= 0 {
			next.worths[c] = (1-share)*p.center.worths[c] + share*p.weights[c]*max(0, p.master.y[row])
		}
	}
	for i := range p.machines {
		if p.work < 0 || p.late() {
			return gains
		}
		gains += p.bear(i, next)
	}
	for c, n := range p.demand {
		next.value += n * next.worths[c]
	}
	if next.value > p.center.value {
		next.used()
		p.center = next
	}
	return gains
}

// bear lowers worths until the machine holds no more than it costs.
func (p *mixture) bear(i int, next *proposal) (gains int) {
	price := p.prices[i]
	next.proof[i] = p.center.proof[i]
	if p.holds(i, &next.vectors[next.proof[i]], next.worths, price) <= price {
		return 0
	}
	v := p.vessel(i)
	for tries := 0; ; tries++ {
		r := p.relax(i, next.worths)
		values := p.valuesIn(v, r.solve())
		own := p.vector(values)
		held := p.holds(i, &own, next.worths, math.Inf(1))
		if held <= price {
			next.proof[i] = next.add(own)
			return gains
		}
		if !p.small.Has(i) {
			if p.learnPieces(i, v, r) {
				gains++
			}
			next.proof[i] = next.add(p.lower(i, values, next.worths, price/held))
			return gains
		}
		out, whole := p.fill(v, r, held, price)
		worth := min(held, float64(out.bound)/whole)
		if worth <= price*(1+roundingErrors) {
			next.exact.Set(i)
			next.proof[i] = next.add(own)
			return gains
		}
		if tries == 0 {
			gains = p.learnBest(i, v, int64(price*whole))
		}
		p.ease(v, out.counts, next.worths, worth/price, tries >= mostEases)
	}
}

// ease lowers worths by which a vessel holds so many times its price: those of classes with
// rows of their own by as much as the filling suggests, or those of all in proportion.
func (p *mixture) ease(v *vessel, counts []int64, worths []float64, over float64, all bool) {
	total, own := 0.0, 0.0
	for k, n := range counts {
		c := v.classes[k]
		total += float64(n) * worths[c]
		if p.single(c) {
			own += float64(n) * worths[c]
		}
	}
	factor := (1 - eased) / over
	if !all && own > total/4 {
		factor = 1 - (1-1/over)*total/own*(1+1e-3)
	}
	for _, c := range v.classes {
		if all || p.single(c) {
			worths[c] *= max(0, factor)
		}
	}
}

// eased is the share of worths that is given up for rounding errors when they are lowered.
const eased = 1e-12
