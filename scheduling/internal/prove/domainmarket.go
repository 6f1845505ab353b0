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

// domainMarket is the bound's instance with pods split by domain. Each class of the prover is split by rule; pods of a
// rule are one class for each domain. Where apart is set and all pods of a rule are one class, the minimum of a domain
// and the pods above it are two classes, because the number of the former is known, e.g. at least 3 of 10 replicas in
// each zone.
type domainMarket struct {
	in     *instance.Instance
	prover *prover
	book   *domainBook
	market bound.Market
	apart  bool
	parts  []domainPart // by market class, see [domainPart]
	// spread is, by rule, its index in the market's Spreads; -1 where minimums take all pods.
	spread []int
	// split says, by rule, that the minimum of each domain is a class of its own.
	split []bool
	users map[[2]int]model.Bits
	// alike are, by surrogate resource, per-node limits of equal pods that hold on all nodes; nil for other surrogate
	// resources. They become limits of the class, because a bound handles these faster than a resource.
	alike []*perNodeLimit
}

// domainPart is the pods that a market class stands for.
type domainPart struct {
	class  int             // index in the prover's classes
	ids    []model.ClassID // planned
	domain int             // -1 for any domain
	rule   int             // -1 for none
	least  bool            // whether it is the minimum of the domain
}

// marketByDomain is the instance with pods split by domain. Without apart, the minimum of a domain and the pods above it
// are one class, so that limits of pods per node hold for both together.
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

// addClasses splits the prover's classes by rule and domain.
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

// addRule adds the pods of a rule, kinds, as classes for each domain.
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

// count is the number of placed pods in some planned classes.
func (m *domainMarket) count(ids []model.ClassID) (n int64) {
	for _, id := range ids {
		n += m.prover.placed[id]
	}
	return n
}

// addClass adds a market class with a maximum number of pods.
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

// usersOf are the market classes of a column's groups that may be in a domain.
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

// domain is the market's number of a domain: from 1, and 0 for offers without the label.
func (b *domainBook) domain(domain int) int { return (domain + 1) % (len(b.domains) + 1) }

// domainOffers lists the offers by domain; the last list is of offers without the label.
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

// byDomain sorts offers by domain and drops dominated ones within each.
func (b *domainBook) byDomain(lists iter.Seq2[*offers.Template, []offers.TemplateOffer]) [][]offers.TemplateOffer {
	ranks := b.in.Offers.PriceRanks()
	turn := make([]int32, len(ranks)) // by rank, index in the list from 1; 0 for none
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

// addNodes adds the free room of existing nodes.
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
