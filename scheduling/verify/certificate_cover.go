package verify

import (
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// mostChoices bounds how many choices of machines are looked at for one proof. Whoever
// makes a certificate has to leave it at what can be checked.
const mostChoices = 1 << 22

// coverProof looks for machines that cost less than a claim and have together what some
// placed pods request beyond what is free for them on running nodes.
type coverProof struct {
	*judge
	names  []corev1.ResourceName
	values []*big.Int // of the resources, to tell which choices lead nowhere
	claim  int64
	buys   []buy
	tries  int
}

// buy is a machine on sale, with no more of anything than is wanted.
type buy struct {
	has   []int64
	price int64
	count int64    // how many there are
	from  string   // the reservation, "" for none
	worth *big.Int // by the values
}

// coverBound proves the bound by going through the choices of machines.
func (j *judge) coverBound(cert *scheduling.Certificate, claimed offerings.Price) {
	values, ok := j.naturals("value of ", cert.Values)
	if len(cert.Vectors) > 0 || len(cert.Apart) > 0 || len(cert.Steps) > 0 || len(cert.Spreads) > 0 || balanced(cert) {
		j.malformed("vectors, terms, steps and spreads are for another kind")
		ok = false
	}
	if !ok {
		return
	}
	kinds := j.placedKinds()
	if !j.covered(kinds, values, claimed) && !j.covered(j.needNewNode(kinds), values, claimed) {
		j.add(BoundUnproven, "certificate", "machines for less than %v may have room for all pods", claimed)
	}
}

// needNewNode are those of the kinds that fit no running node.
func (j *judge) needNewNode(kinds []*kind) []*kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool {
		return slices.ContainsFunc(j.sortedStations(), func(s *station) bool { return !leaving(s.node) && s.holdsOne(k) })
	})
}

// holdsOne reports whether a pod of the kind fits what is free.
func (s *station) holdsOne(k *kind) bool {
	return s.welcomes(k.tenant) && len(exceeding(k.requests, s.free)) == 0
}

// covered reports whether no machines for less than is claimed have together what the kinds
// want.
func (j *judge) covered(kinds []*kind, values map[string]*big.Int, claimed offerings.Price) bool {
	pr := &coverProof{judge: j, names: requested(kinds), claim: int64(claimed), tries: mostChoices}
	for _, name := range pr.names {
		v := values[string(name)]
		if v == nil {
			v = new(big.Int)
		}
		pr.values = append(pr.values, v)
	}
	wanted, ok := pr.wanted(kinds)
	if !ok {
		j.malformed("the placed pods request too much to be counted")
		return true
	}
	pr.readBuys(kinds, wanted)
	return !pr.covers(0, 0, wanted) && pr.tries > 0
}

// wanted is what running nodes leave to be bought.
func (pr *coverProof) wanted(kinds []*kind) ([]int64, bool) {
	sum := amounts{}
	for _, k := range kinds {
		sum.add(k.total)
	}
	for _, s := range pr.sortedStations() {
		if leaving(s.node) {
			continue
		}
		users := amounts{}
		for _, k := range kinds {
			if s.holdsOne(k) {
				users.add(k.total)
			}
		}
		for name, n := range lesser(s.free, users) {
			if n.Sign() > 0 {
				sum[name] = new(big.Int).Sub(sum.of(name), n)
			}
		}
	}
	out := make([]int64, len(pr.names))
	for d, name := range pr.names {
		if n := sum.of(name); n.Sign() > 0 {
			if out[d] = n.Int64(); !n.IsInt64() || out[d] > math.MaxInt64/2 {
				return nil, false
			}
		}
	}
	return out, true
}

