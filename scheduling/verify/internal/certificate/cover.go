package certificate

import (
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// mostChoices bounds how many choices of machines are looked at for one proof. Whoever
// makes a certificate has to leave it at what can be checked.
const mostChoices = 1 << 22

// cover looks for machines that cost less than a claim and have together what some
// placed pods request beyond what is free for them on running nodes.
type cover struct {
	*Claim
	names  []corev1.ResourceName
	values []*big.Int // of the resources, to tell which choices lead nowhere
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

// judgeCover proves the bound by going through the choices of machines: for all placed pods, or
// else for those that fit no running node.
func (c *Claim) judgeCover(cert *scheduling.Certificate) {
	values, ok := c.naturals("value of ", cert.Values)
	if !ok {
		return
	}
	all := snapshot.KindsOf(c.placed)
	needMachines := slices.DeleteFunc(slices.Clone(all), func(k *snapshot.Kind) bool {
		return slices.ContainsFunc(c.SortedNodes(), func(s *snapshot.Node) bool { return holdsOne(s, k.Pod) })
	})
	for _, kinds := range [][]*snapshot.Kind{all, needMachines} {
		x := &cover{Claim: c, names: c.requested(), tries: mostChoices}
		for _, name := range x.names {
			x.values = append(x.values, valueOf(values, string(name)))
		}
		wanted, ok := x.wanted(kinds)
		if !ok {
			c.malformed("the placed pods request too much to be counted")
			return
		}
		x.readBuys(kinds, wanted)
		if !x.covers(0, 0, wanted) && x.tries > 0 {
			return
		}
	}
	c.fault(Unproven, "certificate", "machines for less than %v may have room for all pods", c.bound)
}

// holdsOne reports whether the pod fits what is free.
func holdsOne(s *snapshot.Node, t *snapshot.Pod) bool {
	return !s.Leaves() && s.Welcomes(t) && len(snapshot.Exceeding(t.Requests, s.Free)) == 0
}

// wanted is what running nodes leave to be bought.
func (x *cover) wanted(kinds []*snapshot.Kind) ([]int64, bool) {
	sum := snapshot.Amounts{}
	for _, k := range kinds {
		sum.Add(k.Total)
	}
	for _, s := range x.SortedNodes() {
		users := snapshot.Amounts{}
		for _, k := range kinds {
			if holdsOne(s, k.Pod) {
				users.Add(k.Total)
			}
		}
		for name, n := range users {
			if free := s.Free.Of(name); free.Sign() > 0 {
				sum[name] = new(big.Int).Sub(sum.Of(name), lesser(n, free))
			}
		}
	}
	out := make([]int64, len(x.names))
	for d, name := range x.names {
		if n := sum.Of(name); n.Sign() > 0 {
			if out[d] = n.Int64(); !n.IsInt64() || out[d] > math.MaxInt64/2 {
				return nil, false
			}
		}
	}
	return out, true
}

func lesser(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// readBuys collects the machines on sale that any of the pods could be on, but for those
// that another one is as good as.
func (x *cover) readBuys(kinds []*snapshot.Kind, wanted []int64) {
	price := func(m *snapshot.Node) offerings.Price { return x.Objective(m.Kind, m.Offering) }
	var machines []*snapshot.Node
	for _, pl := range x.SortedPools() {
		machines = slices.AppendSeq(machines, x.Offers(pl, snapshot.FewestDaemons, nil))
	}
	slices.SortStableFunc(machines, func(a, b *snapshot.Node) int { return int(min(1, max(-1, price(a)-price(b)))) })
	for _, m := range machines {
		b := buy{price: int64(price(m)), count: math.MaxInt64, worth: new(big.Int)}
		room := m.Free
		for d, name := range x.names {
			n := wanted[d]
			if has := room.Of(name); has.Sign() <= 0 {
				n = 0
			} else if has.IsInt64() {
				n = min(n, has.Int64())
			}
			b.has = append(b.has, n)
			b.worth.Add(b.worth, new(big.Int).Mul(x.values[d], big.NewInt(n)))
		}
		if m.Offering.CapacityType == offerings.Reserved {
			b.from = m.Offering.ReservationID
			b.count = int64(x.Reservations[b.from])
		}
		if slices.ContainsFunc(x.buys, func(have buy) bool {
			return (have.from == "" || have.from == b.from) && covers(have.has, b.has)
		}) {
			continue // the other is no dearer
		}
		if slices.ContainsFunc(kinds, func(k *snapshot.Kind) bool { return x.holdsInSome(m, k.Pod) }) {
			// One that has more at the same price, such as where a daemon does not run, is
			// as good as those before it: a reservation counts once, not once a pool.
			x.buys = slices.DeleteFunc(x.buys, func(have buy) bool {
				return have.price == b.price && (b.from == "" || b.from == have.from) && covers(b.has, have.has)
			})
			x.buys = append(x.buys, b)
		}
	}
	// Those come first whose worth is cheapest; what has none comes last.
	slices.SortStableFunc(x.buys, func(a, b buy) int {
		if c := b.worth.Sign() - a.worth.Sign(); c != 0 {
			return c
		}
		return new(big.Int).Mul(big.NewInt(a.price), b.worth).Cmp(new(big.Int).Mul(big.NewInt(b.price), a.worth))
	})
}

// holdsInSome reports whether the pod could have the machine for itself, whatever runs there
// then.
func (x *cover) holdsInSome(m *snapshot.Node, t *snapshot.Pod) bool {
	return slices.ContainsFunc(x.roomsByConstraint(m)[x.constraint[t.Asks()]], func(room snapshot.Amounts) bool { return len(snapshot.Exceeding(t.Requests, room)) == 0 })
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
func (x *cover) covers(from int, cost int64, wanted []int64) bool {
	if x.tries--; x.tries <= 0 || cost >= int64(x.bound) {
		return false
	}
	worth, done := new(big.Int), true
	for d, n := range wanted {
		if n > 0 {
			worth.Add(worth, new(big.Int).Mul(x.values[d], big.NewInt(n)))
			done = false
		}
	}
	if done || from == len(x.buys) {
		return done
	}
	b, left := x.buys[from], int64(x.bound)-cost
	// All machines from here on cost at least as much for their worth as this one.
	costs, affords := new(big.Int).Mul(worth, big.NewInt(b.price)), new(big.Int).Mul(b.worth, big.NewInt(left))
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
		most = min(most, left/b.price)
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
		if x.covers(from+1, cost+n*b.price, rest) {
			return true
		}
	}
	return false
}
