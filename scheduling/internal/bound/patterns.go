package bound

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/linear"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// The pattern bound is tried in markets of at most so many supplies.
	mostPatternSupplies = 8
	// leastPatience is the least work that is spent after the bound has risen before the search ends.
	leastPatience = 6_000_000
)

const (
	// patternRounds bounds the rounds of column generation. patternGap is the relative gap to the master's
	// price at which it stops.
	patternRounds = 2000
	patternGap    = 1e-6
	// mostPivots bounds the pivots of one solution of the master. leastPatternGain is the least reduced cost of
	// a new pattern, as a share of its price. leastPrice replaces a price of 0.
	mostPivots, leastPatternGain, leastPrice = 2000, 1e-9, 1e-9
	// nearGain is the loss of a pattern, as a share of its price, up to which other searches begin with it.
	nearGain = 0.01
	// leastStep is the least share of the way from the proven duals to the master's duals that a round takes.
	leastStep = 0.3
	// quickWidth is the number of states of a layer in the first search for a pattern. Where an exact value is
	// needed, the number grows by the factor wider, up to mostStates.
	quickWidth, wider, mostStates = 30, 4, 500_000
	// looseShare is the share of the gap that exact searches leave open, because closing it does not raise the
	// bound.
	looseShare = 0.125
	// searchCost is the work of one state, relaxCost that of one class and resource of a fractional knapsack,
	// in elementary operations.
	searchCost, relaxCost = 25, 60
)

// patterns raises the duals above the assignment bound by column generation: the master problem over the known
// patterns suggests duals, and the pricing problem of each machine, an integer knapsack, finds patterns that
// these duals violate.
type patterns struct {
	scaled *scaledMarket
	late   func() bool
	// master says how many machines of each known pattern to buy so that every class has its pods
	// and no supply is overdrawn.
	master     *linear.Cover
	rows       []int32 // by class: its row in the master, −1 for none
	supplies   []int32 // by supply: its row
	knapsacks  []*knapsack.Knapsack
	work       int64
	stop       int64      // the work that is left when the search ends, unless the bound has risen by then; 0 before it rises
	exact      bool       // machines are priced exactly, up to looseShare of the gap
	mostRatio  float64    // the largest ratio of the value of a known pattern to its machine's price, by the present duals
	fractional model.Bits // machines with too many patterns to search: fractional patterns are columns there
	recent     []int      // machines that yielded patterns in the last round
	search     knapsack.Search
	whole      map[int][]model.Item // by column of the master: its pattern of whole pods
	searched   []int64              // by machine: the work of its last search
	center     *proposal            // the best proven duals: the stability center
}

// newPatterns returns nil where the market has too many supplies, or a class that no machine on sale admits, or where the
// work does not suffice to solve the master problem once: that takes about a pivot for each row, and a pivot changes the
// square of the number of rows.
func newPatterns(a *assignment, work int64) *patterns {
	p := &patterns{scaled: a.scaled, late: a.late, work: work, center: a.best, knapsacks: make([]*knapsack.Knapsack, len(a.scaled.machines)), fractional: model.NewBits(len(a.scaled.machines)), searched: make([]int64, len(a.scaled.machines)), whole: map[int][]model.Item{}}
	var wanted, standIn []float64
	var alone []linear.Column
	users := a.scaled.buyableOf()
	for c, n := range a.scaled.demand {
		p.rows = append(p.rows, -1)
		if n == 0 {
			continue
		}
		own, places, least := -1, 0.0, math.Inf(1)
		for _, i := range users[c] {
			if k := a.scaled.fits.places(a.scaled, i, c); a.scaled.prices[i]/k < least {
				own, places, least = i, k, a.scaled.prices[i]/k
			}
		}
		if own < 0 {
			return nil
		}
		row := int32(len(wanted))
		p.rows[c] = row
		wanted, standIn = append(wanted, n), append(standIn, 2*max(least, leastPrice))
		alone = append(alone, linear.Column{Rows: []int32{row}, Amounts: []float64{places}, Cost: max(a.scaled.prices[own], leastPrice)})
	}
	for s := range a.scaled.exact.Supplies {
		p.supplies = append(p.supplies, int32(len(wanted)))
		wanted, standIn = append(wanted, -a.scaled.supplyCount(s)), append(standIn, 1)
	}
	rows := int64(len(wanted))
	if len(p.supplies) > mostPatternSupplies || rows*rows*rows > work {
		return nil
	}
	p.master = linear.NewCover(wanted, standIn)
	for _, x := range alone {
		p.master.Add(x)
	}
	return p
}

