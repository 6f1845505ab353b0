package certificate

import (
	"fmt"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Proof is the sum by which a certificate proves a bound. Of a certificate with cases it is that of the case that proves
// least.
type Proof struct {
	// Kind is the kind of the certificate, "" without one.
	Kind string
	// Terms add up to Proven.
	Terms []Term
	// Proven is the highest bound that the certificate proves, in nano-USD per hour; with kind "cover" the bound that is stated.
	Proven *big.Int
	// Cases is how many cases were proven, 1 for a certificate without cases.
	Cases int
}

// Term is one amount of a proof.
type Term struct {
	Text   string
	Amount *big.Int // in nano-USD per hour, below 0 where it lowers the bound
}

// sum is a proof as it is added up, in nano-USD divided by 2^scale.
type sum struct {
	scale uint
	total *big.Int
	terms []Term
}

func newSum(scale uint) *sum { return &sum{scale: scale, total: new(big.Int)} }

// add adds an amount times sign, which is 1 or -1. Amounts of 0 are no terms.
func (s *sum) add(sign int64, amount *big.Int, format string, args ...any) {
	if amount.Sign() == 0 {
		return
	}
	signed := new(big.Int).Mul(big.NewInt(sign), amount)
	s.total.Add(s.total, signed)
	s.terms = append(s.terms, Term{fmt.Sprintf(format, args...), signed.Rsh(signed, s.scale)}) // Rsh rounds down
}

// proof rounds the sum up, because prices are whole nano-USD and not below 0. The terms are rounded down, each by less
// than 1 nano-USD; one more term makes up for that.
func (s *sum) proof() *Proof {
	up := new(big.Int).Neg(s.total)
	up.Rsh(up, s.scale).Neg(up)
	text := "rounded up to whole nano-USD"
	if up.Sign() < 0 {
		up.SetInt64(0)
		text = "no price is below 0"
	}
	p := &Proof{Terms: s.terms, Proven: up, Cases: 1}
	rest := new(big.Int).Set(up)
	for _, t := range p.Terms {
		rest.Sub(rest, t.Amount)
	}
	if rest.Sign() != 0 {
		p.Terms = append(p.Terms, Term{text, rest})
	}
	return p
}

// proven compares the proven bound with the claimed one, and keeps the proof if it is the weakest so far.
func (c *Claim) proven(s *sum) {
	p := s.proof()
	if p.Proven.Cmp(big.NewInt(int64(c.bound))) < 0 {
		c.report.Add(rule.BoundUnproven, "certificate", "proves $%s, the stated lower bound is $%v", snapshot.USD(p.Proven), c.bound)
	}
	if c.proof != nil {
		p.Cases += c.proof.Cases
		if c.proof.Proven.Cmp(p.Proven) <= 0 {
			p.Terms, p.Proven = c.proof.Terms, c.proof.Proven
		}
	}
	c.proof = p
}
