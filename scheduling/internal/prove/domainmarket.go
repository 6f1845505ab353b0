package prove

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// domainMarket is the market with domains told apart: a class of it is pods of a class of the
// prover's that no rule spreads, or those of them that are spread by one, in one domain. Where
// they are told apart, and all pods of a rule are of one class, as many as there are in each
// domain at least are a class, and those beyond are another one.
type domainMarket struct {
	in     *instance.Instance
	prover *prover
	book   *domainBook
	market bound.Market
	apart  bool
	parts  []domainPart // by class of the market
	// spread is, by rule, the number of its spread, -1 where no pods are beyond.
	spread []int
	// split says, by rule, that those that are in each domain at least are told apart.
	split []bool
	users map[[2]int]model.Bits
	// alike are the per-node limits among the surrogate resources that are of one class and alike on all nodes, nil for others. It takes less
	// time to know how many of it a node holds than to count them like a resource.
	alike []*perNodeLimit
}

// domainPart is what a class of the market stands for.
type domainPart struct {
	class  int             // of the prover's
	ids    []model.ClassID // planned
	domain int             // -1 for all
	rule   int             // -1 for none
	least  bool            // those that there are at least
}

// marketByDomain is the market with domains told apart. If it is not to tell those apart that are in each domain at
// least, machines that hold one pod or two are known to hold no more of both together.
func (b *domainBook) marketByDomain(apart bool) *domainMarket {
	m := &domainMarket{in: b.in, prover: b.prover, book: b, users: map[[2]int]model.Bits{}, apart: apart}
	m.market.Dims = b.prover.market.Dims
	for i := range b.prover.surrogateResources {
		x := b.prover.surrogateResources[i].limit
		if x != nil && (len(x.places) > 0 || !alike(b.in, x)) {
			x = nil
		}
		m.alike = append(m.alike, x)
	}
	m.addClasses()
	supplies := newReservedSupplies(m.in, &m.market)
	for z, list := range m.book.domainOffers().Kept {
		m.prover.sell(supplies, m.book.domain(z), list, func(column int) model.Bits { return m.usersOf(column, z) })
	}
	m.addNodes()
	m.market.Everything = m.everyChoice
	return m
}

// addClasses splits the classes of the prover's.
func (m *domainMarket) addClasses() {
	ruleOf := map[int]int{}
	for r := range m.book.rules {
		for _, id := range m.book.rules[r].classes {
			ruleOf[id] = r
		}
	}
	kinds := make([][]domainPart, len(m.book.rules))
	for c, ids := range m.prover.classes {
		var plain []model.ClassID
		ruled := map[int][]model.ClassID{}
		for _, id := range ids {
			if r, ok := ruleOf[int(id)]; ok {
				ruled[r] = append(ruled[r], id)
			} else {
				plain = append(plain, id)
			}
		}
		if len(plain) > 0 {
			m.addClass(domainPart{class: c, ids: plain, domain: -1, rule: -1}, math.MaxInt64)
		}
		for _, r := range slices.Sorted(maps.Keys(ruled)) {
			kinds[r] = append(kinds[r], domainPart{class: c, ids: ruled[r], rule: r})
		}
	}
	m.spread, m.split = make([]int, len(m.book.rules)), make([]bool, len(m.book.rules))
	for r := range kinds {
		m.addRule(&m.book.rules[r], kinds[r])
	}
}

// addRule adds the pods of a rule.
func (m *domainMarket) addRule(r *domainRule, kinds []domainPart) {
	at := kinds[0].rule
	m.spread[at] = -1
	beyond := r.pods
	s := bound.Spread{Least: r.least, Most: r.most}
	if m.split[at] = m.apart && len(kinds) == 1; m.split[at] {
		s.Least, s.Most = make([]int64, len(m.book.domains)), make([]int64, len(m.book.domains))
		for z, n := range r.least {
			p := kinds[0]
			p.domain, p.least = z, true
			if n > 0 {
				m.addClass(p, n)
			}
			beyond -= n
			s.Most[z] = r.most[z] - n
		}
		if beyond == 0 {
			return
		}
	}
	for _, p := range kinds {
		kind := bound.Kind{Count: min(beyond, m.count(p.ids))}
		for z, most := range s.Most {
			p.domain = z
			m.addClass(p, min(kind.Count, most))
			kind.Parts = append(kind.Parts, len(m.market.Classes)-1)
		}
		s.Kinds = append(s.Kinds, kind)
	}
	m.spread[at] = len(m.market.Spreads)
	m.market.Spreads = append(m.market.Spreads, s)
}