// run returns the best proposal that column generation finds; the given one where it finds none better.
func (p *patterns) run(seen [][]model.Item) *proposal {
	p.addSeen(seen)
	share, all := leastStep, p.work
	for range patternRounds {
		done := p.master.Work()
		p.master.Solve(min(mostPivots, 1+int((p.work-p.stop)/p.pivotWork())))
		p.work -= p.master.Work() - done
		if p.spent() || p.late() || !(p.master.Cost() > p.center.value*(1+patternGap)) {
			break
		}
		p.exact = share == 1 || p.work < all/2
		if !p.exact && p.retryRecent(share) {
			continue
		}
		before := p.center
		violated := p.round(share)
		if p.center != before {
			p.stop = max(0, min(2*p.work-all, p.work-leastPatience)) // as much work again as so far
		}
		if violated {
			share = max(leastStep, share/2)
			continue
		}
		if share == 1 && p.center == before {
			break // no machine has a pattern that the master gains from
		}
		share = min(1, 2*share)
	}
	return p.center
}

// pivotWork is about the work of one pivot of the master problem.
func (p *patterns) pivotWork() int64 {
	rows := int64(len(p.scaled.demand) + len(p.supplies))
	return rows * rows
}

// spent reports whether the work is used up.
func (p *patterns) spent() bool { return p.work < p.stop }

// addSeen adds the patterns of a known plan, each at the price of the cheapest machine that holds it.
func (p *patterns) addSeen(seen [][]model.Item) {
	for _, items := range seen {
		x := linear.Column{Cost: math.Inf(1)}
		for i := range p.scaled.machines {
			if p.scaled.machines[i].supply < 0 && p.scaled.prices[i] < x.Cost && p.fits(i, items) {
				x.Cost = max(p.scaled.prices[i], leastPrice)
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

// fits reports whether a machine admits and holds the pods.
func (p *patterns) fits(i int, items []model.Item) bool {
	room := slices.Clone(p.scaled.machines[i].cap)
	for _, it := range items {
		if !p.scaled.machines[i].users.Has(int(it.Class)) {
			return false
		}
		for d, n := range p.scaled.exact.Classes[it.Class].Size {
			if room[d] -= n * it.N; room[d] < 0 {
				return false
			}
		}
	}
	return true
}

func (p *patterns) knapsack(i int) *knapsack.Knapsack {
	if p.knapsacks[i] == nil {
		p.knapsacks[i] = p.scaled.exact.knapsack(&p.scaled.machines[i])
	}
	return p.knapsacks[i]
}

// addPattern adds a pattern to the master, and reports whether the master's price can fall by it.
func (p *patterns) addPattern(i int, v *knapsack.Knapsack, counts []float64, whole bool) bool {
	x := linear.Column{Cost: max(p.scaled.prices[i], leastPrice)}
	for k, n := range counts {
		if row := p.rows[v.Classes[k]]; n > 0 && row >= 0 {
			x.Rows, x.Amounts = append(x.Rows, row), append(x.Amounts, n)
		}
	}
	if s := p.scaled.machines[i].supply; s >= 0 {
		x.Rows, x.Amounts = append(x.Rows, p.supplies[s]), append(x.Amounts, -p.scaled.supplyShare(i))
	}
	column := p.master.Add(x)
	if whole {
		for k, n := range counts {
			if n > 0 {
				p.whole[column] = append(p.whole[column], model.Item{Class: model.ClassID(v.Classes[k]), N: int64(n)})
			}
		}
	}
	return p.master.Gain(column) > leastPatternGain
}

// near are the patterns of whole pods that have nearly the value of their machine's price by the master's duals, in the order
// in which they were found.
func (p *patterns) near() (out [][]model.Item) {
	for _, column := range slices.Sorted(maps.Keys(p.whole)) {
		if p.master.Gain(column) > -nearGain {
			out = append(out, p.whole[column])
		}
	}
	return out
}
