package topology

import (
	"slices"
	"sync"
)

// certifyRounds bounds how often the pods of a cluster are gone through.
const certifyRounds = 16

// workForTwo is from how much work on, see [cluster.work], orders are tried by two goroutines.
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
func (s *certifier) doubtful(cl *cluster) (n int64) {
	p := s.newProof(cl)
	for round := 0; round < certifyRounds && len(p.open) > 0 && p.step(); round++ {
		continue
	}
	for _, o := range p.open {
		n += s.plan.placed[o.cell]
	}
	return n
}

// certifier finds out whether the pods of a plan bind in every order in which they come.
type certifier struct {
	plan         *plan
	independence *orderIndependence
	trial        *trial
	other        *trial // for a second goroutine; nil until there is one
}

func newCertifier(s *plan) *certifier {
	return &certifier{plan: s, independence: newOrderIndependence(s.tables), trial: newTrial(s.tables)}
}

// proof says which pods of a plan are certain to bind.
type proof struct {
	by    *certifier
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
func (s *certifier) newProof(cl *cluster) *proof {
	p := &proof{by: s, doubt: make([]int64, len(s.plan.counts.count))}
	s.independence.start(cl, s.plan.placed)
	for _, c := range cl.classes {
		spreads, bound := s.plan.spreads(c), s.plan.follows(c)
		for i := s.plan.first[c]; i < s.plan.first[c+1]; i++ {
			switch {
			case s.plan.placed[i] == 0:
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
		if !o.firm && p.by.independence.meets(o.cell) {
			o.firm, news = true, true
			p.cast(&o, true, -1)
		}
		if !o.firm || !p.by.certain(o.cell, p.doubt) {
			left = append(left, o)
			continue
		}
		news = true
		p.cast(&o, false, -1)
		p.by.independence.add(o.cell)
	}
	p.open = left
	return news
}

// cast adds the pods of a claim to the doubts, or takes them off by -1: pods that hold the spread and no other, or all
// others.
func (p *proof) cast(o *claim, alone bool, times int64) {
	for k := range p.by.plan.cells[o.cell].terms {
		e := &p.by.plan.cells[o.cell].terms[k]
		if !e.spreads() || e.dom < 0 || e.adds == 0 {
			continue
		}
		if alone == p.by.plan.alone(e, o.spreads) {
			p.doubt[e.dom] += times * e.adds * p.by.plan.placed[o.cell]
		}
	}
}

// certain reports whether the pods of a cell are certain to bind. It is asked of plans that
// are being changed, too, and those may have pods where they never bind.
func (s *certifier) certain(i int32, doubt []int64) bool {
	for k := range s.plan.cells[i].terms {
		e := &s.plan.cells[i].terms[k]
		if e.kind != Spread || !e.holds || e.preference {
			continue
		}
		if e.dom < 0 {
			return false // the nodes lack the key, so that the spread lets nobody in
		}
		rule := &s.plan.p.Rules[e.rule]
		high := s.plan.counts.count[e.dom] - rule.Max
		if high <= 0 {
			continue
		}
		from, to := s.plan.domains(e.rule)
		sure := int64(0)
		for d := from; d < to; d++ {
			if s.plan.counts.in[d] && d != e.dom && s.plan.counts.count[d]-doubt[d] < high {
				return false
			}
			if s.plan.eligible[d] || s.plan.counts.count[d] > rule.Domains[d-from].Count {
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
func (s *certifier) risk(cl *cluster) (r risk) {
	if r.doubt = s.doubtful(cl); r.doubt == 0 {
		return r
	}
	crossed := slices.Contains(cl.crossed(), true)
	n := cl.trials()
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
func (s *certifier) attempted(cl *cluster, n int64) (lost int64) {
	if n < 2 || cl.work() < workForTwo {
		for seed := range n {
			lost += s.trial.run(cl, s.plan.placed, s.plan.reach, uint64(seed))
		}
		return lost
	}
	if s.other == nil {
		s.other = newTrial(s.plan.tables)
	}
	var theirs int64
	var second sync.WaitGroup
	second.Go(func() {
		for seed := n / 2; seed < n; seed++ {
			theirs += s.other.run(cl, s.plan.placed, s.plan.reach, uint64(seed))
		}
	})
	for seed := range n / 2 {
		lost += s.trial.run(cl, s.plan.placed, s.plan.reach, uint64(seed))
	}
	second.Wait()
	return lost + theirs
}
