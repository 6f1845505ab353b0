package verify

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/certificate"
)

// Proof is the sum by which the certificate of a plan proves its lower bound, see [certificate.Certificate].
type Proof struct {
	// Kind is the kind of the certificate, e.g. "assignment"; "" without a certificate.
	Kind string
	// Cases is how many cases a certificate of kind "branched" distinguishes. The terms are those of the case that proves
	// least. It is 1 for other kinds, and 0 without a certificate.
	Cases int
	// Terms add up to Proven. It is nil where an amount is no price, because it exceeds an int64.
	Terms []ProofTerm
	// Proven is the highest lower bound that the certificate proves, per hour; with kind "cover" the bound that the plan states.
	// The plan states at most this.
	Proven offerings.Price
}

// ProofTerm is one amount of a [Proof].
type ProofTerm struct {
	// Text names the amount, e.g. "prices of the cheapest room for 10 pods".
	Text string
	// Amount is per hour, below 0 where it lowers the bound.
	Amount offerings.Price
}

// exported takes over the proof of a certificate; kept is the price of existing nodes that no plan can remove.
func exported(p *certificate.Proof, kept offerings.Price) *Proof {
	out := &Proof{Kind: p.Kind, Cases: p.Cases, Proven: kept}
	if kept != 0 {
		out.Terms = append(out.Terms, ProofTerm{"price of existing nodes that cannot be removed", kept})
	}
	if p.Proven.IsInt64() {
		out.Proven = offerings.Sum(kept, offerings.Price(p.Proven.Int64()))
	}
	for _, t := range p.Terms {
		if !t.Amount.IsInt64() {
			out.Terms = nil
			break
		}
		out.Terms = append(out.Terms, ProofTerm{t.Text, offerings.Price(t.Amount.Int64())})
	}
	return out
}
