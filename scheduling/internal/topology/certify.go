package topology

import (
	"slices"
	"sync"
)

// certifyRounds bounds how often the pods of a cluster are gone through.
const certifyRounds = 16

// workForTwo is from how much work on, see [planner.work], orders are tried by two goroutines.
const workForTwo = 500

// doubtful is the number of pods of a cluster without a proof that they bind in every order in which the pods come. A spread
// admits pods by the counts so far, and pods that wait for each other's counts may wait for ever.
//
// A pod is certain to bind if it meets its affinities on ground that pods make firm
// which are certain themselves, and if in each spread rule that it holds, the final
// count of its domain is within the allowed skew of the count that every other domain is
// certain to have. Certain to be there are pods that run, pods known to be certain themselves,
// and pods that are on firm ground and hold this spread and no other: were the domain
// the least one, nothing would keep them out. In a state where nothing binds any more,
// the first pod in order of proof that is still out would have a place, so there is
// none.
func (s *planner) doubtful(cl *cluster) (n int64) {
	p := s.newProof(cl)
	for round := 0; round < certifyRounds && len(p.open) > 0 && p.step(); round++ {
		continue
	}
	for _, o := range p.open {
		n += s.placed[o.cell]
	}
	return n
}

// proof says which pods of a plan are certain to bind.
type proof struct {
	s     *planner
	doubt []int64 // by flat domain, counted pods that are not certain
	open  []claim
}

// claim is that the pods of a cell are certain to bind.
type claim struct {
	cell    int32
	spreads int  // that they hold
	firm    bool // they are known to meet their affinities
}

// newProof takes pods that hold neither a spread nor an affinity for certain, and no
// others.
func (s *planner) newProof(cl *cluster) *proof {
	p := &proof{s: s, doubt: make([]int64, len(s.counts.count))}
	s.independence.start(cl, s.placed)
	for _, c := range cl.classes {
		spreads, bound := s.spreads(c), s.follows(c)
		for i := s.first[c]; i < s.first[c+1]; i++ {
			switch {
			case s.placed[i] == 0:
			case spreads == 0 && !bound:
				s.independence.add(i)
			default:
				o := claim{cell: i, spreads: spreads}
				p.cast(&o, false, 1)
				p.cast(&o, true, 1)
				p.open = append(p.open, o)
			}
		}
	}
	return p
}

// step draws the conclusions from the proofs so far, and reports whether there were any.
func (p *proof) step() bool {
	news := false
	left := p.open[:0]
	for _, o := range p.open {
		if !o.firm && p.s.independence.meets(o.cell) {
			o.firm, news = true, true
			p.cast(&o, true, -1)
		}
		if !o.firm || !p.s.certain(o.cell, p.doubt) {
			left = append(left, o)
			continue
		}
		news = true
		p.cast(&o, false, -1)
		p.s.independence.add(o.cell)
	}
	p.open = left
	return news
}

// cast adds the pods of a claim to the doubts, or takes them off by -1: pods that hold the spread and no other, or all
// others.
func (p *proof) cast(o *claim, alone bool, times int64) {
	for k := range p.s.cells[o.cell].terms {
		e := &p.s.cells[o.cell].terms[k]
		if !e.spreads() || e.dom < 0 || e.adds == 0 {
			continue
		}
		if alone == p.s.alone(e, o.spreads) {
			p.doubt[e.dom] += times * e.adds * p.s.placed[o.cell]
		}
	}
}

// alone reports whether pods that hold so many spreads hold that of a term and no other, so that
// nothing keeps them out of the domain that has the fewest.
func (s *planner) alone(e *term, spreads int) bool {
	return e.holds && spreads == 1 && e.adds <= s.p.Rules[e.rule].Max
}

// follows reports whether a class holds an affinity that must be met.
func (s *planner) follows(class int32) bool {
	cells, _ := s.of(class)
	return len(cells) > 0 && slices.ContainsFunc(cells[0].terms, func(e term) bool { return e.affine() })
}

// spreads is the number of hard spread rules that a class holds.
func (s *planner) spreads(class int32) (n int) {
	cells, _ := s.of(class)
	if len(cells) == 0 {
		return 0
	}
	for k := range cells[0].terms {
		if e := &cells[0].terms[k]; e.kind == Spread && e.holds && !e.preference {
			n++
		}
	}
	return n
}

// certain reports whether the pods of a cell are certain to bind. It is asked of plans that
// are being changed, too, and those may have pods where they never bind.
func (s *planner) certain(i int32, doubt []int64) bool {
	for k := range s.cells[i].terms {
		e := &s.cells[i].terms[k]
		if e.kind != Spread || !e.holds || e.preference {
			continue
		}
		if e.dom < 0 {
			return false // the nodes lack the key, so that the spread lets nobody in
		}
		rule := &s.p.Rules[e.rule]
		high := s.counts.count[e.dom] - rule.Max
		if high <= 0 {
			continue
		}
		from, to := s.domains(e.rule)
		sure := int64(0)
		for d := from; d < to; d++ {
			if s.counts.in[d] && d != e.dom && s.counts.count[d]-doubt[d] < high {
				return false
			}
			if s.eligible[d] || s.counts.count[d] > rule.Domains[d-from].Count {
				sure++
			}
		}
		if sure < rule.MinDomains {
			return false
		}
	}
	return true
}

// risk is how many pods may not bind if pods come in another order.
type risk struct {
	lost  int64 // pods that do not bind, of all in a few orders
	doubt int64 // pods for which there is no proof that they do
}

// risk says how sure the plan of a cluster is. Unless spreads count each other's pods,
// it takes no proof: it is enough that all bind in a few orders.
func (s *planner) risk(cl *cluster) (r risk) {
	if r.doubt = s.doubtful(cl); r.doubt == 0 {
		return r
	}
	crossed := slices.Contains(s.crossed(cl), true)
	n := s.trials(cl)
	if !crossed {
		n = max(n, trialsLeast)
	}
	r.lost = s.attempted(cl, n)
	if r.lost == 0 && !crossed {
		r.doubt = 0
	}
	return r
}

// attempted binds the plan of a cluster in n orders, by two goroutines where that takes long, and
// returns how many pods do not bind in all of them together.
func (s *planner) attempted(cl *cluster, n int64) (lost int64) {
	if n < 2 || s.work(cl) < workForTwo {
		for seed := range n {
			lost += s.trial.run(cl, s.placed, s.reach, uint64(seed))
		}
		return lost
	}
	if s.other == nil {
		s.other = newTrial(s.tables)
	}
	var theirs int64
	var second sync.WaitGroup
	second.Go(func() {
		for seed := n / 2; seed < n; seed++ {
			theirs += s.other.run(cl, s.placed, s.reach, uint64(seed))
		}
	})
	for seed := range n / 2 {
		lost += s.trial.run(cl, s.placed, s.reach, uint64(seed))
	}
	second.Wait()
	return lost + theirs
}

// trials is the number of orders in which the plan of a cluster is tried. A few say too
// little, and many take too long where there are many pods.
func (s *planner) trials(cl *cluster) int64 {
	pods := int64(1)
	for _, c := range cl.classes {
		pods += max(s.p.Classes[c].Count, 0)
	}
	if n := min(trialsMost, trialPods/pods); n >= trialsLeast {
		return n
	}
	return 0
}

// How often a plan is tried that is not known to bind in any order, and how many pods
// are bound in all of these trials together.
const (
	trialsLeast = 4
	trialsMost  = 16
	trialPods   = 8_000
)
