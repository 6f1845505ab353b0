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
)

const (
	// patternRounds bounds how often patterns are added, patternGap is the share of the
	// bound at which to stop.
	patternRounds = 2000
	patternGap    = 1e-6
	// mostPivots bounds one solution of the master. leastPatternGain is the share of its price that
	// a new pattern gains at least, and leastPrice stands for none.
	mostPivots, leastPatternGain, leastPrice = 2000, 1e-9, 1e-9
	// leastStep is the share of the way to the master's worths that a round takes at least.
	leastStep = 0.3
	// quickWidth is how many states a layer of a search may have that looks for patterns. Where it
	// has to be sure it may have wider times as many, again and again, up to mostStates, as long as
	// that takes a leastNarrowed share off what it leaves open.
	quickWidth, wider, mostStates, leastNarrowed = 30, 4, 32_000, 0.1
	// looseShare is the share of the gap that is of no interest where patterns are sought to be sure.
	looseShare = 0.125
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
	sure      bool       // what machines hold is found out as exactly as is of use
	fullest   float64    // how many times its price a pattern of the present worths is worth at most
	pieces    model.Bits // machines of too many patterns: pods may be in pieces there
	recent    []int      // machines of which patterns were found last
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
	share, half := leastStep, p.work/2
	for range patternRounds {
		done := p.master.Work()
		p.master.Solve(mostPivots)
		p.work -= p.master.Work() - done
		if p.work < 0 || a.late() || !(p.master.Cost() > p.center.value*(1+patternGap)) {
			break
		}
		p.sure = share == 1 || p.work < half
		if !p.sure && p.again(share) {
			continue
		}
		before := p.center
		if p.round(share) {
			share = max(leastStep, share/2)
			continue
		}
		if share == 1 && p.center == before {
			break // nothing is left to be found
		}
		share = min(1, 2*share)
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
			least = min(least, r.Pods())
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

// newPatterns returns nil where the market is too large.
func (a *assignment) newPatterns(work int64) *patterns {
	p := &patterns{assignment: a, work: work, center: a.best, knapsacks: make([]*knapsack.Knapsack, len(a.machines)), pieces: model.NewBits(len(a.machines))}
	most := int(min(fewestPatternClasses+work/workPerPatternClass, mostPatternClasses))
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
			if k := a.fits.places(a, i, c); a.prices[i]/k < least {
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

// learn adds a pattern to the master. It reports whether it gains from it.
func (p *patterns) learn(i int, v *knapsack.Knapsack, counts []float64) bool {
	x := linear.Column{Cost: max(p.prices[i], leastPrice)}
	for k, n := range counts {
		if row := p.rows[v.Classes[k]]; n > 0 && row >= 0 {
			x.Rows, x.Amounts = append(x.Rows, row), append(x.Amounts, n)
		}
	}
	if s := p.machines[i].supply; s >= 0 {
		x.Rows, x.Amounts = append(x.Rows, p.supplies[s]), append(x.Amounts, -1)
	}
	return p.master.Gain(p.master.Add(x)) > leastPatternGain
}
