package pack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where few machines hold everything, and large ones beside small ones, the pods of some
// machines alone hardly ever fit cheaper ones: what room there is to spare is a little on each of
// the others. Here some machines are exchanged for cheaper ones, and the pods of all are moved
// about until none holds too much.

const (
	// honeShare is the part of the work of a search that may go into this, honeVain how often
	// it is tried in vain, and honeMost how many machines are exchanged at once.
	honeShare, honeVain, honeMost = 6, 200, 4
	// tiedShare is how many times the work of a search may go into this where pods are tied, and
	// tiedAll, tiedVain and tiedMost are what refleetAll, honeVain and honeMost are else.
	// tiedRow is how many machines of one row are exchanged beside those, every other time.
	tiedShare, tiedAll, tiedVain, tiedMost, tiedRow = 3, 80, 300, 6, 12
	// honePrograms is how many linear programs are solved to find machines for others, and
	// honeSteps bounds the steps of each spread.
	honePrograms, honeSteps = 4, 1500
	// honeEven is how much of the chance to be exchanged all machines have alike, as a part of
	// what those have that lose as much as the others do on average.
	honeEven = 0.25
)

// Hone exchanges machines of an answer for cheaper ones, those more often that hold pods of less
// worth than they cost. Worths are what pods are worth by a bound. It changes nothing where limits,
// reservations or crowds are in the way, or pods are left out.
func Hone(p *model.Problem, at Outcome, params Params) Outcome {
	return hone(p, at, params, honing{seed: 0x686f6e65, work: at.Work / honeShare, all: refleetAll, vain: honeVain, most: honeMost})
}

// HoneTied is Hone for pods that are tied to each other or to places. Those that keep others of
// their crowd off a machine may be exchanged, too; and more machines are exchanged at once, often
// many that admit the same pods: where these have to be, few machines are bought for them,
// and one instead of them all makes those of others pointless.
func HoneTied(p *model.Problem, at Outcome, params Params) Outcome {
	return hone(p, at, params, honing{
		seed: uint64(at.Work), work: min(params.Work, math.MaxInt64/tiedShare) * tiedShare, enough: params.Enough,
		all: tiedAll, vain: tiedVain, most: tiedMost, row: tiedRow, crowds: true,
	})
}

// honing is how far to go: with how much work, until machines cost how much, among how many
// machines of a pass, for how many tries in vain, and with how many machines at once.
type honing struct {
	seed              uint64
	work, enough, all int64
	vain, most, row   int
	crowds            bool // crowded pods may be exchanged
}

// hone exchanges machines of an answer.
func hone(p *model.Problem, at Outcome, params Params, h honing) Outcome {
	if at.Late || slices.ContainsFunc(at.Solution.Unplaced, func(n int64) bool { return n > 0 }) {
		return at
	}
	if model.Count(at.Solution.Nodes) <= fewestToHone(p) {
		return at
	}
	s := newSearch(p, params)
	if s.limited() || !h.crowds && !s.fill.pace.idle {
		return at
	}
	best := s.attemptOf(at.Solution)
	s.budget = h.work
	random := rand.New(rand.NewPCG(0x706c696d, h.seed))
	for i, m := range s.markets {
		if n := model.Count(best.bought[i]); n > fewestToHone(p) && n <= h.all {
			best.bought[i] = s.honePass(m, unbundle(best.bought[i]), h, random)
		}
	}
	best.settle(p, s.levels)
	at.Solution, at.Late, at.Work = s.solution(best), s.late, at.Work+s.fill.work
	return at
}

// fewestToHone is how many machines are too few: beside as many running nodes it does not pay.
func fewestToHone(p *model.Problem) int64 { return max(1, int64(len(p.Bins))) }

// honePass exchanges machines of a pass, and returns all.
func (s *search) honePass(m *market, nodes []model.Node, h honing, random *rand.Rand) []model.Node {
	var apart, picked []model.Node
	var all []int
	for i := range nodes {
		if !s.exchangeable(&nodes[i]) {
			apart = append(apart, nodes[i])
			continue
		}
		all = append(all, len(picked))
		picked = append(picked, nodes[i])
	}
	if len(picked) < 2 {
		return nodes
	}
	remaining := make([]int64, len(s.p.Classes))
	classes := s.heldBy(picked, all)
	cost, _ := s.takeApart(picked, all, remaining, newBudget(s.p))
	x := s.newRefleet(m, classes, remaining, s.params.Worths, cost, random)
	x.needHolders()
	x.needPlaces()
	known := len(x.needs)
	best := x.newSqueeze(m, picked, x.classes, x.total, random)
	wide := false
	for vain := 0; vain < h.vain && !s.over() && s.p.Cost(best.nodes)+s.p.Cost(apart) > h.enough; vain++ {
		s.fill.work += int64(len(best.nodes))
		gone := x.lossy(best, 1+random.IntN(h.most), anyRow)
		if wide = !wide && h.row > 0 && len(m.rows) > 1; wide {
			row := m.rowOf[best.nodes[gone[random.IntN(len(gone))]].Option]
			gone = append(gone, x.lossy(best, 1+random.IntN(h.row), row)...)
			slices.Sort(gone)
			gone = slices.Compact(gone)
		}
		fleet, found := x.instead(best, gone)
		if !found {
			continue
		}
		q := best.clone()
		q.replace(gone, fleet)
		if x.settle(q) {
			best, vain = x.newSqueeze(m, q.used(), x.classes, x.total, random), -1
		} else if len(x.needs) < known+teachMost {
			x.teach(q)
		}
	}
	return append(apart, best.nodes...)
}

