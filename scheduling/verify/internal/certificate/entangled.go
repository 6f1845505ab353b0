package certificate

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/samber/lo"
)

// mostTogether bounds how many constraints may concern each other's pods, because the proof tries each subset of them
// in a domain.
const mostTogether = 12

// entangled is constraints that concern each other's pods, and those pods.
type entangled struct {
	rules  []int
	payers []*payer
}

// together groups constraints that concern the same pods, directly or by way of others.
func together(payers []*payer, balances int) []*entangled {
	part := make([]int, balances) // by constraint
	for i := range part {
		part[i] = i
	}
	for _, p := range payers {
		rules := p.about()
		for _, r := range rules {
			from, to := part[r], part[rules[0]]
			for i, c := range part {
				if c == from {
					part[i] = to
				}
			}
		}
	}
	byNumber := map[int]*entangled{-1: {}}
	out := []*entangled{byNumber[-1]}
	for r, c := range part {
		if byNumber[c] == nil {
			byNumber[c] = &entangled{}
			out = append(out, byNumber[c])
		}
		byNumber[c].rules = append(byNumber[c].rules, r)
	}
	for _, p := range payers {
		at := -1
		if rules := p.about(); len(rules) > 0 {
			at = part[rules[0]]
		}
		byNumber[at].payers = append(byNumber[at].payers, p)
	}
	return out
}

// left returns the most that can be left to a domain of the payments of the pods, over all subsets of constraints
// that have pods of their own there.
func (e *entangled) left(domain string, balances []*domainBalance, pr *proof) *big.Int {
	// Payers that are about the same constraints come as one.
	type group struct {
		asks  int
		among []int
		gains []*big.Int // of one pod of each payer, before taken multipliers
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
	for choice := range 1 << len(e.rules) {
		held := func(r int, _ int) bool { return choice>>slices.Index(e.rules, r)&1 == 1 }
		sum := new(big.Int)
		for _, r := range lo.Filter(e.rules, held) {
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
