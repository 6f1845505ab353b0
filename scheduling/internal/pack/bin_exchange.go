package pack

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// objective is the lexicographic objective of a change: pods without a place by priority, pods by the pass of
// their machine, cost, number of machines.
type objective struct {
	unplaced []int64 // by priority level, highest first
	late     []int64 // pods on machines of later passes, latest first
	cost     int64
	nodes    int64
}

// count notes the pods on machines of a pass. The first pass is as good as an existing node, so it is not
// counted.
func (j objective) count(pass int, n int64) {
	if pass > 0 {
		j.late[len(j.late)-pass] = n
	}
}

// compare orders objectives, the better one first.
func (j objective) compare(o objective) int {
	return cmp.Or(
		slices.Compare(j.unplaced, o.unplaced),
		slices.Compare(j.late, o.late),
		cmp.Compare(j.cost, o.cost),
		cmp.Compare(j.nodes, o.nodes),
	)
}

// binExchange is a neighbourhood search over existing nodes and bought machines together.
type binExchange struct {
	s      *search
	a      *attempt
	random *rand.Rand
}

// fewBins is the number of existing nodes up to which all of them are candidates, because one can make room on
// another.
const fewBins = 16

// receivers returns the bins that could, if they were empty, take a pod without a place or on a bought machine.
// A change among the other bins cannot save a machine.
func (x *binExchange) receivers() []int {
	s, a := x.s, x.a
	wanted := make([]bool, len(s.p.Classes))
	for c, n := range a.unplaced {
		wanted[c] = n > 0
	}
	for _, nodes := range a.bought {
		for i := range nodes {
			for _, it := range nodes[i].Items {
				wanted[it.Class] = true
			}
		}
	}
	var classes []model.ClassID // a representative of each size and group
	for c := range s.p.Classes {
		if wanted[c] && !slices.ContainsFunc(classes, func(have model.ClassID) bool { return s.fill.SameBins(have, model.ClassID(c)) }) {
			classes = append(classes, model.ClassID(c))
		}
	}
	var out []int
	for i := range s.p.Bins {
		if len(classes) > 0 && len(s.p.Bins) <= fewBins || slices.ContainsFunc(classes, func(c model.ClassID) bool {
			return s.p.Bins[i].Admits.Has(int(s.p.Classes[c].Group)) && model.Fits(s.p.Bins[i].Room, s.p.Classes[c].Request)
		}) {
			out = append(out, i)
		}
	}
	return out
}

