package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Params says how hard to search.
type Params struct {
	// Work bounds the search after the first complete answer, counted in classes
	// looked at; a little is done in any case.
	Work int64
	// Late reports that the caller's deadline has passed; nil is never.
	Late func() bool
	// Rival is what an answer at hand had cost on its way: a search that comes out clearly
	// dearer ends early. The zero value rules nothing out.
	Rival Milestones
	// Enough is a cost at which to be content where pods under per-node limits make for a long search:
	// one that has found a place for all pods at no more than this ends. 0 is none.
	Enough int64
	// Draft ends the search before anything is improved; see [Outcome].
	Draft bool
	// Snug fills bins one by one at first: less of their room is left, and other pods may be
	// in it than without.
	Snug bool
	// Worths are what pods are worth at first, by class, in the unit of costs; nil for the
	// prices of their shares of the cheapest machines.
	Worths []float64
}

// Milestones are what an answer costs on its way.
type Milestones struct {
	First int64 // the first construction
	Best  int64 // the best one, before it is improved
}

// How much dearer than its rival an answer may be on its way, as a factor, before it is
// given up. Of some two hundred plans of sites for 250 to 1,600 classes, those that
// became cheaper than their rival were at most 1.027 and 1.0047 times as dear.
const (
	dearFirst = 1.04
	dearBest  = 1.0075
)

// behind reports whether a cost is so much above a rival's; 0 is none.
func behind(cost, rival int64, most float64) bool {
	return rival > 0 && float64(cost) > most*float64(rival)
}

// Outcome is an answer and how the search ended.
type Outcome struct {
	Solution model.Solution
	// Late says that the deadline cut the search short.
	Late bool
	// Work is how much of it was done.
	Work int64
	// Milestones are what the answer cost on its way.
	Milestones Milestones
	// Rest goes on with what is a draft only; nil where there is nothing to go on with.
	Rest *Rest
}

// search is the state of one call of Search.
type search struct {
	p        *model.Problem
	params   Params
	fill     *filler
	levels   []int32
	crowded  []bool          // by class, see filler.crowded
	every    []int           // all bins
	order    []model.ClassID // in which classes are offered to machines that exist; nil until asked
	worths   []float64       // by which that is
	jittered []float64
	held     []int           // scratch of holding
	classes  []model.ClassID // those that a change concerns
	prices   []float64       // costs of options as they are
	markets  []*market       // by pass
	stage    stage           // for constructions
	budget   int64           // of work
	start    int64           // work that was done before it counts
	late     bool
	deep     bool       // more than the least work may be done
	random   *rand.Rand // of improvement
	snug     bool       // bins are filled one by one
	bin      binFiller
	seatings [2]*seating // see seatAll
}

// Whatever the budget, as much work is done as leastTimes that of the first answer, but no more than
// takes some five milliseconds or, where machines differ in whom they admit, leastDrafts times as
// much as that answer.
const leastTimes, leastMost, leastDrafts, leastTries = 20, 500_000, 2, 1_500_000

func newSearch(p *model.Problem, params Params) *search {
	s := &search{
		p: p, params: params, fill: newFiller(p), levels: priorities(p),
		jittered: make([]float64, len(p.Classes)),
	}
	s.prices = slices.Clone(s.fill.costs)
	s.snug, s.bin.option.Floor = params.Snug && len(p.Bins) > 0, -1
	s.crowded = s.fill.crowded()
	s.random = rand.New(rand.NewPCG(0x706c696d, 0x736f6c6c))
	// Where not everything can be had, who gets it hangs on what is filled when.
	s.fill.eager = s.limited()
	for i := range p.Bins {
		s.every = append(s.every, i)
	}
	for _, pass := range p.Passes {
		s.markets = append(s.markets, newMarket(p, pass))
	}
	return s
}

// searchIn is Search that looks at everything.
func searchIn(p *model.Problem, params Params) Outcome {
	s := newSearch(p, params)
	d := s.draft()
	if params.Draft && !d.ended {
		return s.outcome(d.best.clone(), d.way, &Rest{search: s, draft: d})
	}
	return s.complete(d)
}

// outcome turns an attempt into the form that callers see.
func (s *search) outcome(a *attempt, way Milestones, rest *Rest) Outcome {
	return Outcome{Solution: s.solution(a), Late: s.late, Work: s.fill.work, Milestones: way, Rest: rest}
}

// construct buys machines for what remains in a pass.
func (s *search) construct(pass int, remaining []int64, values []float64, b *budget) []model.Node {
	m := s.markets[pass]
	s.fill.indexClasses(&s.stage, m, m.all, s.fill.those(remaining, values))
	return s.fill.construct(&s.stage, remaining, values, b)
}

// over reports whether the search should end.
func (s *search) over() bool {
	return s.overdue() || s.fill.work-s.start > s.budget
}

// overdue reports whether the deadline has passed.
func (s *search) overdue() bool {
	s.late = s.late || s.params.Late != nil && s.params.Late()
	return s.late
}

// limited reports whether limits or reservations can stand in the way of anything.
func (s *search) limited() bool {
	return len(s.p.Supply) > 0 || slices.ContainsFunc(s.p.Pools, func(p model.Pool) bool { return len(p.Limits) > 0 })
}

