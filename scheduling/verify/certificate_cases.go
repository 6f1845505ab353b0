package verify

import (
	"math/big"
	"math/bits"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

const (
	casesKind = "cases"
	// mostCases bounds how many cases a certificate may tell apart by rows, deepest how many
	// one is part of, and dearestToll what a toll of them may be.
	mostCases, deepest = 1 << 13, 1 << 9
	dearestToll        = 1 << 53
)

// provenCase is a case, and how it is proven.
type provenCase struct {
	rows    []int
	weights []uint64
	tolls   []toll
}

// casesBound proves the bound case by case, as partedBound does, by rows that are the same for
// all cases. By the worths of a row, what the machines of any plan hold is no less than all
// placed pods are worth. Rows that count so many times prove as much together.
func (j *judge) casesBound(cert *scheduling.Certificate, claimed offerings.Price) {
	if len(j.reservations) > 0 {
		j.malformed("cases do not go with reservations")
		return
	}
	pr, ok := j.readRows(cert)
	if !ok || !pr.readCase(cert.Cases, nil) || !pr.checkSales(newBareOffers(pr.harmless), pr.bearable) {
		return
	}
	worth := pr.worth()
	var least *big.Int
	for i := range pr.cases {
		x := &pr.cases[i]
		sum := owed(x.tolls, pr.scale+scheduling.WeightScale)
		for k, r := range x.rows {
			sum.Add(sum, new(big.Int).Mul(worth[r], new(big.Int).SetUint64(x.weights[k])))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	j.proven(wholePrice(least, pr.scale+scheduling.WeightScale), claimed)
}

// readCase collects the cases. It reports whether all of them can be read.
func (pr *rowsProof) readCase(x *scheduling.CaseProof, tolls []toll) bool {
	switch {
	case x == nil:
		pr.malformed("a case has no proof")
		return false
	case len(pr.cases) == mostCases || len(tolls) > deepest:
		pr.malformed("more than %d cases, or more than %d in each other", mostCases, deepest)
		return false
	case x.Fewer != nil || x.More != nil:
		if x.From < 0 || x.AtMost < 0 || x.AtMost >= 1<<62 || len(x.Rows)+len(x.Weights)+len(x.Tolls) > 0 {
			pr.malformed("cases have to be told apart by a price and a number, and by them alone")
			return false
		}
		at := len(tolls)
		return pr.readCase(x.Fewer, append(tolls[:at:at], toll{from: x.From, count: big.NewInt(x.AtMost)})) &&
			pr.readCase(x.More, append(tolls[:at:at], toll{from: x.From, count: big.NewInt(x.AtMost + 1), least: true}))
	case len(x.Rows) != len(x.Weights) || len(x.Tolls) != len(tolls):
		pr.malformed("a case has %d weights for %d rows and %d tolls for %d counts", len(x.Weights), len(x.Rows), len(x.Tolls), len(tolls))
		return false
	}
	out := provenCase{rows: x.Rows, tolls: append([]toll(nil), tolls...)}
	for k, n := range x.Weights {
		if n < 0 || x.Rows[k] < 0 || x.Rows[k] >= len(pr.rows) {
			pr.malformed("row %d of %d counts %d times", x.Rows[k], len(pr.rows), n)
			return false
		}
		out.weights = append(out.weights, uint64(n))
	}
	for i, n := range x.Tolls {
		if n < 0 || n > dearestToll {
			pr.malformed("a toll of %v", n)
			return false
		}
		out.tolls[i].per = n
	}
	pr.cases = append(pr.cases, out)
	return true
}

// harmless judges offerings as if any pool bought them.
func (pr *rowsProof) harmless(b bareOffer) bool {
	room, price := pr.vector(b.room), pr.objective(b.kind, b.offering)
	if pr.bears(appendRoom([]byte("everybody"), room), price, func() []load { return pr.everybody(room) }) {
		return true
	}
	admitted, key := pr.admittedBy(b, room)
	return pr.bears(key, price, func() []load {
		return []load{pr.loadOf(room, func(_ *sort, c int) bool { return admitted[c] })}
	})
}

// bearable reports whether the machine holds no more worth than it costs, in any case.
func (pr *rowsProof) bearable(m *machine) bool {
	room, price := pr.vector(m.room()), pr.objective(m.kind, m.offering)
	if pr.bears(appendRoom([]byte("everybody"), room), price, func() []load { return pr.everybody(room) }) {
		return true
	}
	rooms := pr.roomsByConstraint(m)
	return pr.bears(constrainedKey(room, rooms), price, func() []load { return pr.loads(m, rooms) })
}

// everybody is all pods that fit the room, whether they may be there or not.
func (pr *rowsProof) everybody(room []int64) []load {
	return []load{pr.loadOf(room, func(*sort, int) bool { return true })}
}

// bears reports whether what a machine may hold is worth no more than its price, in any case. What
// is known by the key is not asked for again.
func (pr *rowsProof) bears(key []byte, price offerings.Price, loads func() []load) bool {
	h := pr.known[string(key)]
	if h == nil {
		h = &holdings{verdicts: make(map[offerings.Price]bool)}
		for _, l := range loads() {
			h.loads = append(h.loads, pr.holdings(l))
		}
		pr.known[string(key)] = h
	}
	verdict, known := h.verdicts[price]
	if !known {
		verdict = true
		for i := 0; i < len(pr.cases) && verdict; i++ {
			verdict = pr.cases[i].bears(h.loads, price)
		}
		h.verdicts[price] = verdict
	}
	return verdict
}

// bears reports whether what a machine may hold is worth no more than it costs with the tolls.
func (x *provenCase) bears(loads [][]uint64, price offerings.Price) bool {
	charged := price
	for i := range x.tolls {
		switch t := &x.tolls[i]; {
		case price < t.from:
		case t.least:
			charged -= t.per
		default:
			charged += t.per
		}
	}
	if charged < 0 {
		return false
	}
	hi, lo := bits.Mul64(uint64(charged), 1<<(scheduling.WeightScale+scheduling.HeldScale))
	for _, held := range loads {
		var high, low uint64
		for k, r := range x.rows {
			a, b := bits.Mul64(held[r], x.weights[k])
			var carry uint64
			low, carry = bits.Add64(low, b, 0)
			if high, carry = bits.Add64(high, a, carry); carry != 0 || held[r] == endless {
				return false
			}
		}
		if high > hi || high == hi && low > lo {
			return false
		}
	}
	return true
}