// try makes one change and keeps it if the objective improves, which it reports. With penalties, machines are
// chosen by their use of limits and reservations, and a change is kept if it leaves out no more pods, whatever
// its cost, because the next change may then place one more.
func (x *binExchange) try(values []float64, receivers []int, penalties *limitPenalties) bool {
	s, a, random := x.s, x.a, x.random
	picked := x.pick(receivers)
	before := objective{unplaced: s.byLevel(a.unplaced), late: make([]int64, len(s.markets)-1)}
	// Where all pods have a place and no limit binds, a change gains only if fewer pods need machines.
	ample := penalties == nil && !s.p.Limited() && !model.AnyLeft(a.unplaced)
	remaining := slices.Clone(a.unplaced)
	nodes, least := make([][]int, len(s.markets)), 0
	if penalties != nil || ample {
		least = 1 // at least one bought machine must change
	}
	for i := range s.markets {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes[i] = pick(random, len(a.bought[i]))
		nodes[i] = nodes[i][:least+random.IntN(min(len(nodes[i]), 4)+1-least)]
		before.count(i, podsOn(a.bought[i], nodes[i]))
		cost, count := s.lns.takeApart(a.bought[i], nodes[i], remaining, a.budget)
		before.cost += cost
		before.nodes += count
	}
	given := slices.Clone(remaining)
	saved := &greedy.Bins{}
	for _, i := range picked {
		saved.Room, saved.Items = append(saved.Room, a.bins.Room[i]), append(saved.Items, a.bins.Items[i])
		for _, it := range a.bins.Items[i] {
			remaining[it.Class] += it.N
		}
		a.bins.Room[i], a.bins.Items[i] = slices.Clone(s.p.Bins[i].Room), nil
	}
	s.lns.classes = s.lns.classes[:0]
	for c, n := range remaining {
		if n > 0 {
			s.lns.classes = append(s.lns.classes, model.ClassID(c))
		}
	}
	jittered := s.lns.jitter(values, s.lns.classes, random)
	if penalties != nil {
		penalties = penalties.draw(random)
		x.drawValues(jittered, values)
	}
	for c, n := range a.unplaced {
		if n > 0 && (penalties == nil || random.IntN(2) == 0) {
			jittered[c] *= float64(int(1) << random.IntN(8)) // pods without a place come earlier
		}
	}
	order := s.fill.BinOrder(slices.Clone(s.lns.classes), jittered)
	if random.IntN(2) == 0 {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	if random.IntN(3) == 0 {
		s.fill.PlaceOn(a.bins, picked, order, remaining, random)
	}
	s.fill.PlaceOn(a.bins, picked, order, remaining, nil)
	after := objective{late: make([]int64, len(s.markets)-1)}
	fresh := make([][]model.Node, len(s.markets))
	hopeless := ample && covers(remaining, given)
	for i, m := range s.markets {
		if hopeless {
			break
		}
		left := slices.DeleteFunc(slices.Clone(s.lns.classes), func(c model.ClassID) bool { return remaining[c] == 0 || !s.fill.Possible[c] })
		if penalties == nil {
			places := m.All
			if ample {
				places = m.UpTo(s.p, before.cost)
			}
			fresh[i] = s.lns.reconstruct(m, places, left, remaining, jittered, a.budget, random)
		} else {
			fresh[i] = penalties.reconstruct(s.lns, m, left, remaining, jittered, a.budget, random)
		}
		after.count(i, model.Pods(fresh[i]))
		after.cost += s.p.Cost(fresh[i])
		after.nodes += model.Count(fresh[i])
	}
	after.unplaced = s.byLevel(remaining)
	if c := after.compare(before); hopeless || c > 0 && (penalties == nil || after.short(before)) || c == 0 {
		for k, i := range picked {
			a.bins.Room[i], a.bins.Items[i] = saved.Room[k], saved.Items[k]
		}
		for i := range s.markets {
			for k := range fresh[i] {
				a.budget.Spend(&s.p.Options[fresh[i][k].Option], -fresh[i][k].N)
			}
			for _, at := range nodes[i] {
				a.budget.Spend(&s.p.Options[a.bought[i][at].Option], 1)
			}
		}
		return false
	}
	copy(a.unplaced, remaining)
	for i := range s.markets {
		for k := len(nodes[i]) - 1; k >= 0; k-- {
			a.bought[i] = slices.Delete(a.bought[i], nodes[i][k], nodes[i][k]+1)
		}
		a.bought[i] = append(a.bought[i], model.Unbundle(fresh[i])...)
	}
	return true
}

// pick draws a few bins: at least one receiver, and others that may take the pods that it gives up.
func (x *binExchange) pick(receivers []int) []int {
	random, bins := x.random, len(x.s.p.Bins)
	if len(receivers) == 0 {
		return nil
	}
	picked := pick(random, len(receivers))
	picked = picked[:min(len(picked), 1+random.IntN(4))]
	for k, at := range picked {
		picked[k] = receivers[at]
	}
	if len(receivers) == bins {
		return picked
	}
	for k := 1 + random.IntN(2); k < 4; k += 1 + random.IntN(2) {
		other := random.IntN(bins)
		switch {
		case slices.Contains(picked, other):
		case k < len(picked):
			picked[k] = other
		default:
			picked = append(picked, other)
		}
	}
	return picked
}

// covers reports whether counts has at least as many pods of each class as others.
func covers(counts, others []int64) bool {
	for c, n := range others {
		if counts[c] < n {
			return false
		}
	}
	return true
}

// drawValues draws values for the classes of a change, so that a priority level counts as much as the next one,
// or 4 or 64 times as much.
func (x *binExchange) drawValues(drawn, values []float64) {
	s, random := x.s, x.random
	urgent := [...]float64{1, 4, 64}[random.IntN(3)]
	for _, c := range s.lns.classes {
		drawn[c] = values[c] * draw(random) / math.Pow(urgent, float64(s.level(int(c))))
	}
}

// podsOn counts the pods on the picked machines.
func podsOn(nodes []model.Node, picked []int) (n int64) {
	for _, at := range picked {
		n += model.Pods(nodes[at : at+1])
	}
	return n
}

// short reports whether more pods are left out than in o, or placed in later passes.
func (j objective) short(o objective) bool {
	return cmp.Or(slices.Compare(j.unplaced, o.unplaced), slices.Compare(j.late, o.late)) > 0
}
