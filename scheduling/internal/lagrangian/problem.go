package lagrangian

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Problem is a market in domains, such as zones, where some pods want to be only where not
// many more pods of some kind are than in any other domain. Every plan in question decides
// for each pod in which domain it is.
type Problem struct {
	// Domains are what can be had in each. Their classes are the same, all pods of them.
	Domains []bound.Market
	// Pods are the pods: those of each class are split up by the rules that concern them.
	Pods  []Pods
	Rules []Rule
}

// Pods is equal pods of a class.
type Pods struct {
	Class int
	Count int64
	// Asks is the rule that they hold, -1 for none; Counted are those that count them.
	Asks    int
	Counted []int
}

// Rule says that a domain with pods that hold it has no more pods that it counts than any
// domain of Level, and Skew.
type Rule struct {
	Skew int64
	// Running are pods that count in any plan, by domain.
	Running []int64
	Level   []bool
}

// mostRulesTogether bounds how many rules may concern each other's pods, mostRulesCounting how many
// count one pod.
const mostRulesTogether, mostRulesCounting = 10, 3

// ruleGroup is rules that concern each other's pods, and those pods.
type ruleGroup struct {
	rules     []int
	podGroups []podGroup
}

// podGroup is pods with the same rules, as numbers within their group.
type podGroup struct {
	asks    int // -1 for none
	counted []int
	mask    int // of those that count
	pods    []int
	// own is which of the rules that count the group are held, by which of all in the group of rules
	// are; -1 where the group cannot be.
	own []int8
}

// ruleGroups sorts pods and rules; the first one has the pods without any. It returns nil
// where too many rules are grouped together.
func (b *Problem) ruleGroups() []ruleGroup {
	group := make([]int, len(b.Rules))
	for r := range group {
		group[r] = r
	}
	find := func(r int) int {
		for group[r] != r {
			r = group[r]
		}
		return r
	}
	ruleOf := func(f *Pods) int {
		if f.Asks >= 0 {
			return f.Asks
		}
		if len(f.Counted) > 0 {
			return f.Counted[0]
		}
		return -1
	}
	for i := range b.Pods {
		f := &b.Pods[i]
		if len(f.Counted) > mostRulesCounting {
			return nil
		}
		for _, r := range f.Counted {
			group[find(r)] = find(ruleOf(f))
		}
	}
	out := []ruleGroup{{}}
	number, local := map[int]int{}, make([]int, len(b.Rules))
	for r := range b.Rules {
		at, known := number[find(r)]
		if !known {
			at = len(out)
			number[find(r)] = at
			out = append(out, ruleGroup{})
		}
		local[r] = len(out[at].rules)
		if out[at].rules = append(out[at].rules, r); len(out[at].rules) > mostRulesTogether {
			return nil
		}
	}
	for i := range b.Pods {
		f, at := &b.Pods[i], 0
		h := podGroup{asks: -1}
		if r := ruleOf(f); r >= 0 {
			at = number[find(r)]
		}
		if f.Asks >= 0 {
			h.asks = local[f.Asks]
		}
		for _, r := range f.Counted {
			h.counted = append(h.counted, local[r])
			h.mask |= 1 << local[r]
		}
		t := &out[at]
		k := slices.IndexFunc(t.podGroups, func(x podGroup) bool { return x.asks == h.asks && x.mask == h.mask })
		if k < 0 {
			k = len(t.podGroups)
			t.podGroups = append(t.podGroups, h)
		}
		t.podGroups[k].pods = append(t.podGroups[k].pods, i)
	}
	for i := range out {
		for k := range out[i].podGroups {
			out[i].podGroups[k].tabulate(len(out[i].rules))
		}
	}
	return out
}

func (h *podGroup) tabulate(rules int) {
	h.own = make([]int8, 1<<rules)
	for held := range h.own {
		if h.asks >= 0 && held>>h.asks&1 == 0 {
			h.own[held] = -1
			continue
		}
		for k, r := range h.counted {
			h.own[held] |= int8(held >> r & 1 << k)
		}
	}
}

// mostPods bounds how many pods are equal or count, so that sums stay within an int64.
const mostPods = 1 << 40

// sound reports whether the numbers are such as they should be.
func (b *Problem) sound() bool {
	domains := len(b.Domains)
	if domains == 0 || len(b.Pods) == 0 {
		return false
	}
	classes := len(b.Domains[0].Classes)
	for d := range b.Domains {
		if len(b.Domains[d].Classes) != classes || len(b.Domains[d].Spreads) > 0 {
			return false
		}
	}
	counts := make([]int64, classes)
	for i := range b.Pods {
		f := &b.Pods[i]
		if f.Class < 0 || f.Class >= classes || f.Count <= 0 || f.Asks < -1 || f.Asks >= len(b.Rules) || f.Count > mostPods {
			return false
		}
		for k, r := range f.Counted {
			if r < 0 || r >= len(b.Rules) || slices.Contains(f.Counted[:k], r) {
				return false
			}
		}
		counts[f.Class] += f.Count
	}
	for c, n := range counts {
		for d := range b.Domains {
			if b.Domains[d].Classes[c].Count != n {
				return false
			}
		}
	}
	for r := range b.Rules {
		x := &b.Rules[r]
		if x.Skew < 0 || len(x.Running) != domains || len(x.Level) != domains || slices.Min(x.Running) < 0 || slices.Max(x.Running) > mostPods {
			return false
		}
	}
	return true
}

