package lagrangian

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// tinyProblem is so small that every way to deal the pods out can be tried. Machines hold one
// small pod or two, or a large one.
type tinyProblem struct {
	Problem
	prices [][2]int64 // of small and large machines, by domain
	free   []int64    // small places that cost nothing
}

func randomProblem(r *rand.Rand) *tinyProblem {
	x := &tinyProblem{}
	domains, rules := 2+r.IntN(2), 1+r.IntN(3)
	for range rules {
		rule := Rule{Skew: 1 + r.Int64N(2)}
		for range domains {
			rule.Running, rule.Level = append(rule.Running, max(0, r.Int64N(5)-2)), append(rule.Level, r.IntN(5) > 0)
		}
		x.Rules = append(x.Rules, rule)
	}
	counts := make([]int64, 2)
	for range 2 + r.IntN(3) {
		f := Pods{Class: r.IntN(2), Count: 1 + r.Int64N(3), Asks: r.IntN(rules+1) - 1}
		for rule := range rules {
			if r.IntN(2) == 0 {
				f.Counted = append(f.Counted, rule)
			}
		}
		x.Pods = append(x.Pods, f)
		counts[f.Class] += f.Count
	}
	users := model.NewBits(2)
	users.Set(0)
	users.Set(1)
	for range domains {
		small := 100 + r.Int64N(100)
		x.prices = append(x.prices, [2]int64{small, small + r.Int64N(small)})
		m := bound.Market{Dims: 1, Classes: []bound.Class{{Size: []int64{1}, Count: counts[0]}, {Size: []int64{2}, Count: counts[1]}}}
		for k, price := range x.prices[len(x.prices)-1] {
			m.Options = append(m.Options, bound.Choice{Cap: []int64{int64(k) + 1}, Price: price, Users: users})
		}
		x.free = append(x.free, 0)
		if r.IntN(4) == 0 {
			x.free[len(x.free)-1] = 1
			m.Supplies = append(m.Supplies, bound.Supply{Count: 1, Members: []bound.Choice{{Cap: []int64{1}, Users: users}}})
		}
		x.Domains = append(x.Domains, m)
	}
	return x
}

// cost returns the cost of numbers of small and large pods in a domain.
func (x *tinyProblem) cost(d int, small, large int64) int64 {
	small = max(0, small-x.free[d])
	one, two := x.prices[d][0], x.prices[d][1]
	return large*two + small/2*min(two, 2*one) + small%2*min(one, two)
}

// cheapest tries everything; -1 where the pods have no place.
func (x *tinyProblem) cheapest() int64 {
	best := int64(-1)
	at := grid64(len(x.Pods), len(x.Domains))
	var deal func(f, d int, left int64)
	deal = func(f, d int, left int64) {
		switch {
		case f == len(x.Pods):
			if cost, ok := x.dealt(at); ok && (best < 0 || cost < best) {
				best = cost
			}
		case d == len(x.Domains)-1:
			at[f][d] = left
			next := int64(0)
			if f+1 < len(x.Pods) {
				next = x.Pods[f+1].Count
			}
			deal(f+1, 0, next)
		default:
			for n := range left + 1 {
				at[f][d] = n
				deal(f, d+1, left-n)
			}
		}
	}
	deal(0, 0, x.Pods[0].Count)
	return best
}

func grid64(rows, columns int) [][]int64 {
	out := make([][]int64, rows)
	for i := range out {
		out[i] = make([]int64, columns)
	}
	return out
}

// dealt returns the cost of an assignment of pods to domains, if every rule holds.
func (x *tinyProblem) dealt(at [][]int64) (cost int64, ok bool) {
	for r := range x.Rules {
		rule := &x.Rules[r]
		counts, held := slices.Clone(rule.Running), make([]bool, len(x.Domains))
		for f := range x.Pods {
			for d, n := range at[f] {
				if slices.Contains(x.Pods[f].Counted, r) {
					counts[d] += n
				}
				held[d] = held[d] || n > 0 && x.Pods[f].Asks == r
			}
		}
		for d := range held {
			for e, level := range rule.Level {
				if held[d] && level && counts[d] > counts[e]+rule.Skew {
					return 0, false
				}
			}
		}
	}
	for d := range x.Domains {
		var sizes [2]int64
		for f := range x.Pods {
			sizes[x.Pods[f].Class] += at[f][d]
		}
		cost += x.cost(d, sizes[0], sizes[1])
	}
	return cost, true
}

