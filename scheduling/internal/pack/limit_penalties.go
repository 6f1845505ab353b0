package pack

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where limits or reservations do not suffice for all pods, a machine is not to be judged
// by its price but by what it takes of what is scarce. What a unit of each limit is worth,
// and how hard it is to find a place for each class, is not known beforehand: it is drawn,
// and what led to more pods is drawn near again.

const (
	// penaltyDraws is how often that is drawn without success before it ends, and drawWidth how
	// far from what was best so far, as a power of e.
	penaltyDraws = 24
	drawWidth    = 1.2
	// ruinTries is how many changes that leave out as many pods are made in a row, without
	// leading to fewer, before that ends.
	ruinTries = 200
	// rationShare is the part of a search's work that may go into this, but for what may in
	// any case.
	rationShare = 4
)

// PlaceWithinLimits looks for an answer that places more pods than the one at hand, where limits or
// reservations keep out pods that some machine could hold. It returns the one at hand
// where it finds none.
func PlaceWithinLimits(p *model.Problem, at Outcome, params Params) Outcome {
	if at.Late || !model.AnyLeft(at.Solution.Unplaced) {
		return at
	}
	kept := greedy.Useful(p)
	for i, items := range at.Solution.Bins {
		if len(items) > 0 {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	solution := at.Solution
	solution.Bins = make([][]model.Item, len(kept))
	for k, i := range kept {
		solution.Bins[k] = at.Solution.Bins[i]
	}
	s := newSearch(onBins(p, kept), params)
	s.budget = max(params.Work/rationShare, leastMost)
	best := s.attemptOf(solution)
	a := s.placeWithinLimits(best)
	at.Late, at.Work = s.late, at.Work+s.fill.Work
	if a == best {
		return at
	}
	at.Solution = s.solution(a)
	at.Solution.Bins = onAllBins(at.Solution.Bins, kept, len(p.Bins))
	return at
}

// attemptOf reads a solution.
func (s *search) attemptOf(solution model.Solution) *attempt {
	a := &attempt{
		bought: make([][]model.Node, len(s.p.Passes)), bins: greedy.NewBins(s.p), budget: greedy.NewBudget(s.p),
		unplaced: slices.Clone(solution.Unplaced),
	}
	for i, items := range solution.Bins {
		load := make([]int64, s.p.Dims)
		s.p.Load(load, items)
		for d, n := range load {
			a.bins.Room[i][d] -= n
		}
		a.bins.Items[i] = slices.Clone(items)
	}
	for i := range solution.Nodes {
		node := &solution.Nodes[i]
		a.budget.Spend(&s.p.Options[node.Option], node.N)
		pass := s.passOf(node)
		a.bought[pass] = append(a.bought[pass], model.Node{Option: node.Option, N: node.N, Items: slices.Clone(node.Items)})
	}
	a.evaluate(s.p, s.levels)
	return a
}

// passOf is the first pass in which some pod of a machine may be there.
func (s *search) passOf(node *model.Node) int {
	return max(0, slices.IndexFunc(s.markets, func(m *greedy.Market) bool {
		row := m.RowOf[node.Option]
		return row >= 0 && slices.ContainsFunc(node.Items, func(it model.Item) bool {
			return m.Rows[row].Has(int(s.p.Classes[it.Class].Group))
		})
	}))
}

// placeWithinLimits looks for an attempt that places more pods than the best, and brings down what
// it costs.
func (s *search) placeWithinLimits(best *attempt) *attempt {
	values := s.fill.ShareValues()
	if !s.p.Limited() || !s.withheld(best) {
		return best
	}
	each := alike(values)
	a, drawn, penalties := s.drawn(best, each)
	a = s.ruinAndRecreate(a, [][]float64{each, drawn}, []*limitPenalties{s.newLimitPenalties(), penalties})
	if !a.ahead(best) {
		return best
	}
	s.budget = max(s.params.Work/rationShare, leastMost)
	s.start = s.fill.Work
	s.exchange(a)
	s.improve(a, values, 0)
	s.improveBins(a, values)
	return s.reconsider(a, values)
}

// ahead reports whether an attempt is better than another, and not for having pods in
// later passes.
func (a *attempt) ahead(b *attempt) bool { return a.better(b) && !b.earlier(a) }

// withheld reports whether limits or reservations alone keep some pod out that an
// attempt leaves out, and could give way to it.
func (s *search) withheld(a *attempt) bool {
	whole := greedy.NewBudget(s.p)
	for o := range s.p.Options {
		option := &s.p.Options[o]
		if whole.Affords(option, 1) == 0 {
			continue
		}
		for c, n := range a.unplaced {
			class := &s.p.Classes[c]
			if n > 0 && s.fill.Possible[c] && option.Admits.Has(int(class.Group)) && model.Fits(option.Room, class.Request) {
				return true
			}
		}
	}
	return false
}

// drawn draws what limits and classes count for, and returns the attempt that places the
// most with what classes and limits count for in it.
func (s *search) drawn(best *attempt, each []float64) (*attempt, []float64, *limitPenalties) {
	random := rand.New(rand.NewPCG(0x6c696d69, 0x72617469))
	values, penalties := each, s.newLimitPenalties()
	for vain := 0; vain < penaltyDraws && !s.over(); vain++ {
		drawn, rates := make([]float64, len(values)), penalties.draw(random)
		for c, v := range values {
			drawn[c] = v * draw(random)
			if best.unplaced[c] > 0 && random.IntN(2) == 0 {
				drawn[c] *= 4
			}
		}
		s.costByPenalties(rates)
		if a := s.try(drawn, true); a.ahead(best) {
			best, values, penalties, vain = a, drawn, rates, 0
		}
	}
	s.costByPrice()
	return best, values, penalties
}

// ruinAndRecreate takes machines apart and buys others for their pods and those left out, as long
// as it leaves out no more, since another way to place as many may have room for one more.
func (s *search) ruinAndRecreate(best *attempt, values [][]float64, penalties []*limitPenalties) *attempt {
	random := rand.New(rand.NewPCG(0x77616e64, 0x65723031))
	a := best.clone()
	for i := range s.p.Passes {
		a.bought[i] = model.Unbundle(a.bought[i])
	}
	for vain := 0; vain < ruinTries && !s.over(); vain++ {
		if !s.tryBins(a, values[random.IntN(len(values))], s.every, penalties[random.IntN(len(penalties))], random) {
			continue
		}
		if a.evaluate(s.p, s.levels); a.ahead(best) {
			if slices.Compare(a.placed, best.placed) > 0 {
				vain = 0
			}
			best = a.clone()
		}
	}
	return best
}

// limitPenalties is what a unit of each limit counts for, by pool, and a machine of each
// reservation.
type limitPenalties struct {
	limits [][]float64
	supply []float64
}

// newLimitPenalties makes all of each limit count for the same.
func (s *search) newLimitPenalties() *limitPenalties {
	t := &limitPenalties{}
	for i := range s.p.Pools {
		rates := make([]float64, len(s.p.Pools[i].Limits))
		for d, limit := range s.p.Pools[i].Limits {
			rates[d] = 1 / float64(max(limit, 1))
		}
		t.limits = append(t.limits, rates)
	}
	for _, n := range s.p.Supply {
		t.supply = append(t.supply, 1/float64(max(n, 1)))
	}
	return t
}

// draw returns penalties near these.
func (t *limitPenalties) draw(random *rand.Rand) *limitPenalties {
	out := &limitPenalties{}
	for _, rates := range t.limits {
		var drawn []float64
		for _, v := range rates {
			drawn = append(drawn, v*draw(random))
		}
		out.limits = append(out.limits, drawn)
	}
	for _, v := range t.supply {
		out.supply = append(out.supply, v*draw(random))
	}
	return out
}

// drawValues draws what pods of the classes that a change concerns count for: those of a
// level as much as those of the next, or more.
func (s *search) drawValues(drawn, values []float64, random *rand.Rand) {
	urgent := [...]float64{1, 4, 64}[random.IntN(3)]
	for _, c := range s.classes {
		drawn[c] = values[c] * draw(random) / math.Pow(urgent, float64(s.level(int(c))))
	}
}

// draw returns a factor around 1.
func draw(random *rand.Rand) float64 { return math.Exp(drawWidth * random.NormFloat64()) }

// costByPenalties makes options cost what they take of what is scarce, and a little in order
// of price.
func (s *search) costByPenalties(t *limitPenalties) {
	s.fill.Paced = false // worths and costs do not compare
	dearest := slices.Max(append([]float64{1}, s.prices...))
	for o := range s.p.Options {
		option := &s.p.Options[o]
		cost := 1e-6 * (1 + s.prices[o]/dearest)
		for d, use := range option.Use {
			cost += float64(use) * t.limits[option.Pool][d]
		}
		if option.Supply != model.NoSupply {
			cost += t.supply[option.Supply]
		}
		s.fill.Costs[o] = cost
	}
}

// costByPrice makes options cost their price again.
func (s *search) costByPrice() {
	s.fill.Paced = true
	copy(s.fill.Costs, s.prices)
}

// reconstructAt buys machines for what remains of some classes in a pass where options
// cost what they take of what is scarce. Now and then some pods come last, so that
// machines are filled in ways that worth alone does not lead to.
func (s *search) reconstructAt(t *limitPenalties, pass int, classes []model.ClassID, remaining []int64, values []float64, b *greedy.Budget, random *rand.Rand) []model.Node {
	s.costByPenalties(t)
	defer s.costByPrice()
	m := s.markets[pass]
	buy := func() []model.Node { return s.fill.Buy(m, m.All, classes, remaining, values, b) }
	if random.IntN(2) == 0 {
		return buy()
	}
	held := make([]int64, len(s.p.Classes))
	for _, c := range classes {
		if random.IntN(2) == 0 {
			held[c] = random.Int64N(remaining[c] + 1)
			remaining[c] -= held[c]
		}
	}
	fresh := buy()
	for c, n := range held {
		remaining[c] += n
	}
	fresh = s.fill.TopUp(fresh, m, s.fill.BinOrder(slices.Clone(classes), values), remaining)
	return append(fresh, buy()...)
}
