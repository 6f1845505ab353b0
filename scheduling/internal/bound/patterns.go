package bound

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// What the pattern bound is sought for: markets of so many classes, which the work adds
// to, and limited machines at most, where some machine that counts holds so few pods
// that it matters which.
const (
	fewestPatternClasses, mostPatternClasses, workPerPatternClass = 8, 512, 400_000

	mostPatternSupplies = 8
	fewPods             = 48
	// A busy machine of so many pods, of more than few classes, has too many patterns.
	tooManyPods, fewPatternSorts = 4 * fewPods, 12
)

const (
	// patternRounds bounds how often patterns are added, patternGap is the share of the
	// bound at which to stop.
	patternRounds = 200
	patternGap    = 1e-6
	// mostPivots bounds one solution of the master. leastPatternGain is the share of its price that
	// a new pattern gains at least, and leastPrice stands for none.
	mostPivots, leastPatternGain, leastPrice = 2000, 1e-9, 1e-9
	// leastStep is the share of the way to the master's worths that a round takes at least.
	leastStep = 0.3
	// quickWidth is how many states a layer of a search may have that looks for patterns.
	// One that has to be sure may have more, as the work allows.
	quickWidth, fewestStates, mostStates, workPerState = 30, 8_000, 32_000, 2_500
	// searchCost is what one of
	// them costs in elementary operations, and relaxCost what a class costs a relaxation.
	searchCost, relaxCost = 25, 60
	// wholeBits is how many bits the worth of a machine has in whole numbers.
	wholeBits = 58
)

// patterns looks for higher worths that machines bear because pods are whole. Where no
// vector shows that a machine holds no more worth than it costs, every pattern that
// comes into question is tried. It generates columns as Gilmore and Gomory do: patterns
// suggest worths, and worths that some machine cannot bear suggest patterns.
type patterns struct {
	*assignment
	// master says how many machines of each known pattern to buy so that every class has its pods
	// and no supply is overdrawn.
	master    *linear.Cover
	rows      []int32 // by class: its row, −1 for none
	supplies  []int32 // by supply: its row
	knapsacks []*knapsack.Knapsack
	work      int64
	width     int // of searches now, and of those that have to be sure
	widest    int
	search    knapsack.Search
	center    *proposal
}

// patterns replaces the best proposal where it finds a better one.
func (a *assignment) patterns(work int64, seen [][]model.Item) {
	p := a.newPatterns(work)
	if p == nil || !p.promising() {
		return
	}
	p.see(seen)
	p.width = quickWidth
	share := leastStep
	for range patternRounds {
		before := p.master.Work()
		p.master.Continue(mostPivots)
		p.work -= p.master.Work() - before
		if p.work < 0 || a.late() || !(p.master.Cost() > p.center.value*(1+patternGap)) {
			break
		}
		if p.round(share) {
			p.width, share = quickWidth, max(leastStep, share/2)
			continue
		}
		if share < 1 {
			share = min(1, 2*share)
			continue
		}
		if p.width == p.widest {
			break // nothing is left to be found
		}
		p.width = p.widest
	}
	a.best = p.center
}

// promising reports whether machines that bear no more worth hold so few pods, in so few
// ways, that something can be gained.
func (p *patterns) promising() bool {
	least := math.Inf(1)
	for i := range p.machines {
		held := p.holds(i, &p.center.vectors[p.center.proof[i]], p.center.worths, math.Inf(1))
		if p.machines[i].supply < 0 && held >= p.prices[i]*(1-1e-6) {
			r := p.relax(i, p.center.worths)
			r.Solve()
			pods := r.Pods()
			if pods > tooManyPods && len(r.Worths) > fewPatternSorts {
				return false
			}
			least = min(least, pods)
		}
	}
	return least <= fewPods
}

// see adds what machines of a plan hold, each as the cheapest machine that can hold it.
func (p *patterns) see(seen [][]model.Item) {
	for _, items := range seen {
		x := linear.Column{Cost: math.Inf(1)}
		for i := range p.machines {
			if p.machines[i].supply < 0 && p.prices[i] < x.Cost && p.fits(i, items) {
				x.Cost = max(p.prices[i], leastPrice)
			}
		}
		for _, it := range items {
			if row := p.rows[it.Class]; row >= 0 {
				x.Rows, x.Amounts = append(x.Rows, row), append(x.Amounts, float64(it.N))
			}
		}
		if len(x.Rows) > 0 && !math.IsInf(x.Cost, 1) {
			p.master.Add(x)
		}
	}
}