// No plan that keeps the rules is cheaper than the bound, and mostly some plan costs little
// more; without the rules that would not be so.
func TestSolveAgainstEveryDeal(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	solved, near, gained := 0, 0, 0
	for round := range 200 {
		x := randomProblem(r)
		best := x.cheapest()
		if best < 0 {
			continue
		}
		zeros := bound.Assigned{Duals: bigs(0, 0), Vectors: [][]*big.Int{bigs(0)}}
		effort := bound.Effort{Work: 2_000_000}
		out, ok := Solve(&x.Problem, nil, &zeros, effort)
		require.True(t, ok, "round %d", round)
		name := fmt.Sprintf("round %d: %+v", round, x)
		require.LessOrEqual(t, out.Bound, best, name)
		loose := x.Problem
		loose.Rules, loose.Pods = nil, nil
		for _, f := range x.Pods {
			f.Asks, f.Counted = -1, nil
			loose.Pods = append(loose.Pods, f)
		}
		without, ok := Solve(&loose, nil, &zeros, effort)
		require.True(t, ok, name)
		solved++
		if 10*out.Bound >= 9*best {
			near++
		}
		if out.Bound > without.Bound {
			gained++
		}
	}
	t.Logf("%d solved, %d within a tenth, %d gained", solved, near, gained)
	assert.Greater(t, solved, 150)
	assert.Greater(t, 2*near, solved)
	assert.Greater(t, 4*gained, solved)
}

// The proof in integers is no higher than the bound of its duals: it holds for duals of any kind, whose form
// [Proof.normalize] mends.
func TestProofWithAnyDuals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	positive := 0
	for round := range 2000 {
		x := randomProblem(r)
		best := x.cheapest()
		ruleGroups := x.ruleGroups()
		if best < 0 || ruleGroups == nil || slices.Max(x.free) > 0 {
			continue
		}
		out := Proof{}
		for d := range x.Domains {
			one := min(x.prices[d][0], x.prices[d][1]/2)
			out.Parts = append(out.Parts, bound.Assigned{Duals: []*big.Int{scaled(r.Int64N(one + 1)), scaled(r.Int64N(min(x.prices[d][1], 2*one) + 1))}})
		}
		for range x.Pods {
			out.Duals = append(out.Duals, scaled(r.Int64N(150)))
		}
		for range x.Rules {
			var raised, taken []*big.Int
			for range x.Domains {
				raised, taken = append(raised, scaled(max(0, r.Int64N(40)-20))), append(taken, scaled(max(0, r.Int64N(40)-20)))
			}
			out.Raised, out.Taken = append(out.Raised, raised), append(out.Taken, taken)
		}
		out.normalize(&x.Problem)
		out.prove(&x.Problem, ruleGroups, scaled(0))
		require.LessOrEqual(t, out.Bound, best, "round %d: %+v", round, x)
		if out.Bound > 0 {
			positive++
		}
	}
	assert.Greater(t, positive, 300)
}

func TestProblemsThatAreNone(t *testing.T) {
	for name, change := range map[string]func(x *tinyProblem){
		"no domains":        func(x *tinyProblem) { x.Domains = nil },
		"no pods":           func(x *tinyProblem) { x.Pods = nil },
		"fewer pods":        func(x *tinyProblem) { x.Pods[0].Count++ },
		"no such class":     func(x *tinyProblem) { x.Pods[0].Class = 2 },
		"no such rule":      func(x *tinyProblem) { x.Pods[0].Asks = 9 },
		"counted by nobody": func(x *tinyProblem) { x.Pods[0].Counted = []int{9} },
		"counted twice":     func(x *tinyProblem) { x.Pods[0].Counted = []int{0, 0} },
		"negative skew":     func(x *tinyProblem) { x.Rules[0].Skew = -1 },
		"fewer domains":     func(x *tinyProblem) { x.Rules[0].Level = nil },
		"negative count":    func(x *tinyProblem) { x.Rules[0].Running[0] = -1 },
		"different classes": func(x *tinyProblem) { x.Domains[0].Classes = nil },
		"nothing is known":  func(x *tinyProblem) { x.Rules = nil },
		"spreads beside":    func(x *tinyProblem) { x.Domains[0].Spreads = make([]bound.Spread, 1) },
		"too much is tangled": func(x *tinyProblem) {
			for len(x.Rules) <= mostRulesTogether {
				x.Rules = append(x.Rules, x.Rules[0])
			}
			for r := range mostRulesTogether {
				x.Pods = append(x.Pods, Pods{Count: 1, Asks: r, Counted: []int{r + 1}})
				for d := range x.Domains {
					x.Domains[d].Classes[0].Count++
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := randomProblem(rand.New(rand.NewPCG(1, 1)))
			known := bound.Assigned{Duals: bigs(0, 0), Vectors: [][]*big.Int{bigs(0)}}
			_, ok := Solve(&x.Problem, nil, &known, bound.Effort{Work: 100_000})
			require.True(t, ok)
			if change(x); name == "nothing is known" {
				known = bound.Assigned{}
			}
			_, ok = Solve(&x.Problem, nil, &known, bound.Effort{Work: 100_000})
			assert.False(t, ok)
		})
	}
}

func bigs(values ...int64) (out []*big.Int) {
	for _, v := range values {
		out = append(out, scaled(v))
	}
	return out
}

func scaled(v int64) *big.Int { return new(big.Int).Lsh(big.NewInt(v), fixed.Scale) }