// readBuys collects the machines on sale that any of the pods could be on, but for those
// that another one is as good as.
func (pr *coverProof) readBuys(kinds []*kind, wanted []int64) {
	var machines []*machine
	for _, pl := range pr.sortedPools() {
		machines = slices.AppendSeq(machines, pr.offers(pl, fewest))
	}
	price := func(m *machine) offerings.Price { return pr.objective(m.kind, m.offering) }
	slices.SortStableFunc(machines, func(a, b *machine) int { return int(min(1, max(-1, price(a)-price(b)))) })
	for _, m := range machines {
		b := buy{price: int64(price(m)), count: math.MaxInt64, worth: new(big.Int)}
		room := m.room()
		for d, name := range pr.names {
			n := wanted[d]
			if has := room.of(name); has.Sign() <= 0 {
				n = 0
			} else if has.IsInt64() {
				n = min(n, has.Int64())
			}
			b.has = append(b.has, n)
			b.worth.Add(b.worth, new(big.Int).Mul(pr.values[d], big.NewInt(n)))
		}
		if m.offering.CapacityType == offerings.Reserved {
			b.from = m.offering.ReservationID
			b.count = int64(pr.reservations[b.from])
		}
		if slices.ContainsFunc(pr.buys, func(have buy) bool {
			return (have.from == "" || have.from == b.from) && covers(have.has, b.has)
		}) {
			continue // the other is no dearer
		}
		if slices.ContainsFunc(kinds, func(k *kind) bool { return len(pr.roomsFor(m, k.tenant)) > 0 }) {
			// One that has more at the same price, such as where a daemon does not run, is
			// as good as those before it: a reservation counts once, not once a pool.
			pr.buys = slices.DeleteFunc(pr.buys, func(have buy) bool {
				return have.price == b.price && (b.from == "" || b.from == have.from) && covers(b.has, have.has)
			})
			pr.buys = append(pr.buys, b)
		}
	}
	// Those come first whose worth is cheapest; what has none comes last.
	slices.SortStableFunc(pr.buys, func(a, b buy) int {
		x := new(big.Int).Mul(big.NewInt(a.price), b.worth)
		y := new(big.Int).Mul(big.NewInt(b.price), a.worth)
		if c := b.worth.Sign() - a.worth.Sign(); c != 0 {
			return c
		}
		return x.Cmp(y)
	})
}

func covers(a, b []int64) bool {
	for d, n := range b {
		if a[d] < n {
			return false
		}
	}
	return true
}

// covers reports whether some choice among the machines from one on, which costs less
// than the claim together with the cost so far, has all that is still wanted.
func (pr *coverProof) covers(from int, cost int64, wanted []int64) bool {
	if pr.tries--; pr.tries <= 0 || cost >= pr.claim {
		return false
	}
	worth, done := new(big.Int), true
	for d, n := range wanted {
		if n > 0 {
			worth.Add(worth, new(big.Int).Mul(pr.values[d], big.NewInt(n)))
			done = false
		}
	}
	if done {
		return true
	}
	if from == len(pr.buys) {
		return false
	}
	b := pr.buys[from]
	// All machines from here on cost at least as much for their worth as this one.
	costs := new(big.Int).Mul(worth, big.NewInt(b.price))
	affords := new(big.Int).Mul(b.worth, big.NewInt(pr.claim-cost))
	if costs.Cmp(affords) >= 0 && b.worth.Sign() > 0 {
		return false
	}
	most := int64(0)
	for d, n := range wanted {
		if n > 0 && b.has[d] > 0 {
			most = max(most, (n-1)/b.has[d]+1)
		}
	}
	if most = min(most, b.count); b.price > 0 {
		most = min(most, (pr.claim-cost)/b.price)
	}
	rest := make([]int64, len(wanted))
	for n := most; n >= 0; n-- {
		for d, want := range wanted {
			rest[d] = want
			if has := b.has[d]; has > 0 && want > 0 {
				// At most what is wanted and one machine more: no overflow.
				rest[d] = want - min((want-1)/has+1, n)*has
			}
		}
		if pr.covers(from+1, cost+n*b.price, rest) {
			return true
		}
	}
	return false
}