// reconsider uses what improvement has freed of limits and reservations: machines
// are exchanged for the cheapest that hold their pods, then pods that were left out
// or that ended in a later pass are offered to what is left.
func (s *search) reconsider(a *attempt, values []float64) *attempt {
	s.exchange(a)
	s.order, s.worths = nil, values
	for range s.p.Passes {
		again := a.clone()
		remaining := again.unplaced
		moved := false
		for i := 1; i < len(again.bought); i++ {
			for j := range again.bought[i] {
				node := &again.bought[i][j]
				again.budget.spend(&s.p.Options[node.Option], -node.N)
				for _, it := range node.Items {
					remaining[it.Class] += it.N * node.N
				}
				moved = true
			}
			again.bought[i] = nil
		}
		if !moved && !model.AnyLeft(remaining) {
			break
		}
		s.round(again, remaining, values)
		again.evaluate(s.p, s.levels)
		if slices.Compare(again.placed, a.placed) < 0 || !again.earlier(a) {
			break
		}
		if !s.over() {
			s.improve(again, values, 1)
		}
		s.exchange(again)
		a = again
	}
	return a
}

// scarce reports whether pods were left out that some option could hold: limits or
// reservations bind, and priority must decide.
func (s *search) scarce(a *attempt, values []float64) bool {
	for c, n := range a.unplaced {
		if n > 0 && (values[c] > 0 || s.p.AnyBinTakes(model.ClassID(c))) {
			return true
		}
	}
	return false
}

// share looks for the attempt that places the most pods by priority when there is
// not enough for all: strictly by priority, counting what machines take of their
// pools' limits in place of their price, and giving way to those who were left out.
func (s *search) share(best *attempt, values []float64) *attempt {
	each := make([]float64, len(values))
	for c, v := range values {
		if v > 0 {
			each[c] = 1
		}
	}
	byLimits := false
	until := s.fill.work + max(4*leastMost, min(s.params.Work, 1<<60))
	for i, v := range [][]float64{values, each, each, values} {
		s.fill.pace.on = i == 0 // else worths and costs do not compare
		if a := s.giveWay(v, until); a.better(best) {
			best = a
		}
		if !byLimits && &v[0] == &each[0] {
			byLimits = true
			s.costByLimits()
		}
	}
	s.fill.pace.on = true
	copy(s.fill.costs, s.prices)
	return best
}

// giveWayRounds is how many attempts are made for those who were left out.
const giveWayRounds = 6

// giveWay makes attempts strictly by priority in which the classes that were left
// out before count for more, so that those who have one place only get it before
// those who have others. It ends when so much work is done.
func (s *search) giveWay(values []float64, until int64) *attempt {
	boosted := slices.Clone(values)
	best := s.try(boosted, true)
	for range giveWayRounds {
		left := false
		for c, n := range best.unplaced {
			if n > 0 && boosted[c] > 0 {
				boosted[c] *= 16
				left = true
			}
		}
		if !left || s.fill.work > until {
			break
		}
		if a := s.try(boosted, true); a.better(best) {
			best = a
		}
	}
	return best
}

// costByLimits makes an option cost the largest share of a limit that it takes;
// options of pools without limits keep a small cost in order of price.
func (s *search) costByLimits() {
	dearest := slices.Max(append([]float64{1}, s.prices...))
	for o := range s.p.Options {
		option := &s.p.Options[o]
		cost := 1e-6 * (1 + s.prices[o]/dearest)
		for d, use := range option.Use {
			if limit := s.p.Pools[option.Pool].Limits[d]; limit > 0 {
				cost = max(cost, float64(use)/float64(limit))
			}
		}
		s.fill.costs[o] = cost
	}
}

// inOrder is the order in which classes are offered to machines that exist.
func (s *search) inOrder() []model.ClassID {
	if s.order == nil {
		s.order = s.binOrder(everyClass(s.p), s.worths)
	}
	return s.order
}

// binOrder is the order in which classes are offered to the bins: those that nothing
// on sale could hold, then by priority, the crowded first, then by worth, with classes of one size and
// group side by side where the most worth of them stands. It sorts them in place.
func (s *search) binOrder(order []model.ClassID, values []float64) []model.ClassID {
	type kind struct {
		size, group, priority int32
		sold, crowded         bool
	}
	most := map[kind]float64{}
	kinds := make([]kind, len(s.p.Classes))
	for _, c := range order {
		class := &s.p.Classes[c]
		kinds[c] = kind{s.fill.sizeOf[c], class.Group, class.Priority, values[c] > 0, s.crowded[c]}
		most[kinds[c]] = max(most[kinds[c]], values[c])
	}
	peak := make([]float64, len(s.p.Classes))
	for _, c := range order {
		peak[c] = most[kinds[c]]
	}
	slices.SortFunc(order, func(x, y model.ClassID) int {
		a, b := &kinds[x], &kinds[y]
		return cmp.Or(
			first(!a.sold, !b.sold),
			cmp.Compare(b.priority, a.priority),
			first(a.crowded, b.crowded),
			cmp.Compare(peak[y], peak[x]),
			cmp.Compare(a.size, b.size),
			cmp.Compare(a.group, b.group),
			cmp.Compare(values[y], values[x]),
			cmp.Compare(x, y),
		)
	})
	return order
}

// first orders those for whom something is so before the others.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func everyClass(p *model.Problem) []model.ClassID {
	all := make([]model.ClassID, len(p.Classes))
	for c := range all {
		all[c] = model.ClassID(c)
	}
	return all
}

// solution turns an attempt into the form that callers see.
func (s *search) solution(a *attempt) model.Solution {
	out := model.Solution{Bins: a.bins.items, Unplaced: a.unplaced}
	for _, nodes := range a.bought {
		out.Nodes = append(out.Nodes, nodes...)
	}
	return out
}
