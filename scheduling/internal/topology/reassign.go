package topology

import (
	"math/bits"
	"slices"
	"sync"
)

// The pods of a cluster can be reassigned to sites, however its plan was made. Pods
// that bind first raise the counts for which others wait, and these for others again. So it
// matters together which spread comes first, and where the pods are that it counts. So pods are moved at
// random, a few at a time, and in between there may be no proof that all bind in any order.
// Every pod that is missing for one has a price. That rises, and moves that make it dearer are
// taken less and less (threshold accepting).

const (
	// runs is how often it is begun anew, movesPerChoice how many moves are tried each time for
	// every group and choice, and mostMoves at most. fewerMoves is how many times fewer are tried
	// again where pods are missing in the end.
	runs, movesPerChoice, mostMoves, fewerMoves = 4, 200, 50_000, 5
	// stepsPerProof is how many steps of all that one proof stands for, see [Problem.Proofs], and
	// fewestMoves the number of moves for which they must suffice.
	stepsPerProof, fewestMoves = 100_000, 1_000
	// In units of the difference between a pod's dearest and cheapest site: the most that a
	// move may cost at first, and the price of a missing pod at first, in the end of a run, and
	// at most; all but the first in fifths.
	firstThreshold, firstPrice, lastPrice, mostPrice = 4, 1, 5, 160
	// swaps is how many of 64 moves are swaps with a group that counts the same.
	swaps = 38
	// triesInARow is how many moves are tried before it is looked at the time.
	triesInARow = 256
)

// reassigner reassigns the pods of clusters within a budget of work.
type reassigner struct {
	plan      *plan
	certifier *certifier
	left      int64 // steps that may still be taken, see stepsPerProof
}

// reassign reassigns the pods of a cluster, and keeps that if all bind in any order and it
// costs less.
func (s *reassigner) reassign(cl *cluster) {
	if s.left <= 0 {
		return
	}
	before := s.plan.save(cl, risk{doubt: s.certifier.doubtful(cl)}, s.plan.stuck(cl))
	if before.cheapest(s.plan.tables, cl) {
		return
	}
	x := s.search(cl)
	if x == nil {
		return
	}
	x.put(cl)
	d := s.plan.save(cl, risk{doubt: s.certifier.doubtful(cl)}, s.plan.stuck(cl))
	if d.risk.doubt > 0 || before.better(d) || before.risk.doubt == 0 && d.cost(s.plan.tables, cl) >= before.cost(s.plan.tables, cl) {
		s.plan.restore(cl, before)
	}
}

// search finds the cheapest way to reassign a cluster with a proof, better than the present one;
// nil if there is none. It is begun anew by two goroutines, which do not change each other's results.
func (s *reassigner) search(cl *cluster) *reassignment {
	x := newReassignment(s.plan, cl)
	if x == nil {
		return nil
	}
	least := x.cost()
	if x.lack > 0 {
		least = many
	}
	tries, steps := x.tries(s.left / runs)
	if tries < fewestMoves {
		return nil
	}
	s.left -= runs * steps
	found := make([]*assignment, runs)
	work := func(x *reassignment, from int) {
		begin := x.save()
		for run := from; run < runs && !x.plan.p.outOfTime(); run += 2 {
			x.load(begin)
			found[run] = x.run(run, tries)
		}
	}
	var other sync.WaitGroup
	y := newReassignment(s.plan, cl)
	other.Go(func() { work(y, 1) })
	work(x, 0)
	other.Wait()
	var best *assignment
	for _, w := range found {
		if w != nil && w.cost < least {
			best, least = w, w.cost
		}
	}
	if best == nil {
		return nil
	}
	x.load(best.at)
	return x
}

// assignment is where all pods are, such that they are proven to bind.
type assignment struct {
	at   []int64 // see save
	cost int64
}

// tries is the number of moves that are tried each time, for at most so many steps, and the steps that these take; 0 where
// nothing can be gained, or the sums could overflow.
func (x *reassignment) tries(most int64) (n, steps int64) {
	stake, pods := x.costSpread()
	if stake == 0 || bits.Len64(uint64(stake))+bits.Len64(uint64(pods)) > 48 {
		return 0, 0
	}
	for _, h := range x.groups {
		n += movesPerChoice * int64(len(h.choices))
	}
	each := int64(4 * (len(x.proofGroups) + len(x.n)))
	n = min(n, mostMoves, most/each)
	return n, n * each
}

