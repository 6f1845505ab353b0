package scheduling

import (
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// zoneMarket is the market with zones told apart: a class of it is pods of a class of the
// prover's that no rule spreads, or those of them that are spread by one, in one zone.
type zoneMarket struct {
	*zoneBook
	bound.Market
	parts []zonePart // by class of the market
	users map[[2]int]model.Bits
	// single are the yardsticks of loners of one class. It takes less time to know that a
	// node has one of them than to count them like a resource.
	single []bool
}

// zonePart is what a class of the market stands for.
type zonePart struct {
	class int   // of the prover's
	ids   []int // planned classes
	zone  int   // -1 for all
	rule  int   // -1 for none
}

// zoned is the market with zones.
func (b *zoneBook) zoned() *zoneMarket {
	m := &zoneMarket{zoneBook: b, users: map[[2]int]model.Bits{}}
	m.Dims = b.prover.market.Dims
	clear(b.spaces) // there may be further yardsticks
	for i := range b.yardsticks {
		x := b.yardsticks[i].loners
		m.single = append(m.single, x != nil && b.hostsNamed() && b.alike(x))
	}
	m.addClasses()
	m.addOffers()
	m.addNodes()
	return m
}

// addClasses splits the classes of the prover's.
func (m *zoneMarket) addClasses() {
	m.Market.Spreads = make([]bound.Spread, len(m.rules))
	for r := range m.rules {
		m.Market.Spreads[r] = bound.Spread{Least: m.rules[r].least, Most: m.rules[r].most}
	}
	for c, ids := range m.prover.classes {
		plain := []int{}
		ruled := make([][]int, len(m.rules))
		for _, id := range ids {
			r := slices.IndexFunc(m.rules, func(r zoneRule) bool { return slices.Contains(r.classes, int(id)) })
			if r < 0 {
				plain = append(plain, int(id))
			} else {
				ruled[r] = append(ruled[r], int(id))
			}
		}
		if len(plain) > 0 {
			m.addClass(zonePart{class: c, ids: plain, zone: -1, rule: -1})
		}
		for r, ids := range ruled {
			if len(ids) == 0 {
				continue
			}
			kind := bound.Kind{}
			for z, most := range m.rules[r].most {
				kind.Count = m.addClass(zonePart{class: c, ids: ids, zone: z, rule: r})
				kind.Parts = append(kind.Parts, len(m.Classes)-1)
				m.Classes[len(m.Classes)-1].Count = min(kind.Count, most)
			}
			m.Market.Spreads[r].Kinds = append(m.Market.Spreads[r].Kinds, kind)
		}
	}
}

func (m *zoneMarket) addClass(p zonePart) (pods int64) {
	class := m.prover.market.Classes[p.class]
	class.Count = 0
	for _, id := range p.ids {
		class.Count += m.placed[id]
	}
	class.Size = slices.Clone(class.Size)
	for k, single := range m.single {
		if d := m.model.Dims + k; single && class.Size[d] > 0 {
			class.Size[d], class.PerNode = 0, 1
		}
	}
	m.Classes, m.parts = append(m.Classes, class), append(m.parts, p)
	return class.Count
}

// usersOf are the classes of the groups in a column, in a zone.
func (m *zoneMarket) usersOf(column, zone int) model.Bits {
	at := [2]int{column, zone}
	if row, ok := m.users[at]; ok {
		return row
	}
	admitted := m.admitted(column)
	row := model.NewBits(len(m.parts))
	for i := range m.parts {
		if p := &m.parts[i]; admitted.Has(p.class) && (p.zone < 0 || p.zone == zone) {
			row.Set(i)
		}
	}
	m.users[at] = row
	return row
}

// addOffers adds what may be bought, zone by zone.
func (m *zoneMarket) addOffers() {
	ranks := m.priceRanks()
	turn := make([]int32, len(ranks)) // by rank: number in the list, from 1
	kept, recent := make([][]templateOffer, len(m.zones)), make([][]templateOffer, len(m.zones))
	for list := range m.sold() {
		for z := range m.zones {
			clear(turn)
			for i, o := range list {
				if at, ok := m.number[m.offers.offers[o.offer].offering.Zone]; ok && at == z {
					turn[ranks[o.offer]] = int32(i + 1)
				}
			}
			kept[z], recent[z] = m.worthwhile(kept[z], recent[z], list, turn)
		}
	}
	numbers := map[string]int{} // of the supplies
	left := m.reservations()
	for z := range m.zones {
		type machine struct{ room, column int }
		known := map[machine]int{}
		for _, o := range kept[z] {
			x := &m.offers.offers[o.offer]
			choice := bound.Choice{Cap: m.space(o.room), Price: int64(x.expected), Users: m.usersOf(o.column, z)}
			if !m.prover.usable(choice.Cap, m.admitted(o.column)) {
				continue
			}
			if x.offering.CapacityType != offerings.Reserved {
				at, ok := known[machine{o.room, o.column}]
				if !ok {
					known[machine{o.room, o.column}] = len(m.Options)
					m.Options = append(m.Options, choice)
				} else {
					m.Options[at].Price = min(m.Options[at].Price, choice.Price)
				}
				continue
			}
			id := x.offering.ReservationID
			at, ok := numbers[id]
			if !ok {
				at = len(m.Supplies)
				numbers[id] = at
				m.Supplies = append(m.Supplies, bound.Supply{Count: left[id]})
			}
			m.Supplies[at].Members = append(m.Supplies[at].Members, choice)
		}
	}
}

// addNodes adds the free room of running nodes.
func (m *zoneMarket) addNodes() {
	rooms := m.fewRooms(func(n *existingNode) int {
		if zone, ok := n.labels[corev1.LabelTopologyZone]; ok {
			return m.number[zone]
		}
		return len(m.zones)
	})
	for i := range rooms {
		r := &rooms[i]
		room := m.measured(r.room, func(y *yardstick) int64 { return y.room(r.room, r.nameless) })
		if m.prover.usable(room, m.admitted(r.column)) {
			m.Supplies = append(m.Supplies, bound.Supply{Count: r.count, Members: []bound.Choice{{Cap: room, Users: m.usersOf(r.column, r.zone)}}})
		}
	}
}

// certificate names classes and rules.
func (m *zoneMarket) certificate(a bound.Assigned) *Certificate {
	c := &Certificate{Kind: assignmentKind, Values: map[string]string{}, Scale: bound.Scale}
	for i, p := range m.parts {
		if a.Worths[i].Sign() == 0 {
			continue
		}
		for _, id := range p.ids {
			for _, pod := range m.spokesmen(m.planned[id]) {
				c.Values[podName(pod)] = a.Worths[i].String()
			}
		}
	}
	m.nameYardsticks(c)
	for _, v := range a.Vectors {
		c.Vectors = append(c.Vectors, m.named(v))
	}
	for r := range m.rules {
		rule := &m.rules[r]
		s := ZoneSpread{Pod: podName(rule.spokesman), Less: map[string]string{}}
		for z, less := range a.Tolls[r] {
			if less.Cmp(new(big.Int)) > 0 {
				s.Less[m.zones[z]] = less.String()
			}
		}
		c.Spreads = append(c.Spreads, s)
	}
	return c
}
