package verify

import (
	"fmt"
	"math/big"
	"slices"
)

// mostTogether bounds how many constraints may be about each other's pods: for each choice of
// those that pods in a zone have it is worked out what is left to the zone.
const mostTogether = 12

// company is constraints that are about each other's pods, and those pods.
type company struct {
	rules  []int
	payers []*payer
}

// together finds out which constraints are about the same pods, and those about theirs.
func together(payers []*payer, balances int) []*company {
	company_ := make([]int, balances) // by constraint
	for i := range company_ {
		company_[i] = i
	}
	about := func(p *payer) []int {
		if p.asks >= 0 {
			return append([]int{p.asks}, p.among...)
		}
		return p.among
	}
	for _, p := range payers {
		rules := about(p)
		for _, r := range rules {
			from, to := company_[r], company_[rules[0]]
			for i, c := range company_ {
				if c == from {
					company_[i] = to
				}
			}
		}
	}
	byNumber := map[int]*company{-1: {}}
	out := []*company{byNumber[-1]}
	for r, c := range company_ {
		if byNumber[c] == nil {
			byNumber[c] = &company{}
			out = append(out, byNumber[c])
		}
		byNumber[c].rules = append(byNumber[c].rules, r)
	}
	for _, p := range payers {
		at := -1
		if rules := about(p); len(rules) > 0 {
			at = company_[rules[0]]
		}
		byNumber[at].payers = append(byNumber[at].payers, p)
	}
	return out
}

// left is what is left to a zone of what the pods of a company pay, if it has those pods by
// which that is most. Constraints that pods in the zone have are one choice after the other.
func (c *company) left(zone string, balances []*zoneBalance, pr *assignmentProof) *big.Int {
	// Payers that are about the same constraints come as one.
	type group struct {
		asks  int
		among []int
		gains []*big.Int // of each payer's pods without what is taken
		known map[string]*big.Int
		of    []*payer
	}
	var groups []*group
	index := make(map[string]*group)
	for _, p := range c.payers {
		key := fmt.Sprint(p.asks, p.among)
		g := index[key]
		if g == nil {
			g = &group{asks: p.asks, among: p.among, known: make(map[string]*big.Int)}
			index[key] = g
			groups = append(groups, g)
		}
		gain := new(big.Int).Sub(p.pays, pr.worthAt(p.tenant))
		for _, r := range p.among {
			gain.Add(gain, amountOf(balances[r].raised, zone))
		}
		g.gains, g.of = append(g.gains, gain), append(g.of, p)
	}
	most := new(big.Int)
	for choice := range 1 << len(c.rules) {
		held := func(r int) bool { return choice>>slices.Index(c.rules, r)&1 == 1 }
		sum := new(big.Int)
		for _, r := range c.rules {
			if held(r) {
				free := big.NewInt(balances[r].skew - balances[r].running[zone])
				sum.Add(sum, free.Mul(free, amountOf(balances[r].taken, zone)))
			}
		}
		for _, g := range groups {
			if g.asks >= 0 && !held(g.asks) {
				continue
			}
			var due []int
			for _, r := range g.among {
				if held(r) {
					due = append(due, r)
				}
			}
			key := fmt.Sprint(due)
			if g.known[key] == nil {
				total, owed := new(big.Int), new(big.Int)
				for _, r := range due {
					owed.Add(owed, amountOf(balances[r].taken, zone))
				}
				for i, gain := range g.gains {
					if own := new(big.Int).Sub(gain, owed); own.Sign() > 0 {
						total.Add(total, own.Mul(own, big.NewInt(g.of[i].count)))
					}
				}
				g.known[key] = total
			}
			sum.Add(sum, g.known[key])
		}
		if choice == 0 || sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// worthAt is what a pod is worth in the zone of a proof.
func (pr *assignmentProof) worthAt(t *tenant) *big.Int {
	if v := pr.worthOf[pr.belongs(t)+t.needs()+t.asks()]; v != nil {
		return v
	}
	return new(big.Int)
}
