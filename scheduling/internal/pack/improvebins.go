package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// judgement is what a change is judged by: pods left out by priority, pods by the
// pass they ended in, cost, machines.
type judgement struct {
	unplaced []int64 // by priority level, highest first
	late     []int64 // pods on machines of later passes, latest first
	cost     int64
	nodes    int64
}

// count notes pods on machines of a pass; in the first one a pod sits as well as anywhere.
func (j judgement) count(pass int, n int64) {
	if pass > 0 {
		j.late[len(j.late)-pass] = n
	}
}

func (j judgement) compare(o judgement) int {
	return cmp.Or(
		slices.Compare(j.unplaced, o.unplaced),
		slices.Compare(j.late, o.late),
		cmp.Compare(j.cost, o.cost),
		cmp.Compare(j.nodes, o.nodes),
	)
}

// improveBins takes a few running machines and a few bought ones apart together, and
// places their pods, and those that were left out, anew: running machines in another
// order of classes, the rest on new machines. A large pod gives way to several small
// ones that have no other place, and machines are closed whose pods fit elsewhere.
func (s *search) improveBins(a *attempt, values []float64) {
	random := rand.New(rand.NewPCG(0x62696e73, 0x6d6f7665))
	for i := range s.p.Passes {
		a.bought[i] = model.Unbundle(a.bought[i])
	}
	receivers := s.receivers(a)
	for vain := 0; vain < 60+6*min(len(receivers), 100) && !s.over(); vain++ {
		if len(receivers) == 0 && !s.p.Limited() {
			break
		}
		if s.tryBins(a, values, receivers, nil, random) {
			vain, receivers = -1, s.receivers(a)
		}
	}
	a.evaluate(s.p, s.levels)
}

// handful is up to how many bins all are taken apart, in case one makes room on another.
const handful = 16

// receivers are the bins that could, were they empty, take a pod that was left out or for
// which a machine was bought. Whatever changes on others alone saves no machine.
func (s *search) receivers(a *attempt) []int {
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
	var classes []model.ClassID // one of each size and group
	for c := range s.p.Classes {
		if wanted[c] && !slices.ContainsFunc(classes, func(have model.ClassID) bool { return s.fill.SameSeats(have, model.ClassID(c)) }) {
			classes = append(classes, model.ClassID(c))
		}
	}
	var out []int
	for i := range s.p.Bins {
		if len(classes) > 0 && len(s.p.Bins) <= handful || slices.ContainsFunc(classes, func(c model.ClassID) bool {
			return s.p.Bins[i].Admits.Has(int(s.p.Classes[c].Group)) && model.Fits(s.p.Bins[i].Room, s.p.Classes[c].Request)
		}) {
			out = append(out, i)
		}
	}
	return out
}

// tryBins makes one change and keeps it if it is for the better, which it reports. With
// penalties, machines are judged by what they take of what is scarce, and a change is kept
// that leaves out no more, whatever it costs.
func (s *search) tryBins(a *attempt, values []float64, receivers []int, penalties *limitPenalties, random *rand.Rand) bool {
	picked := s.pickBins(receivers, random)
	before := judgement{unplaced: s.byLevel(a.unplaced), late: make([]int64, len(s.markets)-1)}
	// Where all pods have a place and nothing is scarce, only fewer pods on machines are a gain.
	ample := penalties == nil && !s.p.Limited() && !model.AnyLeft(a.unplaced)
	remaining := slices.Clone(a.unplaced)
	nodes, least := make([][]int, len(s.markets)), 0
	if penalties != nil || ample {
		least = 1 // what has nothing to do with bins has to change, too
	}
	for i := range s.markets {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes[i] = pick(random, len(a.bought[i]))
		nodes[i] = nodes[i][:least+random.IntN(min(len(nodes[i]), 4)+1-least)]
		before.count(i, podsOn(a.bought[i], nodes[i]))
		cost, count := s.takeApart(a.bought[i], nodes[i], remaining, a.budget)
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
	s.classes = s.classes[:0]
	for c, n := range remaining {
		if n > 0 {
			s.classes = append(s.classes, model.ClassID(c))
		}
	}
	jittered := s.jitter(values, s.classes, random)
	if penalties != nil {
		penalties = penalties.draw(random)
		s.drawValues(jittered, values, random)
	}
	for c, n := range a.unplaced {
		if n > 0 && (penalties == nil || random.IntN(2) == 0) {
			jittered[c] *= float64(int(1) << random.IntN(8)) // those left out push in
		}
	}
	order := s.fill.BinOrder(slices.Clone(s.classes), jittered)
	if random.IntN(2) == 0 {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	if random.IntN(3) == 0 {
		s.fill.PlaceOn(a.bins, picked, order, remaining, random)
	}
	s.fill.PlaceOn(a.bins, picked, order, remaining, nil)
	after := judgement{late: make([]int64, len(s.markets)-1)}
	fresh := make([][]model.Node, len(s.markets))
	vain := ample && covers(remaining, given)
	for i, m := range s.markets {
		if vain {
			break
		}
		left := slices.DeleteFunc(slices.Clone(s.classes), func(c model.ClassID) bool { return remaining[c] == 0 || !s.fill.Possible[c] })
		if penalties == nil {
			places := m.All
			if ample {
				places = m.UpTo(s.p, before.cost)
			}
			fresh[i] = s.reconstruct(m, places, left, remaining, jittered, a.budget, random)
		} else {
			fresh[i] = s.reconstructAt(penalties, i, left, remaining, jittered, a.budget, random)
		}
		after.count(i, model.Pods(fresh[i]))
		after.cost += s.p.Cost(fresh[i])
		after.nodes += model.Count(fresh[i])
	}
	after.unplaced = s.byLevel(remaining)
	if c := after.compare(before); vain || c > 0 && (penalties == nil || after.short(before)) || c == 0 {
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

// pickBins draws a few bins: one that could receive pods, and others that could, too, or
// that could take what the first gives away.
func (s *search) pickBins(receivers []int, random *rand.Rand) []int {
	if len(receivers) == 0 {
		return nil
	}
	picked := pick(random, len(receivers))
	picked = picked[:min(len(picked), 1+random.IntN(4))]
	for k, at := range picked {
		picked[k] = receivers[at]
	}
	if len(receivers) == len(s.p.Bins) {
		return picked
	}
	for k := 1 + random.IntN(2); k < 4; k += 1 + random.IntN(2) {
		other := random.IntN(len(s.p.Bins))
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

// covers reports whether there is as much of each class as of others.
func covers(counts, others []int64) bool {
	for c, n := range others {
		if counts[c] < n {
			return false
		}
	}
	return true
}

// byLevel adds counts of classes up by priority level.
func (s *search) byLevel(counts []int64) []int64 {
	out := make([]int64, len(s.levels))
	for c, n := range counts {
		out[s.level(c)] += n
	}
	return out
}

// podsOn counts the pods on the picked machines.
func podsOn(nodes []model.Node, picked []int) (n int64) {
	for _, at := range picked {
		n += model.Pods(nodes[at : at+1])
	}
	return n
}

// short reports whether more pods are left out, or end later.
func (j judgement) short(o judgement) bool {
	return cmp.Or(slices.Compare(j.unplaced, o.unplaced), slices.Compare(j.late, o.late)) > 0
}
