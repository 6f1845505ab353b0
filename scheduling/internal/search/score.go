package search

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Score orders plans of sites once machines are found for them.
type Score struct {
	placed   []int64 // pods that bind, by priority, highest first
	denied   int64   // preferences that are not granted
	passes   []rankedPods
	cost     int64
	machines int64
}

// rankedPods is how many pods are on machines of one rank.
type rankedPods struct {
	pass model.Pass
	n    int64
}

// Score judges a trial by the plan that it would become.
func (x *Trial) Score() *Score {
	d := &decoder{in: x.Packing.In, packing: x.Packing, sales: newSaleReader(x.Packing, false), planner: x.planner, solution: x.Outcome.Solution, ledger: instance.NewLedger(x.Packing.In)}
	d.solution.Unplaced, d.solution.Bins = slices.Clone(d.solution.Unplaced), slices.Clone(d.solution.Bins)
	machines := d.final()
	s := &Score{machines: int64(len(machines))}
	ranks := x.Packing.In.WeightRank()
	by := map[model.Pass]int64{}
	for i := range machines {
		m := &machines[i]
		s.cost += d.sales.offerAt(m, m.first).Cost
		short := isShort(d, m)
		for _, it := range m.items {
			soft := d.sales.fallback(m.template, &x.Packing.Model.Classes[it.Class])
			by[model.Pass{Weight: ranks[x.Packing.In.Templates[m.template].Number], Soft: soft}] += it.N * size(x.Packing.Parts[it.Class].Members)
			if short {
				d.solution.Unplaced[it.Class] += it.N
			}
		}
	}
	for pass, n := range by {
		s.passes = append(s.passes, rankedPods{pass, n})
	}
	slices.SortFunc(s.passes, func(a, b rankedPods) int { return instance.ComparePasses(a.pass, b.pass) })
	placed := placing(x.Packing, d.solution)
	s.placed = byPriority(x.Packing, placed)
	if t := x.planner; t != nil {
		if s.denied = refused(t, countSites(t, x.Packing.Parts, placed)); t.problem.Priced {
			s.cost, s.denied = s.cost+s.denied, 0
		}
	}
	return s
}

// isShort reports whether limits and reservations leave a machine too few options for
// its pool's minValues.
func isShort(d *decoder, m *machine) bool {
	if d.in.Cautious || len(offers.FloorKeys(d.in.Templates[m.template].Set)) == 0 {
		return false // such machines were given back
	}
	m.places = d.options(m)
	return d.sales.tooFew(m)
}

// compareRanks is negative where a has fewer pods on machines of low rank: the lowest
// rank in which they differ decides.
func compareRanks(a, b []rankedPods) int {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0:
			return 1
		case len(a) == 0:
			return -1
		}
		x, y := a[len(a)-1], b[len(b)-1]
		if c := cmp.Or(instance.ComparePasses(x.pass, y.pass), cmp.Compare(x.n, y.n)); c != 0 {
			return c
		}
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return 0
}

// Better reports whether a plan places more pods of the highest priority that differs,
// or as many and grants more preferences, or is of a higher rank, or costs less.
func (s *Score) Better(o *Score) bool {
	return cmp.Or(
		slices.Compare(o.placed, s.placed), cmp.Compare(s.denied, o.denied), compareRanks(s.passes, o.passes),
		cmp.Compare(s.cost, o.cost), cmp.Compare(s.machines, o.machines),
	) < 0
}

// refused adds up the weights of preferences that a plan of sites does not grant.
func refused(t *SitePlanner, counts [][]int64) (sum int64) {
	held := make([]map[int32]int64, len(t.book.Rules)) // by rule and domain, the pods that it counts there
	for i := range t.book.Rules {
		held[i] = map[int32]int64{}
		for d, domain := range t.book.Rules[i].Domains {
			held[i][int32(d)] = domain.Count
		}
	}
	each := func(f func(link topology.Link, site *topology.Site, k int, n int64)) {
		for i := range t.problem.Classes {
			class := &t.problem.Classes[i]
			for s, n := range counts[i] {
				for k, link := range class.Links {
					if n > 0 {
						f(link, &class.Sites[s], k, n)
					}
				}
			}
		}
	}
	each(func(link topology.Link, site *topology.Site, k int, n int64) {
		if d := site.Domains[k]; d != topology.None && site.Counted[k] {
			held[link.Rule][d] += n * link.Counts
		}
	})
	for i := range t.problem.Classes {
		for s, n := range counts[i] {
			sum += n * t.problem.Classes[i].Sites[s].Penalty
		}
	}
	each(func(link topology.Link, site *topology.Site, k int, n int64) {
		r := &t.problem.Rules[link.Rule]
		if r.Weight == 0 || !link.Holds {
			return
		}
		d := site.Domains[k]
		here := held[link.Rule][d]
		own := int64(0)
		if d != topology.None && site.Counted[k] {
			own = link.Counts
		}
		switch r.Kind {
		case topology.Spread:
			least := int64(-1)
			for e, domain := range r.Domains {
				if c := held[link.Rule][int32(e)]; (domain.Eligible || c > 0) && (least < 0 || c < least) {
					least = c
				}
			}
			sum += min(max(here-max(least, 0)-r.Max, 0), n) * r.Weight
		case topology.Affinity:
			if here-own <= 0 {
				sum += n * r.Weight
			}
		case topology.Anti:
			if here-own > 0 {
				sum += n * r.Weight
			}
		}
	})
	return sum
}
