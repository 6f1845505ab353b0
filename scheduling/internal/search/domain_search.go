package search

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Shares of machines and prices of whole ones guess where tied pods are cheapest. Where
// that takes little work, the guesses are put to the test: pods are moved to other sites,
// machines are found anew, and the better plan is kept.

// seekShare is the part of the search's work, one in so many, that may go into moving pods between sites, and
// seekLeast the work that may in any case.
const (
	seekShare = 4
	seekLeast = 100_000
)

// domainSearch moves pods between sites.
type domainSearch struct {
	sites  *SitePlanner // nil before the first move
	params pack.Params
	brief  bool // moves are judged by the first machines that come up
	best   Trial
	score  *Score
	counts [][]int64 // of the best, by planner class and site
	prices [][]int64 // of sites, as the best's machines show them
	tried  map[string]bool
	shares [][]int64 // costs of sites before there are machines
	left   int64     // work that may still be done
	each   int64     // work of the last trial
}

// move is a change of a plan of sites: classes that may go elsewhere, and how many pods
// of them may stay or go where; below 0 it is any number.
type move struct {
	classes []int
	limit   func(class, site int) int64
}

// seekWork is the work that goes into moving pods between sites.
func seekWork(params pack.Params) int64 { return max(params.Work/seekShare, seekLeast) }

// searchDomains is the trial, or one with better sites: pods are moved, one move at a time, until no move is better or so much
// work is done. It goes on where the search for the sites of this trial has ended.
func searchDomains(x *Trial, params pack.Params, work int64) Trial {
	y := *x
	if x.Outcome.Late || len(x.planner.problem.Classes) == 0 {
		return y
	}
	s := x.domains
	if s == nil {
		s = &domainSearch{best: *x, brief: params.Brief, tried: map[string]bool{}, each: x.effort()}
	}
	if before := s.best.Packing; work >= s.each {
		s.params, s.left = params, work
		s.params.Work, s.params.Brief = 0, s.brief
		if s.run(); s.best.Packing != before {
			y = s.best
		}
		y.Outcome.Late = s.best.Outcome.Late
	}
	y.domains = s
	return y
}

// run makes moves until no move is better or the work is done.
func (s *domainSearch) run() {
	if s.sites == nil {
		s.sites = s.best.planner.snapshot()
		s.score = s.best.Score()
		s.sites.forget()
		s.countOpenedDomains()
		s.shares = siteCosts(&s.sites.problem)
	}
	for s.improve() {
	}
}

// countOpenedDomains makes the domains count that the best plan spreads over, whether or not a move
// lets pods go there.
func (s *domainSearch) countOpenedDomains() {
	s.tally()
	opened := s.sites.domainsOf(locationsOf(s.best.Packing, s.best.Outcome.Solution))
	for r := range s.sites.book.Rules {
		if s.sites.book.Rules[r].Term.Kind != podspec.SpreadTerm {
			continue
		}
		domains := s.sites.problem.Rules[r].Domains
		before := slices.Clone(domains)
		for d, counted := range s.sites.countedDomains(r) {
			domains[d].Eligible = domains[d].Eligible || counted
		}
		bound := topology.Replay(&s.sites.problem, s.counts, opened)
		if !slices.EqualFunc(bound, s.counts, slices.Equal) {
			copy(domains, before) // it does without some
		}
	}
}

// tally notes where the best plan puts pods.
func (s *domainSearch) tally() {
	s.counts = countSites(s.best.planner, s.best.Packing.Parts, placing(s.best.Packing, s.best.Outcome.Solution))
}

// improve makes the first move that is better, and reports whether there was any.
func (s *domainSearch) improve() bool {
	s.tally()
	s.prices = marginal(s.sites, &s.best, s.shares)
	for _, m := range s.moves() {
		for _, rigid := range []bool{true, false} {
			if s.late() || s.left < s.each {
				return false
			}
			if s.try(&m, rigid) {
				return true
			}
		}
	}
	return false
}

// late reports whether the deadline has passed, and notes it.
func (s *domainSearch) late() bool {
	s.best.Outcome.Late = s.best.Outcome.Late || s.params.Late != nil && s.params.Late()
	return s.best.Outcome.Late
}