// Proof is a proven bound for a [Problem]. Worths and the like are in nano-USD per hour
// divided by 2^[fixed.Scale], and none is negative.
//
// Say that a pod pays Worths to whoever knows a place for it, wherever that is. A domain is
// paid that and Raised of each rule that counts the pod. It pays for the pod what Parts say
// that it is worth there, which is no more than machines cost; and if it has pods that hold
// a rule, Taken for each pod that the rule counts, but for as many as the skew. What is left
// to a domain at most, whichever pods it takes, is what the bound loses there.
//
// Why that holds: let n be how many counted pods a domain has, and m the least such number
// of any domain of the level. A domain with pods that hold the rule has n ≤ m + skew, so that
// it would be paid back no less than Taken·(n − skew) with Taken·m; all of them together
// are with Raised·n of every domain of the level, because n ≥ m in each and Raised comes to
// no less than Taken.
type Proof struct {
	Parts         []bound.Assigned // by domain
	Duals         []*big.Int       // by spread group
	Raised, Taken [][]*big.Int
	Bound         int64
}

// normalize gives raised and taken their form: nothing is raised off the level, and no more
// is taken than is raised.
func (x *Proof) normalize(b *Problem) {
	for r := range b.Rules {
		over := new(big.Int)
		for d := range b.Domains {
			if !b.Rules[r].Level[d] {
				x.Raised[r][d] = new(big.Int)
			}
			over.Add(over, x.Taken[r][d])
			over.Sub(over, x.Raised[r][d])
		}
		for d := range b.Domains {
			if over.Sign() <= 0 {
				break
			}
			n := new(big.Int).Set(x.Taken[r][d])
			if n.Cmp(over) > 0 {
				n.Set(over)
			}
			x.Taken[r][d] = new(big.Int).Sub(x.Taken[r][d], n)
			over.Sub(over, n)
		}
	}
}

// prove adds everything up. surplus is what limited machines hold beyond their price.
func (x *Proof) prove(b *Problem, ruleGroups []ruleGroup, surplus *big.Int) {
	total := new(big.Int).Neg(surplus)
	for i := range b.Pods {
		total.Add(total, new(big.Int).Mul(x.Duals[i], big.NewInt(b.Pods[i].Count)))
	}
	for r := range b.Rules {
		for d, n := range b.Rules[r].Running {
			total.Sub(total, new(big.Int).Mul(x.Raised[r][d], big.NewInt(n)))
		}
	}
	for d := range b.Domains {
		for t := range ruleGroups {
			total.Sub(total, x.left(b, &ruleGroups[t], d))
		}
	}
	x.Bound = fixed.Ceil(total)
}

// left is what is left to a domain of what pods of a group of rules pay, whichever it takes.
func (x *Proof) left(b *Problem, t *ruleGroup, d int) *big.Int {
	rents := make([][]*big.Int, len(t.podGroups)) // by group of pods and rules that are held in the domain
	for k := range t.podGroups {
		rents[k] = make([]*big.Int, 1<<len(t.podGroups[k].counted))
		for held := range rents[k] {
			rents[k][held] = x.rent(b, t, &t.podGroups[k], d, held)
		}
	}
	most := new(big.Int)
	for held := range 1 << len(t.rules) {
		sum := new(big.Int)
		for k := range t.podGroups {
			if own := t.podGroups[k].own[held]; own >= 0 {
				sum.Add(sum, rents[k][own])
			}
		}
		for m := held; m != 0; m &= m - 1 {
			r := t.rules[bits.TrailingZeros(uint(m))]
			sum.Add(sum, new(big.Int).Mul(x.Taken[r][d], big.NewInt(b.Rules[r].Skew-b.Rules[r].Running[d])))
		}
		if held == 0 || sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// rent is what a domain has of the pods of a group of pods if it takes those that pay.
func (x *Proof) rent(b *Problem, t *ruleGroup, h *podGroup, d, held int) *big.Int {
	more := new(big.Int)
	for k, own := range h.counted {
		r := t.rules[own]
		more.Add(more, x.Raised[r][d])
		if held>>k&1 == 1 {
			more.Sub(more, x.Taken[r][d])
		}
	}
	sum := new(big.Int)
	for _, i := range h.pods {
		f := &b.Pods[i]
		one := new(big.Int).Sub(x.Duals[i], x.Parts[d].Duals[f.Class])
		if one.Add(one, more); one.Sign() > 0 {
			sum.Add(sum, one.Mul(one, big.NewInt(f.Count)))
		}
	}
	return sum
}
