package prove

import (
	"math/big"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// resourceCertificate is the certificate of a bound by resource duals. With surrogate resources, or unless all pods are
// in the bound, it must state the dual of each pod, because pods do not request surrogate resources, and a pod with a
// dual of 0 may still exclude pods from a node.
func resourceCertificate(pr *prover, r covering.Result, all bool) *certificate.Certificate {
	if all && len(r.Values) == pr.in.Dims() {
		return &certificate.Certificate{Kind: certificate.ResourceKind, Values: namedValues(pr, r.Values), Scale: fixed.Scale}
	}
	a := bound.Assigned{Vectors: [][]*big.Int{r.Values}}
	for i := range pr.market.Classes {
		worth := new(big.Int)
		for d, n := range pr.market.Classes[i].Size {
			worth.Add(worth, new(big.Int).Mul(r.Values[d], big.NewInt(n)))
		}
		a.Duals = append(a.Duals, worth)
	}
	return assignmentCertificate(pr, a)
}

// assignmentCertificate is the certificate of a bound without domains. It states the duals by class.
func assignmentCertificate(pr *prover, a bound.Assigned) *certificate.Certificate {
	return certificateOf(pr, a, nil, func(c *certificate.Certificate, a bound.Assigned) {
		for i, ids := range pr.classes {
			nameWorth(pr.in, c.Values, ids, a.Duals[i])
		}
	})
}

// certificateOf writes a bound as a certificate, with one part for each branch. domains are the names of domains; name
// writes the duals of pods.
func certificateOf(pr *prover, a bound.Assigned, domains []string, name func(c *certificate.Certificate, a bound.Assigned)) *certificate.Certificate {
	c := &certificate.Certificate{Kind: certificate.AssignmentKind, Values: map[string]string{}, Scale: fixed.Scale}
	if a.Filled {
		c.Kind = certificate.PatternKind
	}
	if len(a.Duals) > 0 {
		name(c, a)
	}
	if x := a.Branched; x != nil {
		c.Kind, c.Spreads = certificate.BranchedKind, nil
		c.Branched = &certificate.BranchedCertificate{
			From: offerings.Price(x.From), AtMost: x.AtMost, Fewer: certificateOf(pr, *x.Fewer, domains, name), More: certificateOf(pr, *x.More, domains, name),
		}
		if x.Domain > 0 {
			c.Branched.Domain = domains[x.Domain-1]
		}
		return c
	}
	nameSurrogateResources(pr, c)
	for _, n := range a.CountMultipliers {
		c.Multipliers = append(c.Multipliers, offerings.Price(n))
	}
	c.Vectors = namedVectors(pr, a.Vectors)
	if len(a.Surpluses) > 0 {
		c.Reserved = lo.MapValues(a.Surpluses, func(over *big.Int, _ string) string { return over.String() })
	}
	return c
}

// nameWorth writes the dual of some planned classes into values, unless it is 0: for the first pod of each, or several
// where their volumes differ in wording, see [instance.Instance.RepresentativePods].
func nameWorth(in *instance.Instance, values map[string]string, ids []model.ClassID, worth *big.Int) {
	if worth.Sign() == 0 {
		return
	}
	for _, id := range ids {
		for _, pod := range in.RepresentativePods(in.Planned[id]) {
			values[podspec.PodName(pod)] = worth.String()
		}
	}
}

// namedVectors is [namedValues] of each vector.
func namedVectors(pr *prover, vectors [][]*big.Int) (out []map[string]string) {
	for _, v := range vectors {
		out = append(out, namedValues(pr, v))
	}
	return out
}

// namedValues maps names of resources and surrogate resources to the values above 0.
func namedValues(pr *prover, values []*big.Int) map[string]string {
	out := map[string]string{}
	for d, v := range values {
		if v.Sign() > 0 {
			out[nameOf(pr, d)] = v.String()
		}
	}
	return out
}

// nameOf is the name in certificates of a dimension of the market, a resource or surrogate resource.
func nameOf(pr *prover, dim int) string {
	if dim < pr.in.Dims() {
		return string(pr.in.Table.Names[dim])
	}
	of, before := &pr.surrogateResources[dim-pr.in.Dims()], 0
	for i := range pr.surrogateResources[:dim-pr.in.Dims()] {
		if (pr.surrogateResources[i].limit == nil) == (of.limit == nil) {
			before++
		}
	}
	if of.limit == nil {
		return certificate.QuantumKey(before)
	}
	return certificate.ApartKey(before)
}

// nameSurrogateResources writes the definitions of the surrogate resources and per-node limits into a certificate.
func nameSurrogateResources(pr *prover, c *certificate.Certificate) {
	for i := range pr.surrogateResources {
		y := &pr.surrogateResources[i]
		if y.limit == nil {
			c.Steps = append(c.Steps, certificate.Quantum{Resource: string(pr.in.Table.Names[y.dim]), Size: y.step})
		} else {
			c.Apart = append(c.Apart, y.limit.named())
		}
	}
	for i := range pr.further {
		c.Apart = append(c.Apart, pr.further[i].named())
	}
}

// named refers to the constraint from which the limit follows, by a pod that has it.
func (x *perNodeLimit) named() certificate.ApartTerm {
	if x.kind == podspec.SpreadTerm {
		return certificate.ApartTerm{Pod: podspec.PodName(x.representative), Spread: true}
	}
	return certificate.ApartTerm{Pod: podspec.PodName(x.representative), Term: x.term}
}
