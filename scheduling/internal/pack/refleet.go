package pack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where some pods may be on some machines only, a fleet for those who may be anywhere does
// not do for all, and fleets for each kind of pods alone are no good to the others. Here
// the machines for all of them are chosen together: as many that admit each kind as that
// needs, and no more than all need. A fleet that turns out to be too small says what else
// is needed, and the next one has that.

const (
	// refleetAll is for how many machines it is tried. refleetTries is how many fleets are tried
	// for the same pods, refleetWhole for all pods, and refleetPrograms how many linear programs
	// are solved to find each.
	refleetAll, refleetTries, refleetWhole, refleetPrograms = 64, 2, 16, 30
	// refleetFewest and refleetMost are how few and how many machines are taken apart, and
	// refleetRow how many more of one row; refleetVain is how often that is tried in vain.
	refleetFewest, refleetMost, refleetRow, refleetVain = 3, 8, 4, 100
	// refleetSlack is how many times the room that pods ask for a fleet has, and refleetShort
	// what part at most of what it was found to need a fleet had that was too small.
	refleetSlack, refleetShort = 1.001, 0.999
	// refleetWork is how many times the work of a search may go into this, if that is no more
	// than was done before, and refleetLess the part of it in a search with the least work.
	refleetWork, refleetLess = 2, 2
	// refleetPicky bounds how much pods that few rows admit go before others.
	refleetPicky = 16
	// squeezeSteps bounds the steps of each spread, and squeezeMost is how many usual pods too
	// many are not worth another.
	squeezeSteps, squeezeMost = 2000, 3
)

// refleets buys one fleet for all machines of a pass, and then for some at a time, drawn at
// random, while there is work to do and that pays. Beside as many running nodes it does
// not: a few machines more are bought often there, and other moves do for them.
func (s *search) refleets(a *attempt, values []float64) {
	if !s.fill.pace.idle || s.limited() {
		return
	}
	work := min(s.params.Work, s.fill.work/refleetWork) * refleetWork
	if work == 0 {
		work = s.fill.work / refleetLess
	}
	random := rand.New(rand.NewPCG(0x706c696d, 0x666c6565))
	for i, m := range s.markets {
		if n := model.Count(a.bought[i]); n > max(1, int64(len(s.p.Bins))) && n <= refleetAll && len(m.rows) > 1 {
			a.bought[i] = s.refleetPass(m, unbundle(a.bought[i]), values, work, random)
		}
	}
	a.settle(s.p, s.levels)
}

// refleetPass buys fleets for machines of a pass, and returns all.
func (s *search) refleetPass(m *market, nodes []model.Node, values []float64, work int64, random *rand.Rand) []model.Node {
	r := newRanking(s.p, nodes, values)
	all := make([]int, len(nodes))
	for i := range all {
		all[i] = i
	}
	start := s.fill.work
	s.refleet(m, r, all, values, refleetWhole, start+work/2, random)
	for vain := 0; vain < refleetVain && s.fill.work < start+work && len(r.nodes) > 1 && !s.overdue(); vain++ {
		s.fill.work += int64(len(r.nodes))
		picked := s.related(m, r.nodes, random)
		if s.refleet(m, r, picked, values, refleetTries, start+work, random) {
			vain = 0
		}
	}
	return r.nodes
}

// refleet buys fleets for the picked machines, in so many tries for each and while less than
// some work is done, and reports whether one of them is cheaper.
func (s *search) refleet(m *market, r *ranking, picked []int, values []float64, tries int, until int64, random *rand.Rand) (better bool) {
	picked = slices.DeleteFunc(picked, func(at int) bool { return !s.sociable(&r.nodes[at]) })
	if len(picked) == 0 {
		return false
	}
	slices.Sort(picked)
	remaining := make([]int64, len(s.p.Classes))
	classes := s.heldBy(r.nodes, picked)
	cost, _ := s.takeApart(r.nodes, picked, remaining, newBudget(s.p))
	x := s.newRefleet(m, classes, remaining, values, cost, random)
	var best []model.Node
	for {
		fresh := x.cheaper(cost, tries, until)
		if fresh == nil {
			break
		}
		best, cost = fresh, s.p.Cost(fresh)
	}
	if best != nil {
		r.exchange(picked, unbundle(best))
	}
	return best != nil
}

