package pack

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where limits or reservations do not suffice for all pods, a machine must be judged by its use of them instead
// of by its price. The best penalty for a unit of each limit, and the best value of each class, are not known
// beforehand: they are drawn at random, and draws near the best ones so far follow.

const (
	// penaltyDraws is the number of draws without success that ends the phase. drawWidth is the standard
	// deviation of the logarithm of a drawn factor.
	penaltyDraws = 24
	drawWidth    = 1.2
	// ruinTries is the number of changes in a row that place no more pods and end the phase.
	ruinTries = 200
	// limitShare is the part of a search's work for this, as a divisor.
	limitShare = 4
)

// PlaceWithinLimits looks for an answer that places more pods, where limits or reservations keep out pods that
// some machine could hold. It returns the given answer where it finds none.
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
	s.budget = max(params.Work/limitShare, leastMost)
	best := s.attemptOf(solution)
	a := (&limitSearch{s}).run(best)
	at.Late, at.Work = s.late, at.Work+s.fill.Work
	if a == best {
		return at
	}
	at.Solution = s.solution(a)
	at.Solution.Bins = onAllBins(at.Solution.Bins, kept, len(p.Bins))
	return at
}

// limitSearch is the search by penalties on one problem.
type limitSearch struct{ s *search }

// run returns an attempt that places more pods than best, with its cost improved, or best.
func (x *limitSearch) run(best *attempt) *attempt {
	s := x.s
	values := s.fill.ShareValues()
	if !s.p.Limited() || !x.limitsExclude(best) {
		return best
	}
	each := unitValues(values)
	a, drawn, penalties := x.drawPenalties(best, each)
	a = x.ruinAndRecreate(a, [][]float64{each, drawn}, []*limitPenalties{newLimitPenalties(s.p), penalties})
	if !a.ahead(best) {
		return best
	}
	s.budget = max(s.params.Work/limitShare, leastMost)
	s.start = s.fill.Work
	s.downsize(a)
	s.improve(a, values, 0)
	s.improveBins(a, values)
	return s.reuseFreed(a, values)
}

// ahead reports whether a is better than b and does not place pods in later passes.
func (a *attempt) ahead(b *attempt) bool { return a.better(b) && !b.placesEarlier(a) }

// limitsExclude reports whether limits or reservations alone exclude a pod that an attempt leaves out: without
// other machines, one could be bought for it.
func (x *limitSearch) limitsExclude(a *attempt) bool {
	s := x.s
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

// drawPenalties draws penalties and class values, and returns the attempt that places the most pods with its
// values and penalties.
func (x *limitSearch) drawPenalties(best *attempt, each []float64) (*attempt, []float64, *limitPenalties) {
	s := x.s
	random := rand.New(rand.NewPCG(0x6c696d69, 0x72617469))
	values, penalties := each, newLimitPenalties(s.p)
	for failures := 0; failures < penaltyDraws && !s.over(); failures++ {
		drawn, rates := make([]float64, len(values)), penalties.draw(random)
		for c, v := range values {
			drawn[c] = v * draw(random)
			if best.unplaced[c] > 0 && random.IntN(2) == 0 {
				drawn[c] *= 4
			}
		}
		rates.setCosts(s.lns)
		if a := s.try(drawn, true); a.ahead(best) {
			best, values, penalties, failures = a, drawn, rates, 0
		}
	}
	s.lns.costByPrice()
	return best, values, penalties
}

// ruinAndRecreate changes machines as long as no more pods are left out, because another way to place as many
// may have room for one more.
func (x *limitSearch) ruinAndRecreate(best *attempt, values [][]float64, penalties []*limitPenalties) *attempt {
	s := x.s
	random := rand.New(rand.NewPCG(0x77616e64, 0x65723031))
	a := best.clone()
	for i := range s.p.Passes {
		a.bought[i] = model.Unbundle(a.bought[i])
	}
	changes := &binExchange{s: s, a: a, random: random}
	for failures := 0; failures < ruinTries && !s.over(); failures++ {
		if !changes.try(values[random.IntN(len(values))], s.every, penalties[random.IntN(len(penalties))]) {
			continue
		}
		if a.evaluate(s.p, s.levels); a.ahead(best) {
			if slices.Compare(a.placed, best.placed) > 0 {
				failures = 0
			}
			best = a.clone()
		}
	}
	return best
}

// limitPenalties are the costs of a unit of each limit, by pool, and of a unit of each reservation.
type limitPenalties struct {
	limits [][]float64
	supply []float64
}

// newLimitPenalties gives the whole of each limit and of each reservation the penalty 1.
func newLimitPenalties(p *model.Problem) *limitPenalties {
	t := &limitPenalties{}
	for i := range p.Pools {
		rates := make([]float64, len(p.Pools[i].Limits))
		for d, limit := range p.Pools[i].Limits {
			rates[d] = 1 / float64(max(limit, 1))
		}
		t.limits = append(t.limits, rates)
	}
	for _, n := range p.Supply {
		t.supply = append(t.supply, 1/float64(max(n, 1)))
	}
	return t
}

// draw returns penalties at random factors of these.
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

// draw returns a random factor around 1.
func draw(random *rand.Rand) float64 { return math.Exp(drawWidth * random.NormFloat64()) }

// setCosts sets the costs of options to their penalties, and a little to their prices, which decide between
// equals.
func (t *limitPenalties) setCosts(l *lns) {
	l.fill.Paced = false // values and costs have different units
	dearest := slices.Max(append([]float64{1}, l.prices...))
	for o := range l.p.Options {
		option := &l.p.Options[o]
		cost := 1e-6 * (1 + l.prices[o]/dearest)
		for d, use := range option.Use {
			cost += float64(use) * t.limits[option.Pool][d]
		}
		if option.Supply != model.NoSupply {
			cost += float64(option.SupplyUse) * t.supply[option.Supply]
		}
		l.fill.Costs[o] = cost
	}
}

// reconstruct buys machines for the remaining pods of some classes with penalties as costs. Half of the time
// random pods come last, because other fillings than the greedy ones may leave fewer pods out.
func (t *limitPenalties) reconstruct(l *lns, m *greedy.Market, classes []model.ClassID, remaining []int64, values []float64, b *greedy.Budget, random *rand.Rand) []model.Node {
	t.setCosts(l)
	defer l.costByPrice()
	buy := func() []model.Node { return l.fill.Buy(m, m.All, classes, remaining, values, b) }
	if random.IntN(2) == 0 {
		return buy()
	}
	held := make([]int64, len(l.p.Classes))
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
	fresh = l.fill.TopUp(fresh, m, l.fill.BinOrder(slices.Clone(classes), values), remaining)
	return append(fresh, buy()...)
}