// anyRow is no row in particular.
const anyRow = -1

// lossy draws so many machines, or all that there are of a row, those more often of whose cost more
// is lost.
func (x *refleet) lossy(q *squeeze, n int, row int32) []int {
	losses, sum := make([]float64, len(q.nodes)), 0.0
	for i := range q.nodes {
		worth := 0.0
		for _, it := range q.nodes[i].Items {
			worth += x.params.Worths[it.Class] * float64(it.N)
		}
		losses[i] = max(0, float64(x.p.Options[q.nodes[i].Option].Cost)-worth)
		sum += losses[i]
	}
	even := max(1, sum*honeEven/float64(len(losses)))
	for i := range losses {
		losses[i] += even
	}
	sum += even * float64(len(losses))
	if row != anyRow {
		there := 0
		sum = 0
		for i := range losses {
			if x.m.rowOf[q.nodes[i].Option] != row {
				losses[i] = 0
				continue
			}
			sum += losses[i]
			there++
		}
		n = min(n, there)
	}
	var out []int
	for range min(n, len(losses)) {
		drawn, at := x.random.Float64()*sum, -1
		for i, loss := range losses {
			if loss == 0 {
				continue
			}
			if at = i; drawn < loss {
				break
			}
			drawn -= loss
		}
		out = append(out, at)
		sum -= losses[at]
		losses[at] = 0
	}
	slices.Sort(out)
	return out
}

// instead are the cheapest machines in place of others with which all needs are met; false
// where none cost less.
func (x *refleet) instead(q *squeeze, gone []int) (fleet []int, found bool) {
	limit, have := int64(0), make([]float64, len(x.needs))
	for i := range q.nodes {
		if slices.Contains(gone, i) {
			limit += x.p.Options[q.nodes[i].Option].Cost
			continue
		}
		at, _ := slices.BinarySearch(x.m.options, q.nodes[i].Option)
		for k, y := range x.needs {
			have[k] += min(1, y[at])
		}
	}
	var needs []need
	for k, y := range x.needs {
		rest := 1 - have[k]
		if rest <= covered {
			continue
		}
		z := make(need, len(y))
		for at, share := range y {
			z[at] = share / rest
		}
		needs = append(needs, z)
	}
	if len(needs) == 0 {
		return nil, true
	}
	tree := newFleetTree(x.p, x.m, x.places, needs)
	if tree == nil {
		return nil, false
	}
	places := tree.within(float64(limit))
	x.fill.work += tree.work
	if tree = newFleetTree(x.p, x.m, places, needs); tree == nil {
		return nil, false
	}
	fleet = tree.cheapest(float64(limit), honePrograms)
	x.fill.work += tree.work
	return fleet, fleet != nil
}

// replace exchanges machines for those of a fleet, and puts the pods of the former, the largest
// first, where they are the least bad.
func (x *squeeze) replace(gone, fleet []int) {
	var homeless []model.Item
	for k := len(gone) - 1; k >= 0; k-- {
		i := gone[k]
		homeless = append(homeless, x.nodes[i].Items...)
		x.nodes = slices.Delete(x.nodes, i, i+1)
		x.over = slices.Delete(x.over, i*x.dims, (i+1)*x.dims)
		if k := len(x.p.Crowds); x.crowd != nil {
			x.crowd = slices.Delete(x.crowd, i*k, (i+1)*k)
		}
	}
	for _, at := range fleet {
		o := x.m.options[at]
		x.nodes = append(x.nodes, model.Node{Option: o, N: 1})
		for d, n := range x.p.Options[o].Room {
			x.over = append(x.over, -float64(n)*x.usual[d])
		}
		if x.crowd != nil {
			x.crowd = append(x.crowd, make([]int64, len(x.p.Crowds))...)
		}
	}
	x.margin = margins()[0]
	slices.SortStableFunc(homeless, func(a, b model.Item) int {
		return cmp.Compare(slices.Max(x.sizeOf(b.Class)), slices.Max(x.sizeOf(a.Class)))
	})
	for _, it := range homeless {
		for range it.N {
			x.add(it.Class)
		}
	}
}

// settle moves pods about until no machine holds too much, and reports whether it comes to
// that.
func (x *refleet) settle(q *squeeze) (fits bool) {
	before := q.work
	if len(q.out) == 0 {
		q.spread(margins()[0], honeSteps)
		fits = q.fits()
	}
	if len(q.out) == 0 && !fits {
		q.steady = true
		q.spread(leastMargin, honeSteps)
		q.steady = false
		fits = q.fits() || q.excess() < insistFrom && q.insist()
	}
	x.fill.work += (q.work - before) / squeezeWork
	return fits
}