// fits reports whether a machine holds some pods.
func (p *patterns) fits(i int, items []model.Item) bool {
	room := slices.Clone(p.machines[i].cap)
	for _, it := range items {
		if !p.machines[i].users.Has(int(it.Class)) {
			return false
		}
		for d, n := range p.market.Classes[it.Class].Size {
			if room[d] -= n * it.N; room[d] < 0 {
				return false
			}
		}
	}
	return true
}

// fill looks for the pattern of a knapsack that is worth most, at least the floor. top is
// what it may be worth at most.
func (p *patterns) fill(v *knapsack.Knapsack, r *knapsack.Relaxed, top, floor float64) (out knapsack.Outcome, whole float64) {
	shares := r.Solve()
	whole = math.Ldexp(1, wholeBits) / top
	s := &p.search
	s.Knapsack, s.Width, s.Floor = v, p.width, int64(floor*whole)
	s.Worths, s.Values = s.Worths[:0], s.Values[:0]
	for _, w := range r.Worths {
		s.Worths = append(s.Worths, int64(math.Ceil(w*whole)))
	}
	for d, share := range shares {
		s.Values = append(s.Values, int64(math.Ceil(share*whole/float64(max(1, v.Room[d])))))
	}
	out = s.Run()
	p.work -= out.Work * searchCost
	return out, whole
}

// newPatterns returns nil where the market is too large.
func (a *assignment) newPatterns(work int64) *patterns {
	p := &patterns{assignment: a, work: work, center: a.best, knapsacks: make([]*knapsack.Knapsack, len(a.machines))}
	most := int(min(fewestPatternClasses+work/workPerPatternClass, mostPatternClasses))
	p.widest = int(min(max(fewestStates, work/workPerState), mostStates))
	var wanted, standIn []float64
	var alone []linear.Column
	users := a.usersOf()
	for c, n := range a.demand {
		p.rows = append(p.rows, -1)
		if n == 0 {
			continue
		}
		own, places, least := -1, 0.0, math.Inf(1)
		for _, i := range users[c] {
			if k := a.places(i, c); a.prices[i]/k < least {
				own, places, least = i, k, a.prices[i]/k
			}
		}
		if own < 0 || len(wanted) == most {
			return nil
		}
		row := int32(len(wanted))
		p.rows[c] = row
		wanted, standIn = append(wanted, n), append(standIn, 2*max(least, leastPrice))
		alone = append(alone, linear.Column{Rows: []int32{row}, Amounts: []float64{places}, Cost: max(a.prices[own], leastPrice)})
	}
	for s := range a.market.Supplies {
		p.supplies = append(p.supplies, int32(len(wanted)))
		wanted, standIn = append(wanted, -float64(a.market.Supplies[s].Count)), append(standIn, 1)
	}
	if len(p.supplies) > mostPatternSupplies {
		return nil
	}
	p.master = linear.NewCover(wanted, standIn)
	for _, x := range alone {
		p.master.Add(x)
	}
	return p
}

func (p *patterns) knapsack(i int) *knapsack.Knapsack {
	if p.knapsacks[i] == nil {
		p.knapsacks[i] = p.market.knapsack(&p.machines[i])
	}
	return p.knapsacks[i]
}

// relax sets a machine up for pods in pieces.
func (p *patterns) relax(i int, worths []float64) *knapsack.Relaxed {
	v := p.knapsack(i)
	p.work -= int64(len(v.Classes)*len(v.Rows)) * relaxCost
	return v.Relax(worths)
}

// verdict is what a machine holds at most by some worths.
type verdict struct {
	bound  float64
	vector int  // number of the vector that shows it
	exact  bool // or that helps to, when patterns are tried
}

