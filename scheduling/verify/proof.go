package verify

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// proof is one attempt to prove a lower bound.
//
// Every pod has a worth: its requests times the certificate's values. If no machine
// on sale has room for more worth than it costs, then a plan that places these pods
// costs at least what they are worth together, less what running nodes and
// reservations, of which there are only so many, may hold for less. All numbers are
// whole; worth is in nano-USD per hour divided by 2^scale.
type proof struct {
	*judge
	values map[corev1.ResourceName]*big.Int
	scale  uint
	placed []*kind
	// reserved is what reservations may hold for less than it is worth.
	reserved *big.Int
}

// worth is the value of amounts; what is below 0 counts as nothing.
func (pr *proof) worth(a amounts) *big.Int {
	sum := new(big.Int)
	for name, value := range pr.values {
		if n := a.of(name); n.Sign() > 0 {
			sum.Add(sum, new(big.Int).Mul(n, value))
		}
	}
	return sum
}

// scaled is a price in units of worth.
func (pr *proof) scaled(p offerings.Price) *big.Int {
	return new(big.Int).Lsh(big.NewInt(int64(p)), pr.scale)
}

// checkOffers looks for machines with room for more worth than they cost. Of
// reservations it notes how much more, for each machine left.
func (pr *proof) checkOffers() bool {
	surplus := make(map[string]*big.Int)
	ok := pr.checkSales(newBareOffers(pr.harmless), func(m *machine) bool {
		over := pr.excess(m)
		if over.Sign() <= 0 || m.offering.CapacityType != offerings.Reserved {
			return over.Sign() <= 0
		}
		if old := surplus[m.offering.ReservationID]; old == nil || over.Cmp(old) > 0 {
			surplus[m.offering.ReservationID] = over
		}
		return true
	})
	pr.reserved = new(big.Int)
	for id, over := range surplus {
		pr.reserved.Add(pr.reserved, new(big.Int).Mul(over, big.NewInt(int64(pr.reservations[id]))))
	}
	return ok
}

// checkSales looks at what pools may buy, but for what is known to be harmless, for machines that
// cannot be borne. It says of each pool how many there are, and reports whether there are none.
func (j *judge) checkSales(known *bareOffers, bearable func(m *machine) bool) (ok bool) {
	ok = true
	for _, pl := range j.sortedPools() {
		bad, first := 0, ""
		for m := range j.offersBut(pl, fewest, known.harmless) {
			if bearable(m) {
				continue
			}
			if bad++; bad == 1 {
				first = m.kind.Name + " " + string(m.offering.CapacityType) + " in " + m.offering.Zone
			}
		}
		if bad > 0 {
			j.add(CertificateOption, "nodepool/"+pl.Name, "%s has room for more worth than it costs, %d %s in all", first, bad, plural("offering", bad))
			ok = false
		}
	}
	return ok
}

// excess is how much more worth than its price the machine has room for; not above 0
// where it has not. Only pods that could have the machine alone count, and not more
// of them than there are. Whichever of them sits on a machine settles some of what is
// open about it, and so which daemons run there.
func (pr *proof) excess(m *machine) *big.Int {
	cost := pr.scaled(pr.objective(m.kind, m.offering))
	if over := new(big.Int).Sub(pr.worth(m.room()), cost); over.Sign() <= 0 {
		return over
	}
	users, rooms := amounts{}, []amounts{}
	for _, k := range pr.placed {
		if mine := pr.roomsFor(m, k.tenant); len(mine) > 0 {
			users.add(k.total)
			rooms = append(rooms, mine...)
		}
	}
	worth := new(big.Int)
	for _, room := range rooms {
		if w := pr.worth(lesser(room, users)); w.Cmp(worth) > 0 {
			worth = w
		}
	}
	return worth.Sub(worth, cost)
}

// lesser takes the smaller amount of each resource that both have.
func lesser(a, b amounts) amounts {
	out := make(amounts)
	for name, n := range a {
		if m := b.of(name); m.Cmp(n) < 0 {
			n = m
		}
		out[name] = n
	}
	return out
}

// rough is the bound if running nodes could be filled to the brim, in nano-USD.
func (pr *proof) rough() *big.Int {
	return pr.total(func(s *station) amounts { return s.free })
}

// exact is the bound if running nodes hold no pods but those that may go there.
func (pr *proof) exact() *big.Int {
	return pr.total(func(s *station) amounts {
		users := amounts{}
		for _, k := range pr.placed {
			if s.welcomes(k.tenant) && len(exceeding(k.requests, s.free)) == 0 {
				users.add(k.total)
			}
		}
		return lesser(s.free, users)
	})
}

// total is the bound under an assumption on what each running node can hold. Prices
// are whole nano-USD, so the bound may be rounded up.
func (pr *proof) total(holds func(*station) amounts) *big.Int {
	sum := new(big.Int)
	for _, k := range pr.placed {
		sum.Add(sum, pr.worth(k.total))
	}
	sum.Sub(sum, pr.reserved)
	for _, s := range pr.sortedStations() {
		if !leaving(s.node) {
			sum.Sub(sum, pr.worth(holds(s)))
		}
	}
	return wholePrice(sum, pr.scale)
}

// wholePrice is worth in nano-USD, rounded up, 0 where it is below.
func wholePrice(worth *big.Int, scale uint) *big.Int {
	if worth.Sign() <= 0 {
		return new(big.Int)
	}
	up := new(big.Int).Neg(worth)
	return up.Rsh(up, scale).Neg(up) // Rsh rounds down
}
