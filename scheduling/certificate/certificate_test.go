package certificate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
)

func TestSpreading(t *testing.T) {
	spread := &certificate.Certificate{Kind: certificate.PatternKind, Spreads: []certificate.DomainSpread{{}}}
	balanced := &certificate.Certificate{Kind: certificate.AssignmentKind, Balances: []certificate.DomainBalance{{Pod: "default/web-0"}}}
	plain := &certificate.Certificate{Kind: certificate.PatternKind}
	cases := func(fewer, more *certificate.Certificate) *certificate.Certificate {
		return &certificate.Certificate{Kind: certificate.BranchedKind, Branched: &certificate.BranchedCertificate{Fewer: fewer, More: more}}
	}
	for name, c := range map[string]*certificate.Certificate{
		"spreads": spread, "balances": balanced, "of the case of fewer machines": cases(spread, plain), "of the case of more": cases(plain, spread),
		"of a case of a case": cases(plain, cases(plain, balanced)),
	} {
		assert.True(t, c.Spreading(), name)
	}
	for name, c := range map[string]*certificate.Certificate{"none": nil, "no spreads": plain, "cases without": cases(plain, plain), "cases that are not given": cases(nil, nil)} {
		assert.False(t, c.Spreading(), name)
	}
}