// related draws some machines, or more often one and others of its row and a few more.
func (s *search) related(m *market, nodes []model.Node, random *rand.Rand) []int {
	all := random.Perm(len(nodes))
	most := refleetFewest + random.IntN(refleetMost-refleetFewest+1)
	if random.IntN(3) > 0 {
		row, few := m.rowOf[nodes[all[0]].Option], random.IntN(3)
		most += refleetRow
		all = slices.DeleteFunc(all, func(at int) bool {
			if m.rowOf[nodes[at].Option] == row {
				return false
			}
			few--
			return few < 0
		})
	}
	return all[:min(len(all), most)]
}

// sociable reports whether the pods on a machine may share others with any pods.
func (s *search) sociable(node *model.Node) bool {
	return s.p.Options[node.Option].Supply == model.NoSupply && !slices.ContainsFunc(node.Items, func(it model.Item) bool {
		class := &s.p.Classes[it.Class]
		return class.PerNode > 0 || len(class.Conflicts) > 0 || len(class.Crowds) > 0
	})
}

// refleet is the search for one fleet for some pods.
type refleet struct {
	*search
	m       *market
	classes []model.ClassID
	total   []int64   // by class
	worths  []float64 // by class, those of pods that few rows admit raised
	places  []int
	needs   []need
	budget  *budget
	random  *rand.Rand
}

// newRefleet takes pods that machines below a cost hold.
func (s *search) newRefleet(m *market, classes []model.ClassID, remaining []int64, values []float64, cost int64, random *rand.Rand) *refleet {
	x := &refleet{
		search: s, m: m, classes: slices.Clone(classes), total: slices.Clone(remaining),
		worths: slices.Clone(values), budget: newBudget(s.p), random: random,
	}
	s.fill.arrange(x.classes, values)
	for _, at := range m.upTo(s.p, cost) {
		if option := &s.p.Options[m.options[at]]; option.Supply == model.NoSupply && option.Floor < 0 {
			x.places = append(x.places, at)
		}
	}
	all, rowsOf := make([]float64, s.p.Dims), map[int32][]bool{}
	var kinds [][]bool
	var asked [][]float64
	for _, c := range x.classes {
		class := &s.p.Classes[c]
		rows, known := rowsOf[class.Group]
		if !known {
			for _, row := range m.rows {
				rows = append(rows, row.Has(int(class.Group)))
			}
			rowsOf[class.Group] = rows
		}
		k := slices.IndexFunc(kinds, func(have []bool) bool { return slices.Equal(have, rows) })
		if k < 0 {
			k = len(kinds)
			kinds, asked = append(kinds, rows), append(asked, make([]float64, s.p.Dims))
		}
		x.worths[c] *= math.Pow(ownFirst, float64(min(refleetPicky, missing(rows))))
		for d, q := range class.Request {
			asked[k][d] += float64(q) * float64(remaining[c])
			all[d] += float64(q) * float64(remaining[c])
		}
	}
	for k, rows := range kinds {
		if slices.Contains(rows, false) {
			x.needRoom(asked[k], rows)
		}
	}
	x.needRoom(all, nil)
	return x
}

// missing is how many rows are not among some.
func missing(rows []bool) (n int) {
	for _, has := range rows {
		if !has {
			n++
		}
	}
	return n
}

// needRoom asks for room in some rows; nil for all.
func (x *refleet) needRoom(asked []float64, rows []bool) {
	for d, n := range asked {
		if n <= 0 {
			continue
		}
		y := make(need, len(x.m.options))
		for at, o := range x.m.options {
			if len(rows) == 0 || rows[x.m.row[at]] {
				y[at] = float64(x.p.Options[o].Room[d]) / (n * refleetSlack)
			}
		}
		x.needs = append(x.needs, y)
	}
}

// cheaper looks for machines for all pods that cost less than a limit, in so many tries and
// while less than some work is done; nil for none.
func (x *refleet) cheaper(limit int64, tries int, until int64) []model.Node {
	for ; tries > 0 && x.fill.work < until; tries-- {
		tree := newFleetTree(x.p, x.m, x.places, x.needs)
		if tree == nil {
			return nil
		}
		x.places = tree.within(float64(limit))
		x.fill.work += tree.work
		if tree = newFleetTree(x.p, x.m, x.places, x.needs); tree == nil {
			return nil
		}
		fleet := tree.cheapest(float64(limit), refleetPrograms)
		x.fill.work += tree.work
		if fleet == nil || x.overdue() {
			return nil
		}
		q, all := x.pack(fleet)
		if all {
			return q.used()
		}
		x.learn(q)
		if nodes := x.relieve(q, limit); nodes != nil {
			return nodes
		}
	}
	return nil
}