// try makes a move. Rigid means that pods of other classes stay where they are.
func (s *domainSearch) try(m *move, rigid bool) bool {
	shares := siteCosts(&s.sites.problem)
	setSiteCosts(&s.sites.problem, s.prices)
	for i := range s.sites.problem.Classes {
		class := &s.sites.problem.Classes[i]
		moved := slices.Contains(m.classes, i)
		stay := rigid && !moved && podspec.Sum(s.counts[i]) == class.Count
		for site := range class.Sites {
			limit := int64(-1)
			switch {
			case moved:
				limit = m.limit(i, site)
			case stay:
				limit = s.counts[i][site]
			}
			class.Sites[site].Limit = limit
		}
	}
	plan := topology.Plan(&s.sites.problem)
	setSiteCosts(&s.sites.problem, shares)
	s.sites.forget()
	name := make([]byte, 0, 64)
	for i := range plan.Counts {
		for _, n := range plan.Counts[i] {
			name = binary.AppendVarint(name, n)
		}
		s.left -= int64(len(plan.Counts[i]))
	}
	if s.tried[string(name)] {
		return false
	}
	s.tried[string(name)] = true
	if s.best.complete() && podspec.Sum(plan.Unplaced) > 0 {
		return false // it places fewer, whatever machines are found
	}
	x := s.sites.pack(plan, s.params)
	s.each = x.effort()
	s.left -= s.each
	judged := x.Score()
	if x.Outcome.Late || !judged.Better(s.score) {
		return false
	}
	s.best, s.score = x, judged
	return true
}

// moves lists the changes to try: machines are taken apart, those first that are the
// emptiest; then classes go to one site or leave one.
func (s *domainSearch) moves() []move {
	out := s.apart()
	for i := range s.sites.problem.Classes {
		class := &s.sites.problem.Classes[i]
		for site := range class.Sites {
			if s.counts[i][site] < class.Count && (class.Sites[site].Cost != topology.Nowhere || len(class.Sites[site].Bins) > 0) {
				out = append(out, move{classes: []int{i}, limit: func(_, at int) int64 { return only(at == site) }})
			}
			if n := s.counts[i][site]; n > 0 && n < class.Count {
				out = append(out, move{classes: []int{i}, limit: func(_, at int) int64 { return only(at != site) }})
			}
		}
	}
	return out
}

func only(ok bool) int64 {
	if ok {
		return -1
	}
	return 0
}

// apart lists the moves of all pods of one machine away from its site.
func (s *domainSearch) apart() []move {
	type emptiness struct {
		node int
		room float64
	}
	var order []emptiness
	load := make([]int64, s.best.Packing.Model.Dims)
	for i := range s.best.Outcome.Solution.Nodes {
		node := &s.best.Outcome.Solution.Nodes[i]
		clear(load)
		s.best.Packing.Model.Load(load, node.Items)
		full := 0.0
		for d, n := range load {
			if room := s.best.Packing.Model.Options[node.Option].Room[d]; n > 0 {
				full = max(full, float64(n)/float64(room))
			}
		}
		order = append(order, emptiness{i, 1 - full})
	}
	slices.SortStableFunc(order, func(a, b emptiness) int { return cmp.Compare(b.room, a.room) })
	var out []move
	for _, e := range order {
		type place struct{ class, site int }
		gone := map[place]int64{}
		var classes []int
		for _, it := range s.best.Outcome.Solution.Nodes[e.node].Items {
			if p := &s.best.Packing.Parts[it.Class]; p.Pinned {
				class := s.sites.classOf[p.Unit]
				gone[place{class, p.Site}] += it.N
				if !slices.Contains(classes, class) {
					classes = append(classes, class)
				}
			}
		}
		if len(classes) == 0 {
			continue
		}
		counts := s.counts
		out = append(out, move{classes: classes, limit: func(class, site int) int64 {
			if n := gone[place{class, site}]; n > 0 {
				return max(counts[class][site]-n, 0)
			}
			return -1
		}})
	}
	return out
}
