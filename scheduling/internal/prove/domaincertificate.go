package prove

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// certificate names classes and rules.
func (m *domainMarket) certificate(a bound.Assigned) *certificate.Certificate {
	return certificateOf(m.prover, a, m.book.domains, m.nameDuals)
}

// nameDuals says what pods are worth, and how much less in which domain.
func (m *domainMarket) nameDuals(c *certificate.Certificate, a bound.Assigned) {
	most := m.mostWorth(a)
	c.Spreads = make([]certificate.DomainSpread, len(m.book.rules))
	for r := range m.book.rules {
		c.Spreads[r] = certificate.DomainSpread{Pod: podspec.PodName(m.book.rules[r].spokesman), Less: map[string]string{}}
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
				s.Further[m.book.domains[p.domain]] = less.String()
			default:
				s.Less[m.book.domains[p.domain]] = less.String()
			}
		}
		nameWorth(m.in, c.Values, p.ids, worth)
	}
}

// worthOf is what a pod of a class of the market is worth where it is.
func (m *domainMarket) worthOf(a bound.Assigned, class int) *big.Int {
	p := &m.parts[class]
	if p.rule < 0 || p.least {
		return a.Duals[class]
	}
	return new(big.Int).Sub(a.Duals[class], a.DomainMultipliers[m.spread[p.rule]][p.domain])
}

// mostWorth is what a pod of each rule is worth where it is worth most.
func (m *domainMarket) mostWorth(a bound.Assigned) []*big.Int {
	most := make([]*big.Int, len(m.book.rules))
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
