package prove

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// certificate names classes and rules.
func (m *domainMarket) certificate(a bound.Assigned) *scheduling.Certificate {
	c := &scheduling.Certificate{Kind: scheduling.AssignmentKind, Values: map[string]string{}, Scale: fixed.Scale}
	if a.Filled {
		c.Kind = scheduling.PatternKind
	}
	if len(a.Duals) > 0 {
		m.nameDuals(c, a)
	}
	if x := a.Parted; x != nil {
		c.Kind, c.Spreads = scheduling.PartedKind, nil
		c.Parted = &scheduling.PartedCertificate{
			From: offerings.Price(x.From), Domain: m.domains[x.Domain-1], AtMost: x.AtMost,
			Fewer: m.certificate(*x.Fewer), More: m.certificate(*x.More),
		}
		return c
	}
	m.nameYardsticks(c)
	c.Tolls, c.Vectors = tollsOf(a.CountTolls), m.namedAll(a.Vectors)
	return c
}

// nameDuals says what pods are worth, and how much less in which domain.
func (m *domainMarket) nameDuals(c *scheduling.Certificate, a bound.Assigned) {
	most := m.mostWorth(a)
	c.Spreads = make([]scheduling.DomainSpread, len(m.rules))
	for r := range m.rules {
		c.Spreads[r] = scheduling.DomainSpread{Pod: podspec.PodName(m.rules[r].spokesman), Less: map[string]string{}}
		if m.split[r] && m.spread[r] >= 0 {
			c.Spreads[r].Further = map[string]string{}
		}
	}
	for i, p := range m.parts {
		worth := a.Duals[i]
		if p.rule >= 0 {
			s := &c.Spreads[p.rule]
			if m.split[p.rule] {
				worth = most[p.rule]
			}
			less := new(big.Int).Sub(worth, m.worthOf(a, i))
			switch {
			case less.Sign() <= 0:
			case s.Further != nil && !p.least:
				s.Further[m.domains[p.domain]] = less.String()
			default:
				s.Less[m.domains[p.domain]] = less.String()
			}
		}
		if worth.Sign() == 0 {
			continue
		}
		for _, id := range p.ids {
			for _, pod := range m.Spokesmen(m.Planned[id]) {
				c.Values[podspec.PodName(pod)] = worth.String()
			}
		}
	}
}

// worthOf is what a pod of a class of the market is worth where it is.
func (m *domainMarket) worthOf(a bound.Assigned, class int) *big.Int {
	p := &m.parts[class]
	if p.rule < 0 || p.least {
		return a.Duals[class]
	}
	return new(big.Int).Sub(a.Duals[class], a.Tolls[m.spread[p.rule]][p.domain])
}

// mostWorth is what a pod of each rule is worth where it is worth most.
func (m *domainMarket) mostWorth(a bound.Assigned) []*big.Int {
	most := make([]*big.Int, len(m.rules))
	for i, p := range m.parts {
		if p.rule < 0 {
			continue
		}
		if worth := m.worthOf(a, i); most[p.rule] == nil || worth.Cmp(most[p.rule]) > 0 {
			most[p.rule] = worth
		}
	}
	return most
}
