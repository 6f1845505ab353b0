package certificate

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/samber/lo"
)

// mostLinked bounds the number of linked balances, because the proof tries each subset of them in each domain.
const mostLinked = 12

// linked are balances that have or count the same pods, with these pods.
type linked struct {
	balances []int // by number
	payers   []*payer
}

// linkedSpreads groups the balances, given by their number, that have or count the same pods, directly or through other
// balances. The first group is of the pods without balances.
func linkedSpreads(payers []*payer, balances int) []*linked {
	part := make([]int, balances) // the group of each balance
	for i := range part {
		part[i] = i
	}
	for _, p := range payers {
		about := p.about()
		for _, b := range about {
			from, to := part[b], part[about[0]]
			for i, c := range part {
				if c == from {
					part[i] = to
				}
			}
		}
	}
	byNumber := map[int]*linked{-1: {}}
	out := []*linked{byNumber[-1]}
	for b, c := range part {
		if byNumber[c] == nil {
			byNumber[c] = &linked{}
			out = append(out, byNumber[c])
		}
		byNumber[c].balances = append(byNumber[c].balances, b)
	}
	for _, p := range payers {
		at := -1
		if about := p.about(); len(about) > 0 {
			at = part[about[0]]
		}
		byNumber[at].payers = append(byNumber[at].payers, p)
	}
	return out
}

// mostLeft returns the most by which the payments of the pods of a domain can exceed their worth there, with the multipliers
// of the balances. Which pods are there is not known: it tries each subset of the balances as the balances of which some pod
// is in the domain, and takes each payer with an excess above 0 that such a subset allows.
func (e *linked) mostLeft(domain string, balances []*domainBalance, pr *worthProof) *big.Int {
	// Payers with the same balances are added up as one group.
	type group struct {
		asks  int
		among []int
		gains []*big.Int // the excess of one pod of each payer, before taken multipliers
		known map[string]*big.Int
		of    []*payer
	}
	var groups []*group
	index := make(map[string]*group)
	for _, p := range e.payers {
		key := fmt.Sprint(p.asks, p.among)
		g := index[key]
		if g == nil {
			g = &group{asks: p.asks, among: p.among, known: make(map[string]*big.Int)}
			index[key] = g
			groups = append(groups, g)
		}
		gain := new(big.Int).Sub(p.pays, pr.worthAt(p.pod))
		for _, r := range p.among {
			gain.Add(gain, valueOf(balances[r].raised, domain))
		}
		g.gains, g.of = append(g.gains, gain), append(g.of, p)
	}
	most := new(big.Int)
	for choice := range 1 << len(e.balances) {
		held := func(r int, _ int) bool { return choice>>slices.Index(e.balances, r)&1 == 1 }
		sum := new(big.Int)
		for _, r := range lo.Filter(e.balances, held) {
			free := big.NewInt(balances[r].skew - balances[r].running[domain])
			sum.Add(sum, free.Mul(free, valueOf(balances[r].taken, domain)))
		}
		for _, g := range groups {
			if g.asks >= 0 && !held(g.asks, 0) {
				continue
			}
			due := lo.Filter(g.among, held)
			key := fmt.Sprint(due)
			if g.known[key] == nil {
				total, owed := new(big.Int), new(big.Int)
				for _, r := range due {
					owed.Add(owed, valueOf(balances[r].taken, domain))
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