// pack puts the pods onto the machines of a fleet, and reports whether there is room for all.
func (x *refleet) pack(fleet []int) (*squeeze, bool) {
	admitted := func(at int) int { return x.m.rows[x.m.row[at]].Count() }
	slices.SortStableFunc(fleet, func(i, j int) int { return cmp.Compare(admitted(j), admitted(i)) })
	remaining := slices.Clone(x.total)
	bought := x.outfit(x.m, fleet, slices.Clone(x.classes), slices.Clone(x.classes), remaining, x.worths, x.budget)
	var nodes []model.Node
	for _, at := range fleet {
		node := model.Node{Option: x.m.options[at], N: 1}
		if len(bought) > 0 && bought[0].Option == node.Option {
			node, bought = bought[0], bought[1:]
		}
		nodes = append(nodes, node)
	}
	q := x.newSqueeze(x.m, nodes, x.classes, x.total, x.random)
	q.margin = margins()[0]
	left := false
	for _, c := range x.classes {
		for range remaining[c] {
			q.add(c)
			left = true
		}
	}
	if len(q.out) > 0 || !left {
		return q, !left
	}
	fits := false
	for _, margin := range margins() {
		q.spread(margin, squeezeSteps)
		if fits = q.fits(); fits || q.excess() > squeezeMost {
			break
		}
	}
	x.fill.work += q.work / squeezeWork
	return q, fits
}

// learn adds the need that a fleet did not have: pods are worth what they add to what is too
// much, on the machine where that is the least, or more than all others where none of the
// machines can hold them; and options have as much of it as they hold worth.
func (x *refleet) learn(q *squeeze) {
	worths, sum := make([]float64, len(x.p.Classes)), 0.0
	for margin := max(leastMargin, q.margin); sum == 0 && margin < mostMargin; margin *= 4 {
		for _, c := range x.classes {
			worths[c] = q.burden(c, margin)
			sum += worths[c] * float64(x.total[c])
		}
	}
	if sum == 0 {
		return
	}
	y := make(need, len(x.m.options))
	x.hold(y, x.places, worths, sum)
	x.ask(q, y)
}

// hold notes of machines what share of the worth of all pods they hold at most.
func (x *refleet) hold(y need, places []int, worths []float64, sum float64) {
	classes := slices.Clone(x.classes)
	x.fill.arrange(classes, worths)
	x.fill.stock(&x.stage, x.m, places, classes)
	for _, at := range places {
		if shelves := x.stage.shelves[x.m.row[at]]; len(shelves) > 0 {
			_, worth := x.fill.fill(x.m.options[at], nil, shelves, x.total, worths)
			y[at] = worth / sum
		}
	}
}

// ask adds a need that the machines of a squeeze do not meet.
func (x *refleet) ask(q *squeeze, y need) {
	have := 0.0
	for i := range q.nodes {
		at, _ := slices.BinarySearch(x.m.options, q.nodes[i].Option)
		have += y[at]
	}
	if have > refleetShort {
		for at := range y {
			y[at] *= refleetShort / have
		}
	}
	x.needs = append(x.needs, y)
}

// relieve takes pods off machines that hold too much and buys others for them. It returns
// nil where that is too much, or costs as much as the limit.
func (x *refleet) relieve(q *squeeze, limit int64) []model.Node {
	if q.excess()+float64(len(q.out)) > squeezeMost {
		return nil
	}
	remaining := make([]int64, len(x.p.Classes))
	left := q.unload(remaining)
	nodes := q.used()
	more := x.reconstruct(x.m, x.m.upTo(x.p, limit), left, remaining, x.worths, x.budget, x.random)
	if slices.ContainsFunc(left, func(c model.ClassID) bool { return remaining[c] > 0 }) || x.p.Cost(nodes)+x.p.Cost(more) >= limit {
		return nil
	}
	return append(nodes, more...)
}