// run reassigns once, and returns the assignment; nil where pods are missing in the end.
func (x *reassignment) run(run int, tries int64) *assignment {
	stake, _ := x.costSpread()
	x.seed = mix(x.plan.p.Shuffle*runs + uint64(run))
	x.anneal(tries, firstThreshold*stake, stake*firstPrice/5, stake*lastPrice/5)
	for k := int64(lastPrice); x.lack > 0 && k < mostPrice && !x.plan.p.outOfTime(); k *= 2 {
		x.anneal(tries/fewerMoves, stake*k*3/50, stake*k/5, stake*k*2/5)
	}
	if x.descend(tries, stake*mostPrice/5); x.lack > 0 {
		return nil
	}
	return &assignment{at: x.save(), cost: x.cost()}
}

// costSpread is how much more a pod costs where it is dearest than where it is cheapest, on average,
// and of how many pods.
func (x *reassignment) costSpread() (each, pods int64) {
	sum := 0.0
	for _, h := range x.groups {
		for i := range h.shares {
			k := &h.shares[i]
			for _, n := range k.n {
				sum += float64(n) * float64(slices.Max(k.cost)-slices.Min(k.cost))
				pods += n
			}
		}
	}
	return int64(min(sum/float64(max(1, pods)), 1<<50)), pods
}

// anneal tries moves at random. Those are taken that make it dearer by less than a threshold,
// which falls from heat to nothing, at a price for each pod that is missing.
func (x *reassignment) anneal(tries, heat, first, last int64) {
	for k := range tries {
		if k%triesInARow == 0 && x.plan.p.outOfTime() {
			return
		}
		done := k << 10 / tries
		cool := 1<<10 - done
		limit := heat * cool >> 10 * cool >> 10 * cool >> 10
		x.tryAny(max(1, limit), max(1, first+(last-first)*done>>10))
	}
}

// tryAny tries a move at random: so many pods of a group from one choice to another, and as many
// of another group the other way round or none.
func (x *reassignment) tryAny(limit, price int64) {
	x.seed = mix(x.seed)
	dice := x.seed
	roll := func(sides int) int {
		n := int(dice & (1<<12 - 1) * uint64(sides) >> 12)
		dice >>= 12
		return n
	}
	h := x.groups[x.seed>>48%uint64(len(x.groups))]
	from, to := roll(len(h.choices)), roll(len(h.choices)-1)
	for h.count[from] == 0 {
		from = (from + 1) % len(h.choices)
	}
	if to >= from {
		to++
	}
	n := h.count[from]
	switch roll(4) {
	case 0, 1:
		n = 1
	case 2:
		n = (n + 1) / 2
	}
	var other *podGroup
	if len(h.like) > 0 && roll(64) < swaps {
		other = h.like[mix(x.seed)%uint64(len(h.like))]
		if n = min(n, other.count[to]); n == 0 {
			other, n = nil, 1
		}
	}
	x.attempt(h, other, from, to, n, limit, price)
}

// attempt makes a move if it makes all dearer by less than a limit.
func (x *reassignment) attempt(h, other *podGroup, from, to int, n, limit, price int64) bool {
	over := h.over(from, to, n)
	if other != nil {
		over += other.over(to, from, n)
	}
	if over-price*x.lack >= limit {
		return false
	}
	x.move(h, from, to, n)
	if other != nil {
		x.move(other, to, from, n)
	}
	most := x.lack - floor(over-limit, price) // with so many missing it is too dear
	if lack := x.missing(most); lack < most {
		h.relocate(from, to, n)
		if other != nil {
			other.relocate(to, from, n)
		}
		x.lack = lack
		return true
	}
	x.move(h, to, from, n)
	if other != nil {
		x.move(other, from, to, n)
	}
	return false
}

// floor is a/b rounded down, for b above 0.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// descend moves pods of one group at a time as long as that makes it cheaper, and so many moves have
// not been tried.
func (x *reassignment) descend(tries, price int64) {
	for again := true; again && !x.plan.p.outOfTime(); {
		again = false
		for _, h := range x.groups {
			for from := range h.choices {
				for to := range h.choices {
					for _, n := range [...]int64{h.count[from], (h.count[from] + 1) / 2, 1} {
						if tries--; tries < 0 {
							return
						}
						if from != to && n <= h.count[from] && n > 0 && x.attempt(h, nil, from, to, n, 0, price) {
							again = true
							break
						}
					}
				}
			}
		}
	}
}
