package certificate

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// mostChoices bounds the choices of machines that one proof may take, so that certificates stay cheap to check.
const mostChoices = 1 << 22

// cover searches for machines that cost less than a claim and have together the requests of some placed pods beyond
// the room of running nodes.
type cover struct {
	claim *Claim
	dims  *dimensions
	costs []*big.Int // of the dimensions, to tell which choices lead nowhere
	buys  []buy
	left  int // choices that may still be looked at
}

// buy is a machine on sale, with no more of anything than is wanted.
type buy struct {
	has   []int64
	price int64
	count int64    // how many there are, rounded up
	from  string   // the reservation, "" for none
	use   int64    // of the reservation by one machine
	worth *big.Int // by the values
}

// judgeCover proves the bound by going through the choices of machines: for all placed pods, or
// else for those that fit no running node.
func judgeCover(c *Claim, cert *certificate.Certificate) {
	dims := &dimensions{names: c.requested()}
	measured := dims.readMeasures(c, cert)
	values, ok := c.naturals("value of ", cert.Values)
	if !ok || !measured {
		return
	}
	var all []*snapshot.Kind
	apart := lo.GroupBy(c.placed, func(t *snapshot.Pod) string { return dims.belongs(t, nil) })
	for _, key := range slices.Sorted(maps.Keys(apart)) {
		all = append(all, snapshot.KindsOf(apart[key])...)
	}
	needMachines := slices.DeleteFunc(slices.Clone(all), func(k *snapshot.Kind) bool {
		return slices.ContainsFunc(c.state.SortedNodes(), func(s *snapshot.Node) bool { return dims.holdsOne(s, k.Pod) })
	})
	for _, kinds := range [][]*snapshot.Kind{all, needMachines} {
		x := &cover{claim: c, dims: dims, left: mostChoices}
		for _, name := range x.dims.names {
			x.costs = append(x.costs, valueOf(values, string(name)))
		}
		wanted, ok := x.wanted(kinds)
		if !ok {
			c.malformed("the requests of the placed pods exceed an int64")
			return
		}
		x.readBuys(kinds, wanted)
		if !x.covers(0, 0, wanted) && x.left > 0 {
			sum := newSum(0)
			sum.add(1, big.NewInt(int64(c.bound)), "no set of new nodes that costs less has room for the pods, beside existing nodes")
			c.proven(sum)
			return
		}
	}
	c.report.Add(rule.BoundUnproven, "certificate", "new nodes that cost less than $%v may have room for all pods", c.bound)
}

// need returns the requests of the kinds for which of reports true, added up, by dimension.
func (x *cover) need(kinds []*snapshot.Kind, of func(k *snapshot.Kind) bool) []*big.Int {
	sum := make([]*big.Int, len(x.dims.names))
	for d, name := range x.dims.names {
		sum[d] = new(big.Int)
		for _, k := range kinds {
			switch m := d - len(x.dims.names) + len(x.dims.measures); {
			case !of(k):
			case m < 0:
				sum[d].Add(sum[d], k.Total.Of(name))
			default:
				sum[d].Add(sum[d], new(big.Int).Mul(big.NewInt(x.dims.measures[m].request(k.Pod)), big.NewInt(k.Count)))
			}
		}
	}
	return sum
}

