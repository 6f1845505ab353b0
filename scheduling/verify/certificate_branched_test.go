package verify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// halves is a problem of five pods and machines for 1000 that hold two of them. The price is at least 2500 by the
// resources, and 3000 for whole machines, as the two cases of the certificate prove.
func halves(types ...st.TypeOption) *fixture {
	p := scheduling.Problem{
		Pods: st.Pods(5, "p", st.Requests(st.Cores(1))), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", append([]st.TypeOption{st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 1000)}, types...)...)),
	}
	f := assigning(p, worths{"p-1": "1000"}, vectors{{"cpu": "1"}})
	fewer := f.plan.Summary.Certificate
	fewer.Multipliers = []offerings.Price{1000}
	more := &certificate.Certificate{Kind: "assignment", Vectors: vectors{{}}, Multipliers: []offerings.Price{1000}, Scale: fewer.Scale}
	f.plan.Summary.Certificate = &certificate.Certificate{Kind: "branched", Scale: fewer.Scale, Branched: &certificate.BranchedCertificate{From: 1000, AtMost: 2, Fewer: fewer, More: more}}
	return f
}

// TestWhatCasesProve: in the case of at most two machines each would have to hold more than two pods; three machines
// cost 3000.
func TestWhatCasesProve(t *testing.T) {
	f := halves()
	assert.Empty(t, boundCodes(t, f, 3000))
	assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, 3001))
	assert.Empty(t, boundCodes(t, halves(st.OnDemand("b", 2500)), 3000), "a dearer machine counts as well")
	assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, halves(st.OnDemand("b", 999)), 1), "a cheaper one does not")
	assert.Equal(t, broken(verify.CodeCertificateMalformed), boundCodes(t, halves(st.Reserved("a", 1000, "cr", 1)), 1))
}

// TestWhatCasesProveOfAZone: a certificate may count the machines of one zone. The multipliers of its cases then say
// nothing about machines of other zones.
func TestWhatCasesProveOfAZone(t *testing.T) {
	in := func(zone string, types ...st.TypeOption) *fixture {
		f := halves(types...)
		f.plan.Summary.Certificate.Branched.Domain = zone
		return f
	}
	assert.Empty(t, boundCodes(t, in("a"), 3000))
	assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, in("a", st.OnDemand("b", 1000)), 3000), "a machine in another zone")
	assert.Empty(t, boundCodes(t, in("a", st.OnDemand("b", 2000)), 3000), "one that costs what it may hold")
	assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, in("b"), 3000))
}

// TestForgedCases: a certificate of which any part of the cases is changed does not prove the bound.
func TestForgedCases(t *testing.T) {
	for name, forge := range map[string]func(c *certificate.Certificate, x *certificate.BranchedCertificate){
		"no cases":             func(c *certificate.Certificate, _ *certificate.BranchedCertificate) { c.Branched = nil },
		"scale":                func(c *certificate.Certificate, _ *certificate.BranchedCertificate) { c.Scale = -1 },
		"another zone":         func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Domain = "b" },
		"higher price":         func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.From++ },
		"negative price":       func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.From = -1 },
		"fewer machines":       func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.AtMost-- },
		"more machines":        func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.AtMost++ },
		"negative number":      func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.AtMost = -1 },
		"no fewer":             func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer = nil },
		"no more":              func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.More = nil },
		"fewer twice":          func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.More = x.Fewer },
		"more twice":           func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer = x.More },
		"kind of a case":       func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Kind = "resource" },
		"scale of a case":      func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Scale-- },
		"long scale of a case": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Scale = 1 << 20 },
		"spreads of a case": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) {
			x.Fewer.Spreads = []certificate.DomainSpread{{}}
		},
		"worths of a case":     func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Values["p-1"] = "999" },
		"more worth of a case": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Values["p-1"] = "1001" },
		"worth where none is": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) {
			x.More.Values = worths{"p-1": "1"}
		},
		"no multipliers": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Multipliers = nil },
		"two multipliers": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) {
			x.Fewer.Multipliers = append(x.Fewer.Multipliers, 0)
		},
		"less multiplier":         func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Multipliers[0]-- },
		"more multiplier":         func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Multipliers[0]++ },
		"negative multiplier":     func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.Fewer.Multipliers[0] = -1 },
		"less multiplier of more": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.More.Multipliers[0]-- },
		"more multiplier of more": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) { x.More.Multipliers[0]++ },
		"endless multiplier": func(_ *certificate.Certificate, x *certificate.BranchedCertificate) {
			x.Fewer.Multipliers[0] = 1<<63 - 1
		},
		"cases without end": func(c *certificate.Certificate, x *certificate.BranchedCertificate) {
			x.Fewer = c
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := halves()
			c := f.plan.Summary.Certificate
			forge(c, c.Branched)
			assert.NotEmpty(t, boundCodes(t, f, 3000))
		})
	}
}
