package certificate

import (
	"encoding/binary"
	"iter"
	"math/big"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// checkMachines reports, for each pool, machines that may hold more worth than they cost, with the amounts that the certificate
// states for machines of reservations. It returns the worth beyond their cost that all machines of reservations may hold, and
// whether no other machine does so.
func (pr *worthProof) checkMachines() (reserved *big.Int, ok bool) {
	surplus := make(map[string]*big.Int)
	ok = true
	for _, pl := range pr.claim.state.SortedPools() {
		bad, first := 0, ""
		for m := range pr.claim.state.Offers(pl, snapshot.FewestDaemons, pr.bareWithinPrice) {
			price, within := pr.allowed(m.Kind, &m.Offering), true
			for x, domain := range pr.inDomains(m) {
				id := m.Offering.ReservationID
				switch {
				case !m.Offering.Counted():
					charged, payable := charged(pr.multipliers, price, domain)
					within = within && payable && x.withinPrice(m, charged)
				case pr.reserved[id] != nil:
					within = within && x.withinPrice(m, price)
				default:
					surplus[id] = pr.shared(x, m, price, lo.CoalesceOrEmpty(surplus[id], new(big.Int)))
				}
			}
			if !within {
				if bad++; bad == 1 {
					first = m.Title()
				}
			}
		}
		if bad > 0 {
			pr.claim.report.Add(rule.CertificateOption, "nodepool/"+pl.Object.Name, "the duals of the pods that %s can hold exceed its price; offerings of this kind: %d", first, bad)
			ok = false
		}
	}
	reserved = new(big.Int)
	for _, over := range surplus {
		reserved.Add(reserved, over)
	}
	for _, over := range pr.reserved {
		reserved.Add(reserved, over)
	}
	return reserved, ok
}

// allowed returns the worth that a machine of an offering may hold: its price and, with a reservation for which the certificate
// states an amount, the share of that amount that is the machine's share of what is left of the reservation, in whole nano-USD.
// All machines of the reservation then hold at most the amount beyond their price.
func (pr *worthProof) allowed(t *instancetypes.InstanceType, o *offerings.Offering) offerings.Price {
	price := pr.claim.state.Policy.Objective(t, *o)
	over, count := pr.reserved[o.ReservationID], big.NewInt(pr.claim.state.Reservations[o.ReservationID])
	if over == nil || !o.Counted() || count.Sign() <= 0 {
		return price
	}
	share := new(big.Int).Mul(over, big.NewInt(o.UsePerNode()))
	share.Quo(share, count).Rsh(share, pr.bound.scale)
	if share.Cmp(big.NewInt(int64(offerings.MaxPrice-price))) > 0 {
		return offerings.MaxPrice
	}
	return price + offerings.Price(share.Int64())
}

// shared returns the worth beyond their price of the nodes of an offering that a whole reservation suffices for, parts of a
// node included: that of one node by the proof x · count / use, rounded up; or so far, if that is larger. No choice among
// the offerings of a reservation has more than the largest of these. Nodes that cannot raise so far are not looked at
// closely, because the proof tries a limited number of patterns.
func (pr *worthProof) shared(x *worthProof, m *snapshot.Node, price offerings.Price, soFar *big.Int) *big.Int {
	count, use := big.NewInt(pr.claim.state.Reservations[m.Offering.ReservationID]), big.NewInt(m.Offering.UsePerNode())
	if count.Sign() <= 0 {
		return soFar
	}
	least := new(big.Int).Mul(soFar, use)
	over := x.surplus(m, price, least.Quo(least, count))
	over.Mul(over, count)
	if over.Quo(over.Add(over, use).Sub(over, big.NewInt(1)), use).Cmp(soFar) <= 0 {
		return soFar
	}
	return over
}

// bareWithinPrice reports whether no pool can launch from the offering a machine that holds more worth than it costs, because
// not even a bare machine does: one without daemons, with each label that pods ask of pools. Such an offering need not be
// judged pool by pool.
func (pr *worthProof) bareWithinPrice(t *instancetypes.InstanceType, o *offerings.Offering) bool {
	if verdict, known := pr.verdicts[o]; known {
		return verdict
	}
	bare := pr.claim.bare[o]
	if bare == nil {
		bare = pr.claim.state.Types.Bare(t, *o)
		pr.claim.bare[o] = bare
	}
	verdict := true
	for x, domain := range pr.inDomains(bare) {
		price, payable := charged(pr.multipliers, pr.allowed(t, o), domain)
		if verdict = payable; verdict {
			room := x.dims.vector(x.claim.state.Types.Allocatable(t, *o))
			verdict = x.anyPodsWithinPrice(room, price) ||
				x.bound.within(x.loadOf(room, func(_ *podClass, c int) bool { return bare.Admits(pr.claim.constraints[c], snapshot.NodeAffinity) }), price)
		}
		if !verdict {
			break
		}
	}
	pr.verdicts[o] = verdict
	return verdict
}

// inDomains yields the proof of each domain in which a machine may be, with the domain; "" for a machine without the label. A
// bare machine may be in any domain if its labels do not name one.
func (pr *worthProof) inDomains(m *snapshot.Node) iter.Seq2[*worthProof, string] {
	return func(yield func(*worthProof, string) bool) {
		if len(pr.spreads) == 0 && !pr.byDomain && !slices.ContainsFunc(pr.multipliers, func(t multiplier) bool { return t.domain != "" }) {
			yield(pr, "")
			return
		}
		domains, known := m.May(pr.claim.key)
		if m.Pool == nil && !known {
			domains = pr.claim.spreadReader().domains
		}
		for _, domain := range domains {
			if !yield(pr.inDomain(domain, true), domain) {
				return
			}
		}
		if (len(domains) == 0 || m.Pool == nil && !known) && !pr.byDomain {
			yield(pr.inDomain("", false), "")
		}
	}
}

// anyPodsWithinPrice reports whether pods that fit the room, whatever their constraints, are worth at most the price.
func (pr *worthProof) anyPodsWithinPrice(room []int64, price offerings.Price) bool {
	return pr.passes(appendRoom(nil, room), price, func() bool {
		return pr.bound.within(pr.loadOf(room, func(*podClass, int) bool { return true }), price)
	})
}

// surplus returns the worth beyond its price that the machine may hold. Up to least it need not be exact.
func (pr *worthProof) surplus(m *snapshot.Node, price offerings.Price, least *big.Int) *big.Int {
	most, cost := new(big.Int), pr.bound.scaled(price)
	limit := new(big.Int).Add(cost, least)
	for _, l := range pr.loads(m, pr.roomVectors(m)) {
		if over := new(big.Int).Sub(pr.bound.tightest(l, limit), cost); over.Cmp(most) > 0 {
			most = over
		}
	}
	return most
}

// withinPrice reports whether the machine holds no more worth than it costs.
func (pr *worthProof) withinPrice(m *snapshot.Node, price offerings.Price) bool {
	room := pr.dims.vector(m.Free)
	if pr.anyPodsWithinPrice(room, price) {
		return true
	}
	rooms := pr.roomVectors(m)
	key := appendRoom([]byte("by constraint"), room)
	for _, list := range rooms {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, r := range list {
			key = appendRoom(key, r)
		}
	}
	return pr.passes(key, price, func() bool {
		return !slices.ContainsFunc(pr.loads(m, rooms), func(l load) bool {
			return !pr.bound.within(l, price) && (!pr.bound.patterns || pr.bound.tightest(l, pr.bound.scaled(price)).Cmp(pr.bound.scaled(price)) > 0)
		})
	})
}

func appendRoom(b []byte, room []int64) []byte {
	for _, n := range room {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// roomVectors are the rooms of the machine by constraint in the form of the proof.
func (pr *worthProof) roomVectors(m *snapshot.Node) [][][]int64 {
	byConstraint := pr.claim.roomsByConstraint(m)
	out := make([][][]int64, len(byConstraint))
	for i, rooms := range byConstraint {
		for _, room := range rooms {
			out[i] = append(out[i], pr.dims.vector(room))
		}
	}
	return out
}

// threshold is the least price at which a machine passed, and the highest at which one failed, of machines that
// differ in price alone.
type threshold struct {
	passed, failed offerings.Price
	any            bool // whether one passed
}

// passes judges a machine of a price, unless the thresholds of its key decide.
func (pr *worthProof) passes(key []byte, price offerings.Price, judge func() bool) bool {
	v := pr.known[string(key)]
	if v == nil {
		v = &threshold{failed: -1}
		pr.known[string(key)] = v
	}
	switch {
	case v.any && price >= v.passed:
		return true
	case price <= v.failed:
		return false
	case judge():
		v.passed, v.any = price, true
		return true
	default:
		v.failed = price
		return false
	}
}

// loadOf returns the load of the pods that fit the room and that mayBe admits. Pods that are worth nothing are left
// out, because they do not add to the worth.
func (pr *worthProof) loadOf(room []int64, mayBe func(s *podClass, constraint int) bool) load {
	l := load{room: make([]int64, len(room))}
	for i, s := range pr.bound.classes {
		if s.worth.Sign() == 0 || !fits(s.size, room) {
			continue
		}
		count := s.count(func(c int) bool { return mayBe(s, c) })
		if s.limited {
			count = min(count, s.most)
		}
		if count == 0 {
			continue
		}
		l.pods = append(l.pods, podCount{i, count})
		for d, n := range s.size {
			l.room[d] += n * count // all placed pods together are within an int64
		}
	}
	l.limitTo(room)
	return l
}

// loads returns the loads that the machine may hold: one for each room that it may have, with every pod that fits
// alone in any of them.
func (pr *worthProof) loads(m *snapshot.Node, byConstraint [][][]int64) []load {
	var rooms [][]int64
	for _, list := range byConstraint {
		for _, room := range list {
			if !slices.ContainsFunc(rooms, func(r []int64) bool { return slices.Equal(r, room) }) {
				rooms = append(rooms, room)
			}
		}
	}
	loads := make([]load, 0, len(rooms))
	for _, room := range rooms {
		l := pr.loadOf(pr.dims.vector(m.Free), func(s *podClass, c int) bool {
			return slices.ContainsFunc(byConstraint[c], func(r []int64) bool { return fits(s.size, r) })
		})
		l.limitTo(room)
		loads = append(loads, l)
	}
	return loads
}
