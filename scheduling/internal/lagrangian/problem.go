package lagrangian

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Problem is a market in several domains, such as zones, with rules on the numbers of pods by domain. Every
// plan decides for each pod in which domain it is.
type Problem struct {
	// Domains are the markets of the domains. All have the same classes, with all their pods.
	Domains []bound.Market
	// Pods are the pods: each class is divided by the rules that concern its pods.
	Pods  []Pods
	Rules []Rule
}

// Pods is equal pods of one class.
type Pods struct {
	Class int
	Count int64
	// Asks is the rule that the pods ask for (their own constraint), −1 for none; Counted are the rules that
	// count them.
	Asks    int
	Counted []int
}

// Rule says that a domain with pods that ask for it has at most Skew more counted pods than any domain of
// Level.
type Rule struct {
	Skew int64
	// Running is the number of counted pods that exist in any plan, by domain.
	Running []int64
	Level   []bool
}

// mostRulesTogether bounds the rules of one group, because a proof enumerates their subsets. mostRulesCounting
// bounds the rules that count one pod.
const mostRulesTogether, mostRulesCounting = 10, 3

// ruleGroup is rules that are connected by common pods, and these pods.
type ruleGroup struct {
	rules     []int
	podGroups []podGroup
}

// podGroup is pods with the same rules. Numbers of rules are local to the rule group.
type podGroup struct {
	asks    int // -1 for none
	counted []int
	mask    int // of counted
	pods    []int
	// own is, by set of rules that are held in a domain, the subset of counted in it, as a local mask; −1 where
	// the pods cannot be there, because their own rule is not held.
	own []int8
}

// ruleGroups divides pods and rules into connected groups; the first one has the pods without rules. It returns
// nil where a group has too many rules.
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

// mostPods bounds numbers of pods, so that sums stay within an int64.
const mostPods = 1 << 40

// sound reports whether all numbers are valid.
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

// Proof is a proven bound for a [Problem]. Its values are in nano-USD per hour divided by 2^[fixed.Scale], and
// none is negative.
//
// Each pod pays its dual in Duals to the domain that it is in. A domain also receives Raised of each rule that
// counts the pod. It pays the class dual of the pod in Parts, which is no more than its machines cost; and if
// it has pods that ask for a rule, it pays Taken for each pod that the rule counts beyond the skew. The most
// that a domain can keep, whichever pods are in it, is subtracted from the bound.
//
// Why that holds: let n be the number of counted pods of a domain, and m the least such number in a domain of
// the level. A domain with pods that ask for the rule has n ≤ m + skew, so Taken·(n − skew) ≤ Taken·m. The sum
// of Taken·m over domains is at most the sum of Raised·n over the domains of the level, because n ≥ m in each
// and Raised sums to at least Taken.
type Proof struct {
	Parts         []bound.Assigned // by domain
	Duals         []*big.Int       // by index in Problem.Pods
	Raised, Taken [][]*big.Int
	Bound         int64
}

// normalize makes the multipliers feasible: Raised is 0 outside of the level, and Taken sums to at most Raised.
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

// prove computes the bound. surplus is the value that machines of limited supply hold beyond their price.
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
			total.Sub(total, x.mostProfit(b, &ruleGroups[t], d))
		}
	}
	x.Bound = fixed.Ceil(total)
}

// mostProfit returns the most that a domain can keep of the pods of a rule group, whichever are there.
func (x *Proof) mostProfit(b *Problem, t *ruleGroup, d int) *big.Int {
	profits := make([][]*big.Int, len(t.podGroups)) // by pod group and set of held rules
	for k := range t.podGroups {
		profits[k] = make([]*big.Int, 1<<len(t.podGroups[k].counted))
		for held := range profits[k] {
			profits[k][held] = x.profit(b, t, &t.podGroups[k], d, held)
		}
	}
	most := new(big.Int)
	for held := range 1 << len(t.rules) {
		sum := new(big.Int)
		for k := range t.podGroups {
			if own := t.podGroups[k].own[held]; own >= 0 {
				sum.Add(sum, profits[k][own])
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

// profit returns the most that a domain keeps of the pods of a pod group: the sum over pods with a gain. held
// are the counted rules that are held there.
func (x *Proof) profit(b *Problem, t *ruleGroup, h *podGroup, d, held int) *big.Int {
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
