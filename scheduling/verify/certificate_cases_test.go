package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// whole is a weight of as good as 1: what machines hold is rounded up.
const whole = 1<<scheduling.WeightScale - 16

// halvesByRows is halves, proven by one row: pods are worth 1000, and a machine
// holds two of them. At most two machines would have to cost 1000 more each.
func halvesByRows(types ...st.TypeOption) *fixture {
	f := halves(types...)
	f.plan.Summary.Certificate = &scheduling.Certificate{
		Kind: "cases", Scale: f.plan.Summary.Certificate.Scale,
		Rows: []scheduling.WorthRow{{Values: worths{"default/p-1": "1000"}, Vectors: vectors{{"cpu": "0"}, {"cpu": "1"}}}},
		Cases: &scheduling.CaseProof{
			From: 1000, AtMost: 2,
			Fewer: &scheduling.CaseProof{Rows: []int{0}, Weights: []int64{whole}, Tolls: []offerings.Price{1000}},
			More:  &scheduling.CaseProof{Tolls: []offerings.Price{1000}},
		},
	}
	return f
}

// At most two machines would have to hold more than they do; three cost 3000.
func TestWhatCasesByRowsProve(t *testing.T) {
	f := halvesByRows()
	assert.Empty(t, boundCodes(t, f, 3000))
	assert.Equal(t, broken(verify.BoundUnproven), boundCodes(t, f, 3001))
	assert.Empty(t, boundCodes(t, halvesByRows(st.OnDemand("b", 2500)), 3000), "a dearer machine counts as well")
	assert.Equal(t, broken(verify.CertificateOption), boundCodes(t, halvesByRows(st.OnDemand("b", 999)), 1), "a cheaper one does not")
	assert.Equal(t, broken(verify.CertificateMalformed), boundCodes(t, halvesByRows(st.Reserved("a", 1000, "cr", 1)), 1))
}

// Rows count together, and what a machine may hold depends on what its pods ask for.
func TestRowsTogether(t *testing.T) {
	f := halvesByRows()
	c := f.plan.Summary.Certificate
	c.Rows = append(c.Rows, scheduling.WorthRow{Values: worths{"default/p-2": "100"}})
	c.Cases.Fewer.Rows, c.Cases.Fewer.Weights = []int{0, 1}, []int64{whole / 2, whole}
	assert.Equal(t, broken(verify.BoundUnproven), boundCodes(t, f, 1001), "500 and 100 for each of five pods, less twice 1000")
	assert.Empty(t, boundCodes(t, f, 1000))
	c.Cases.Fewer.Weights = []int64{whole / 2, 6 * whole}
	assert.Equal(t, broken(verify.CertificateOption), boundCodes(t, f, 1000), "without a vector each of two pods counts with 500 and 600")
	c.Cases.Fewer.Weights = []int64{whole / 2, 5 * (whole - 64)}
	assert.Empty(t, boundCodes(t, f, 3000))
}

// Whatever is changed, the rows prove less.
func TestForgedRows(t *testing.T) {
	for name, forge := range map[string]func(c *scheduling.Certificate, x *scheduling.CaseProof){
		"no cases":             func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Cases = nil },
		"scale":                func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Scale = -1 },
		"coarser scale":        func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Scale++ },
		"higher price":         func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.From++ },
		"negative price":       func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.From = -1 },
		"fewer machines":       func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.AtMost-- },
		"more machines":        func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.AtMost++ },
		"negative number":      func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.AtMost = -1 },
		"endless number":       func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.AtMost = 1<<63 - 1 },
		"no fewer":             func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer = nil },
		"no more":              func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.More = nil },
		"fewer twice":          func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.More = x.Fewer },
		"more twice":           func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer = x.More },
		"a proof beside cases": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Tolls = []offerings.Price{1} },
		"no row":               func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows = nil },
		"another row":          func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Rows[0] = 1 },
		"row before the first": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Rows[0] = -1 },
		"rows without weights": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Weights = nil },
		"less weight":          func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Weights[0] -= whole / 100 },
		"more weight":          func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Weights[0] += 16 },
		"endless weight":       func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Weights[0] = 1<<63 - 1 },
		"negative weight":      func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Weights[0] *= -1 },
		"weight where none is": func(_ *scheduling.Certificate, x *scheduling.CaseProof) {
			x.More.Rows, x.More.Weights = []int{0}, []int64{whole}
		},
		"a row twice": func(_ *scheduling.Certificate, x *scheduling.CaseProof) {
			x.Fewer.Rows, x.Fewer.Weights = []int{0, 0}, []int64{whole, 16}
		},
		"worths":     func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows[0].Values["default/p-1"] = "999" },
		"more worth": func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows[0].Values["default/p-1"] = "1001" },
		"endless worth": func(c *scheduling.Certificate, _ *scheduling.CaseProof) {
			c.Rows[0].Values["default/p-1"] = "1" + strings.Repeat("0", 400)
		},
		"no number":         func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows[0].Values["default/p-1"] = "x" },
		"a stranger":        func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows[0].Values["default/q"] = "1" },
		"no number of CPU":  func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Rows[0].Vectors[1]["cpu"] = "-1" },
		"vectors":           func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Vectors = vectors{{}} },
		"spreads":           func(c *scheduling.Certificate, _ *scheduling.CaseProof) { c.Spreads = []scheduling.ZoneSpread{{}} },
		"no tolls":          func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls = nil },
		"two tolls":         func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls = append(x.Fewer.Tolls, 0) },
		"less toll":         func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls[0]-- },
		"negative toll":     func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls[0] = -1 },
		"more toll":         func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls[0]++ },
		"less toll of more": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.More.Tolls[0]-- },
		"more toll of more": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.More.Tolls[0]++ },
		"endless toll":      func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer.Tolls[0] = 1<<63 - 1 },
		"cases without end": func(_ *scheduling.Certificate, x *scheduling.CaseProof) { x.Fewer = x },
	} {
		t.Run(name, func(t *testing.T) {
			f := halvesByRows()
			c := f.plan.Summary.Certificate
			forge(c, c.Cases)
			assert.NotEmpty(t, boundCodes(t, f, 3000))
		})
	}
}
