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

// reassign reassigns the pods of a cluster, and keeps that if all bind in any order and it
// costs less.
func (s *planner) reassign(cl *cluster) {
	if s.reassignLeft <= 0 {
		return
	}
	before := s.save(cl, risk{doubt: s.doubtful(cl)}, s.stuck(cl))
	if s.cheapest(cl, before) {
		return
	}
	x := s.search(cl)
	if x == nil {
		return
	}
	x.put(cl)
	d := s.save(cl, risk{doubt: s.doubtful(cl)}, s.stuck(cl))
	if d.risk.doubt > 0 || before.better(d) || before.risk.doubt == 0 && s.cost(cl, d) >= s.cost(cl, before) {
		s.restore(cl, before)
	}
}

// priced reports whether the costs of sites say all about two drafts that place as many
// pods: nothing runs that could take some, and there are no preferences.
func (s *planner) priced(cl *cluster) bool {
	for _, c := range cl.classes {
		cells, _ := s.of(c)
		for k := range cells {
			if site := cells[k].source(s.tables); len(site.Bins) > 0 || site.Penalty > 0 {
				return false
			}
			if slices.ContainsFunc(cells[k].terms, func(e term) bool { return e.preference && e.holds }) {
				return false
			}
		}
	}
	return true
}

// cheapest reports whether all pods of a draft are where their class is cheapest.
func (s *planner) cheapest(cl *cluster, d *draft) bool {
	for k, c := range cl.classes {
		cells, _ := s.of(c)
		least := Nowhere
		for j := range cells {
			if cost := cells[j].source(s.tables).Cost; cost != Nowhere && (least == Nowhere || cost < least) {
				least = cost
			}
		}
		for j, n := range d.placed[k] {
			if n > 0 && cells[j].source(s.tables).Cost > least {
				return false
			}
		}
	}
	return true
}

// cost is that of a draft by the costs of sites.
func (s *planner) cost(cl *cluster, d *draft) (sum float64) {
	for k, c := range cl.classes {
		for j, n := range d.placed[k] {
			sum += float64(n) * float64(max(0, s.cells[int(s.first[c])+j].source(s.tables).Cost))
		}
	}
	return sum
}

// search finds the cheapest way to reassign a cluster with a proof, better than the present one;
// nil if there is none. It is begun anew by two goroutines, which do not change each other's results.
func (s *planner) search(cl *cluster) *reassignment {
	x := s.newReassignment(cl)
	if x == nil {
		return nil
	}
	least := x.cost()
	if x.lack > 0 {
		least = many
	}
	tries := x.tries()
	if tries < fewestMoves {
		return nil
	}
	found := make([]*assignment, runs)
	work := func(x *reassignment, from int) {
		begin := x.save()
		for run := from; run < runs && !x.s.outOfTime(); run += 2 {
			x.load(begin)
			found[run] = x.run(run, tries)
		}
	}
	var other sync.WaitGroup
	y := s.newReassignment(cl)
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

// tries is how many moves are tried each time; 0 where there is nothing to be gained, or too
// much to add up. They are paid for.
func (x *reassignment) tries() (n int64) {
	stake, pods := x.stake()
	if stake == 0 || bits.Len64(uint64(stake))+bits.Len64(uint64(pods)) > 48 {
		return 0
	}
	for _, h := range x.groups {
		n += movesPerChoice * int64(len(h.choices))
	}
	each := int64(4 * (len(x.proofGroups) + len(x.n)))
	if n = min(n, mostMoves, x.s.reassignLeft/runs/each); n >= fewestMoves {
		x.s.reassignLeft -= runs * n * each
	}
	return n
}

// run reassigns once, and returns the assignment; nil where pods are missing in the end.
func (x *reassignment) run(run int, tries int64) *assignment {
	stake, _ := x.stake()
	x.seed = mix(x.s.p.Shuffle*runs + uint64(run))
	x.anneal(tries, firstThreshold*stake, stake*firstPrice/5, stake*lastPrice/5)
	for k := int64(lastPrice); x.lack > 0 && k < mostPrice && !x.s.outOfTime(); k *= 2 {
		x.anneal(tries/fewerMoves, stake*k*3/50, stake*k/5, stake*k*2/5)
	}
	if x.descend(tries, stake*mostPrice/5); x.lack > 0 {
		return nil
	}
	return &assignment{at: x.save(), cost: x.cost()}
}

// stake is how much more a pod costs where it is dearest than where it is cheapest, on average,
// and of how many pods.
func (x *reassignment) stake() (each, pods int64) {
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
		if k%triesInARow == 0 && x.s.outOfTime() {
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
		h.handOver(from, to, n)
		if other != nil {
			other.handOver(to, from, n)
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
	for again := true; again && !x.s.outOfTime(); {
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