// round tries worths between the best ones that are proven and those of the master. It
// reports whether they show patterns that the master gains from.
func (p *patterns) round(share float64) (violated bool) {
	worths := make([]float64, len(p.demand))
	for c, row := range p.rows {
		if row >= 0 {
			worths[c] = (1-share)*p.center.worths[c] + share*max(0, p.master.Duals()[row])
		}
	}
	next := &proposal{worths: worths, vectors: p.center.vectors, proof: make([]int, len(p.machines)), exact: model.NewBits(len(p.machines)), width: p.width}
	ratio := 1.0
	bounds := make([]float64, len(p.machines))
	for i := range p.machines {
		if p.work < 0 || p.late() {
			return violated
		}
		x := p.judge(i, next, &violated)
		bounds[i], next.proof[i] = x.bound, x.vector
		if x.exact {
			next.exact.Set(i)
		}
		if p.machines[i].supply < 0 {
			ratio = max(ratio, x.bound/p.prices[i])
		}
	}
	next.scale(p.assignment, 1/ratio)
	surplus := make([]float64, len(p.market.Supplies))
	for c, n := range p.demand {
		next.value += n * next.worths[c]
	}
	next.used()
	for i := range p.machines {
		if s := p.machines[i].supply; s >= 0 {
			surplus[s] = max(surplus[s], bounds[i]/ratio-p.prices[i])
		}
	}
	for s, over := range surplus {
		next.value -= over * float64(p.market.Supplies[s].Count)
	}
	if next.value > p.center.value {
		p.center = next
	}
	return violated
}

// scale lowers worths and vectors by a factor.
func (p *proposal) scale(a *assignment, factor float64) {
	if factor == 1 {
		return
	}
	for c := range p.worths {
		p.worths[c] *= factor
	}
	vectors := make([]vector, len(p.vectors))
	for k := range p.vectors {
		values := make([]float64, len(p.vectors[k].values))
		for e, v := range p.vectors[k].values {
			values[e] = v * factor
		}
		vectors[k] = a.vector(values)
	}
	p.vectors = vectors
}

// judge finds what a machine holds at most, and adds a pattern to the master that is
// worth more than its price.
func (p *patterns) judge(i int, next *proposal, violated *bool) verdict {
	price := p.prices[i]
	last := p.center.proof[i]
	if held := p.holds(i, &next.vectors[last], next.worths, price); held <= price {
		return verdict{held, last, false}
	}
	r := p.relax(i, next.worths)
	shares := r.Solve()
	v := p.knapsack(i)
	at := next.add(p.vector(p.valuesIn(v, shares)))
	held := p.holds(i, &next.vectors[at], next.worths, math.Inf(1))
	if held <= price || held > 4*price && p.machines[i].supply < 0 || !v.Countable() {
		return verdict{held, at, false}
	}
	out, whole := p.fill(v, r, held, price)
	if out.Best > int64(price*whole) {
		*violated = p.learn(i, v, out.Counts) || *violated
	}
	return verdict{min(held, float64(out.Bound)/whole), at, true}
}

// valuesIn turns shares of a knapsack's resources into values of the search.
func (p *patterns) valuesIn(v *knapsack.Knapsack, shares []float64) []float64 {
	values := make([]float64, len(p.dims))
	for d, row := range v.Rows {
		for e, dim := range p.dims {
			if dim == row {
				values[e] = shares[d] / (float64(max(1, v.Room[d])) * float64(v.Units[d]) / p.unit[e])
			}
		}
	}
	return values
}

// add adds a vector and returns its number. Other proposals may have those before it.
func (p *proposal) add(v vector) int {
	p.vectors = append(p.vectors[:len(p.vectors):len(p.vectors)], v)
	return len(p.vectors) - 1
}

// learn adds a pattern to the master. It reports whether it gains from it.
func (p *patterns) learn(i int, v *knapsack.Knapsack, counts []int64) bool {
	x := linear.Column{Cost: max(p.prices[i], leastPrice)}
	for k, n := range counts {
		if row := p.rows[v.Classes[k]]; n > 0 && row >= 0 {
			x.Rows, x.Amounts = append(x.Rows, row), append(x.Amounts, float64(n))
		}
	}
	if s := p.machines[i].supply; s >= 0 {
		x.Rows, x.Amounts = append(x.Rows, p.supplies[s]), append(x.Amounts, -1)
	}
	return p.master.Gain(p.master.Add(x)) > leastPatternGain
}