// wanted returns the requests that exceed the room of running nodes, by dimension. ok is false beyond an int64.
func (x *cover) wanted(kinds []*snapshot.Kind) ([]int64, bool) {
	sum := x.need(kinds, func(*snapshot.Kind) bool { return true })
	for _, s := range x.claim.state.SortedNodes() {
		room := x.dims.room(s)
		for d, n := range x.need(kinds, func(k *snapshot.Kind) bool { return x.dims.holdsOne(s, k.Pod) }) {
			sum[d].Sub(sum[d], lesser(n, big.NewInt(max(0, room[d]))))
		}
	}
	out := make([]int64, len(x.dims.names))
	for d, n := range sum {
		if n.Sign() > 0 {
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

// readBuys collects the machines on sale that one of the pods could be on, without those that another one equals at
// the same price or less.
func (x *cover) readBuys(kinds []*snapshot.Kind, wanted []int64) {
	price := func(m *snapshot.Node) offerings.Price {
		return x.claim.state.Policy.Objective(m.Kind, m.Offering)
	}
	var machines []*snapshot.Node
	for _, pl := range x.claim.state.SortedPools() {
		machines = slices.AppendSeq(machines, x.claim.state.Offers(pl, snapshot.FewestDaemons, nil))
	}
	slices.SortStableFunc(machines, func(a, b *snapshot.Node) int { return int(min(1, max(-1, price(a)-price(b)))) })
	for _, m := range machines {
		b := buy{price: int64(price(m)), count: math.MaxInt64, worth: new(big.Int)}
		for d, has := range x.dims.vector(m.Free) {
			n := max(0, min(has, wanted[d]))
			b.has = append(b.has, n)
			b.worth.Add(b.worth, new(big.Int).Mul(x.costs[d], big.NewInt(n)))
		}
		if m.Offering.Counted() {
			b.from, b.use = m.Offering.ReservationID, m.Offering.UsePerNode()
			b.count = (x.claim.state.Reservations[b.from] + b.use - 1) / b.use
		}
		if slices.ContainsFunc(x.buys, func(have buy) bool {
			return (have.from == "" || have.from == b.from && have.use <= b.use) && covers(have.has, b.has)
		}) {
			continue // the other is no dearer
		}
		if slices.ContainsFunc(kinds, func(k *snapshot.Kind) bool { return x.holdsInSome(m, k.Pod) }) {
			// One that has more at the same price, such as where a daemon does not run, is
			// as good as those before it: a reservation counts once, not once a pool.
			x.buys = slices.DeleteFunc(x.buys, func(have buy) bool {
				return have.price == b.price && (b.from == "" || b.from == have.from && b.use <= have.use) && covers(b.has, have.has)
			})
			x.buys = append(x.buys, b)
		}
	}
	// Machines come in order of their price for their worth, those without worth last.
	slices.SortStableFunc(x.buys, func(a, b buy) int {
		if c := b.worth.Sign() - a.worth.Sign(); c != 0 {
			return c
		}
		return new(big.Int).Mul(big.NewInt(a.price), b.worth).Cmp(new(big.Int).Mul(big.NewInt(b.price), a.worth))
	})
}

// holdsInSome reports whether the pod fits the machine alone, with the daemons of some choice of open labels.
func (x *cover) holdsInSome(m *snapshot.Node, t *snapshot.Pod) bool {
	return slices.ContainsFunc(x.claim.roomsByConstraint(m)[x.claim.constraint[t.Asks()]], func(room snapshot.Amounts) bool { return len(snapshot.Exceeding(t.Requests, room)) == 0 })
}

func covers(a, b []int64) bool {
	for d, n := range b {
		if a[d] < n {
			return false
		}
	}
	return true
}

// covers reports whether some choice among the machines from one on, which costs less than the claim together with
// the cost so far, has all amounts that are still wanted.
func (x *cover) covers(from int, cost int64, wanted []int64) bool {
	if x.left--; x.left <= 0 || cost >= int64(x.claim.bound) {
		return false
	}
	worth, done := new(big.Int), true
	for d, n := range wanted {
		if n > 0 {
			worth.Add(worth, new(big.Int).Mul(x.costs[d], big.NewInt(n)))
			done = false
		}
	}
	if done || from == len(x.buys) {
		return done
	}
	b, left := x.buys[from], int64(x.claim.bound)-cost
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
				// At most the wanted amount and one machine more: no overflow.
				rest[d] = want - min((want-1)/has+1, n)*has
			}
		}
		if x.covers(from+1, cost+n*b.price, rest) {
			return true
		}
	}
	return false
}