// count is the number of placed pods of some classes.
func (m *domainMarket) count(ids []model.ClassID) (n int64) {
	for _, id := range ids {
		n += m.prover.placed[id]
	}
	return n
}

// addClass adds pods as a class, at most so many.
func (m *domainMarket) addClass(p domainPart, most int64) {
	class := m.prover.market.Classes[p.class]
	class.Count, class.Few = min(most, m.count(p.ids)), p.rule >= 0
	class.Size = slices.Clone(class.Size)
	for k, x := range m.alike {
		if d := m.in.Dims() + k; x != nil && class.Size[d] > 0 {
			class.Size[d], class.PerNode = 0, x.perNode(class.PerNode)
		}
	}
	m.market.Classes, m.parts = append(m.market.Classes, class), append(m.parts, p)
}

// usersOf are the classes of the groups in a column, in a domain.
func (m *domainMarket) usersOf(column, domain int) model.Bits {
	at := [2]int{column, domain}
	if row, ok := m.users[at]; ok {
		return row
	}
	admitted := m.prover.admitted(column)
	row := model.NewBits(len(m.parts))
	for i := range m.parts {
		if p := &m.parts[i]; admitted.Has(p.class) && (p.domain < 0 || p.domain == domain) {
			row.Set(i)
		}
	}
	m.users[at] = row
	return row
}

// domain is what the market calls a domain: 0 is none.
func (b *domainBook) domain(domain int) int { return (domain + 1) % (len(b.domains) + 1) }

// domainOffers lists what may be bought, domain by domain, and last what is in none.
func (b *domainBook) domainOffers() *instance.DomainOffers {
	if b.offersAt != nil {
		return b.offersAt
	}
	b.offersAt = b.in.OffersByDomain(b.key, b.domains, func() *instance.DomainOffers {
		return &instance.DomainOffers{
			Key: b.key, Domains: b.domains,
			Kept: b.byDomain(soldApart(b.in, b.key)),
			Plain: b.byDomain(func(yield func(*offers.Template, []offers.TemplateOffer) bool) {
				for i := range b.in.Offered {
					if !yield(b.in.Templates[i], b.in.Offered[i].List) {
						return
					}
				}
			}),
		}
	})
	return b.offersAt
}

// byDomain deals offers out to domains, those left out that cheaper ones make pointless.
func (b *domainBook) byDomain(lists iter.Seq2[*offers.Template, []offers.TemplateOffer]) [][]offers.TemplateOffer {
	ranks := priceRanks(b.in)
	turn := make([]int32, len(ranks)) // by rank: number in the list, from 1
	kept, recent := make([][]offers.TemplateOffer, len(b.domains)+1), make([][]offers.TemplateOffer, len(b.domains)+1)
	for v, list := range lists {
		domains := make([]int, len(list))
		for i, o := range list {
			domains[i] = b.domainOf(v, o.Offer)
		}
		for z := range kept {
			if !slices.Contains(domains, z) {
				continue
			}
			clear(turn)
			for i, o := range list {
				if domains[i] == z {
					turn[ranks[o.Offer]] = int32(i + 1)
				}
			}
			kept[z], recent[z] = worthwhile(b.in, kept[z], recent[z], list, turn)
		}
	}
	return kept
}

// addNodes adds the free room of running nodes.
func (m *domainMarket) addNodes() {
	if m.book.rooms == nil {
		m.book.rooms = m.prover.fewRooms(mostDomainRooms, func(n *instance.ExistingNode) int { return m.book.domainOfNode(n.Labels) })
	}
	for i := range m.book.rooms {
		r := &m.book.rooms[i]
		if m.prover.usable(r.room, m.prover.admitted(r.column)) {
			m.market.Supplies = append(m.market.Supplies, bound.Supply{Count: r.count, Members: []bound.Choice{{Cap: r.room, Users: m.usersOf(r.column, r.domain)}}})
		}
	}
}
