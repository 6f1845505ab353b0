package verify

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

const (
	partedKind = "parted"
	// mostParts bounds how many cases a certificate may tell apart.
	mostParts = 1 << 10
)

// caseCosts is what machines cost more or less that are counted for a case.
type caseCosts struct {
	from  offerings.Price
	zone  string   // "" for all
	count *big.Int // how many there are at most, or at least
	least bool
	per   offerings.Price
}

// partedBound proves the bound case by case: whatever number of machines a plan buys that
// cost at least so much, it is at most the one of the certificate or more than that.
func (j *judge) partedBound(cert *scheduling.Certificate, claimed offerings.Price) {
	if len(j.reservations) > 0 {
		j.malformed("cases do not go with reservations")
		return
	}
	j.kept, j.rooms = make(map[soldKey]*machine), make(map[*instancetypes.InstanceType]amounts)
	defer func() { j.kept, j.rooms = nil, nil }()
	cases := 0
	j.caseBound(cert, claimed, nil, &cases)
}

func (j *judge) caseBound(cert *scheduling.Certificate, claimed offerings.Price, tolls []caseCosts, cases *int) {
	if *cases++; *cases > mostParts {
		if *cases == mostParts+1 {
			j.malformed("more than %d cases", mostParts)
		}
		return
	}
	if cert == nil {
		j.malformed("a case has no certificate")
		return
	}
	if cert.Kind == partedKind {
		x := cert.Parted
		if x == nil || x.From < 0 || x.AtMost < 0 {
			j.malformed("cases have to be told apart by a price and a number")
			return
		}
		at := len(tolls)
		j.caseBound(x.Fewer, claimed, append(tolls[:at:at], caseCosts{from: x.From, zone: x.Zone, count: big.NewInt(x.AtMost)}), cases)
		more := new(big.Int).Add(big.NewInt(x.AtMost), big.NewInt(1))
		j.caseBound(x.More, claimed, append(tolls[:at:at], caseCosts{from: x.From, zone: x.Zone, count: more, least: true}), cases)
		return
	}
	if cert.Kind != assignmentKind || balanced(cert) {
		j.malformed("a case of kind %q", cert.Kind)
		return
	}
	if cert.Scale < 0 || cert.Scale > maxScale || len(cert.Tolls) != len(tolls) {
		j.malformed("a case of scale %d has %d tolls for %d counts", cert.Scale, len(cert.Tolls), len(tolls))
		return
	}
	for i := range tolls {
		if tolls[i].per = cert.Tolls[i]; tolls[i].per < 0 {
			j.malformed("a toll of %v", tolls[i].per)
			return
		}
	}
	j.assignmentBound(cert, claimed, tolls)
}

// charged is what a machine of a price in a zone costs with tolls. ok is false where that is no
// price.
func (pr *assignmentProof) charged(price offerings.Price, zone string) (with offerings.Price, ok bool) {
	sum := big.NewInt(int64(price))
	for _, t := range pr.tolls {
		switch {
		case price < t.from || t.zone != "" && t.zone != zone:
		case t.least:
			sum.Sub(sum, big.NewInt(int64(t.per)))
		default:
			sum.Add(sum, big.NewInt(int64(t.per)))
		}
	}
	return offerings.Price(sum.Int64()), sum.Sign() >= 0 && sum.IsInt64()
}

// owed is what the tolls come to for the plans of the case at least.
func owed(tolls []caseCosts, scale uint) *big.Int {
	sum := new(big.Int)
	for _, t := range tolls {
		all := new(big.Int).Mul(t.count, big.NewInt(int64(t.per)))
		if t.least {
			sum.Add(sum, all)
		} else {
			sum.Sub(sum, all)
		}
	}
	return sum.Lsh(sum, scale)
}
