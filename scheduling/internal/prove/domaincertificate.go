package prove

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// certificate writes a bound by domains as a certificate.
func (m *domainMarket) certificate(a bound.Assigned) *certificate.Certificate {
	return certificateOf(m.prover, a, m.book.domains, m.nameDuals)
}

// nameDuals writes the dual of each pod, and by rule and domain the amount by which it is lower there.
func (m *domainMarket) nameDuals(c *certificate.Certificate, a bound.Assigned) {
	most := m.mostWorth(a)
	c.Spreads = make([]certificate.DomainSpread, len(m.book.rules))
	for r := range m.book.rules {
		c.Spreads[r] = certificate.DomainSpread{Pod: podspec.PodName(m.book.rules[r].representative), Less: map[string]string{}}
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

// worthOf is the dual of a pod of a market class, less the multiplier of its rule in its domain.
func (m *domainMarket) worthOf(a bound.Assigned, class int) *big.Int {
	p := &m.parts[class]
	if p.rule < 0 || p.least {
		return a.Duals[class]
	}
	return new(big.Int).Sub(a.Duals[class], a.DomainMultipliers[m.spread[p.rule]][p.domain])
}

// mostWorth is, by rule, the highest dual of its pods in any domain.
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
