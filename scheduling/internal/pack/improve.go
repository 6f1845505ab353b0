package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// improve improves the machines of each pass, beginning with the pass from. The search ends with the budget,
// with the deadline, or after a number of failures that grows with the number of machines.
func (s *search) improve(a *attempt, values []float64, from int) {
	for i := range s.p.Passes {
		if i < from || len(a.bought[i]) == 0 {
			continue
		}
		a.bought[i] = s.improvePass(s.markets[i], model.Unbundle(a.bought[i]), values, a.budget, s.random, s.targetCost(a, i))
	}
	a.evaluate(s.p, s.levels)
}

// downsize replaces every machine by the cheapest option that holds its pods.
func (s *search) downsize(a *attempt) {
	for i := range s.p.Passes {
		if len(a.bought[i]) == 0 {
			continue
		}
		nodes := model.Unbundle(a.bought[i])
		remaining := make([]int64, len(s.p.Classes))
		for at := range nodes {
			picked := []int{at}
			cost, _ := s.lns.takeApart(nodes, picked, remaining, a.budget)
			if fresh := s.lns.mergeIntoOne(s.markets[i], nodes, picked, remaining, cost, a.budget); fresh != nil {
				nodes[at] = fresh[0]
				continue
			}
			a.budget.Spend(&s.p.Options[nodes[at].Option], 1)
			clear(remaining)
		}
		a.bought[i] = nodes
	}
	a.evaluate(s.p, s.levels)
}

// improvePass takes a few machines apart, again and again, and packs their pods in another way. A change is
// kept if it costs less, or as much with fewer machines. nodes are bought once each. The search ends early at a
// cost of at most wanted, if that is above 0.
func (s *search) improvePass(m *greedy.Market, nodes []model.Node, values []float64, b *greedy.Budget, random *rand.Rand, wanted int64) []model.Node {
	r := newRanking(s.p, nodes, values)
	start := slices.Clone(r.nodes)
	workers := newWorkers(s, m, len(nodes), values, b)
	for failures := 0; len(r.nodes) > 0 && failures < patience(len(r.nodes), s.lns.deep) && !s.over(); {
		workers.draw(r.nodes, random)
		workers.try(r.nodes)
		if failures = workers.make(r, failures); failures == 0 && wanted > 0 && s.p.Cost(r.nodes) <= wanted {
			break
		}
	}
	if len(r.nodes) == len(start) && s.p.Cost(r.nodes) == s.p.Cost(start) {
		return start // no gain: keep the pods where they were
	}
	return r.nodes
}

// triesPerChoice is the number of tries for each choice of few machines. deepPatience multiplies all tries of a
// deep search.
const triesPerChoice, deepPatience = 16, 2

// patience returns the number of failures in a row that end the search. Few machines have few choices.
func patience(machines int, deep bool) int {
	most := 50 + 8*machines
	if machines < 8 {
		most = min(most, triesPerChoice*(1<<machines-1))
	}
	if deep {
		most *= deepPatience
	}
	return most
}

// improveBins takes a few existing nodes and a few bought machines apart together, and places their pods and
// the pods without a place again: on the existing nodes in another order of classes, the rest on new machines.
// A large pod can give way to several small ones that have no other place, and machines are saved if their pods
// fit elsewhere.
func (s *search) improveBins(a *attempt, values []float64) {
	x := &binExchange{s: s, a: a, random: rand.New(rand.NewPCG(0x62696e73, 0x6d6f7665))}
	for i := range s.p.Passes {
		a.bought[i] = model.Unbundle(a.bought[i])
	}
	receivers := x.receivers()
	for failures := 0; failures < 60+6*min(len(receivers), 100) && !s.over(); failures++ {
		if len(receivers) == 0 && !s.p.Limited() {
			break
		}
		if x.try(values, receivers, nil) {
			failures, receivers = -1, x.receivers()
		}
	}
	a.evaluate(s.p, s.levels)
}
