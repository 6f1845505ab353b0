package columns

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// leastFraction is the fraction of a machine that a solution must have for it to be bought where it has
	// none whole, except the largest fraction. diveShare bounds the machines bought at once, as a divisor of
	// the patterns in the solution.
	leastFraction, diveShare = 0.6, 6
	// leastValue is the value of a machine's pods, as a share of its cost, that it must have to be bought.
	leastValue = 0.93
	// diveTries is the number of fractions that are tried until one machine is bought.
	diveTries = 8
)

// Dive buys machines in turns: the large ones, then the machines that a solution has whole, or else nearly
// whole, and solves the master again for the rest. rounds bounds the first generation of patterns. It returns
// nil where some pod finds no place.
func (x *Master) Dive(rounds int) (out []model.Node) {
	f := x.f
	for left := true; left; left = model.AnyLeft(x.remaining) {
		x.generate(rounds)
		if x.First == nil {
			x.First, x.Seen = slices.Clone(x.duals), x.Patterns()
			out = x.roundLarge()
		}
		rounds = Again
		bought := x.buy()
		out = append(out, bought...)
		if len(bought) == 0 || x.late() {
			break
		}
	}
	paced := f.Paced
	f.Paced = false
	out = append(out, f.Buy(x.m, x.m.All, x.classes, x.remaining, x.duals, greedy.NewBudget(x.p))...)
	f.Paced = paced
	if model.AnyLeft(x.remaining) {
		return nil
	}
	return out
}

// fraction is the amount of a pattern in a solution.
type fraction struct {
	pattern int
	amount  float64
}

// buy buys the machines that the solution has whole, or else nearly whole.
func (x *Master) buy() (out []model.Node) {
	var parts []fraction
	for j := range x.patterns {
		if n := x.lp.Amount(j); n > 1e-6 {
			parts = append(parts, fraction{j, n})
		}
	}
	slices.SortStableFunc(parts, func(a, b fraction) int { return cmp.Compare(b.amount, a.amount) })
	x.indexClasses()
	for _, y := range parts {
		for range int64(y.amount + 1e-6) {
			if node, ok := x.buyOne(y.pattern); ok {
				out = append(out, node)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, y := range parts {
		if len(out) > 0 && (y.amount < leastFraction || len(out) > len(parts)/diveShare) || len(out) == 0 && i > diveTries {
			break
		}
		if node, ok := x.buyOne(y.pattern); ok {
			out = append(out, node)
		}
	}
	return out
}

// buyOne buys a machine with the remaining pods of a pattern, filled up with other pods, if their value nearly
// reaches its cost.
func (x *Master) buyOne(pattern int) (model.Node, bool) {
	y, f := &x.patterns[pattern], x.f
	o := x.m.Options[y.at]
	f.Begin(y.at)
	for i, k := range y.kinds {
		n := y.counts[i]
		for _, c := range x.kinds[k] {
			n -= f.AddUpTo(c, min(n, x.remaining[c]))
		}
	}
	items := f.Finish(y.at, x.remaining, x.duals)
	worth := 0.0
	for _, it := range items {
		worth += float64(it.N) * x.duals[it.Class]
	}
	if worth < leastValue*f.Costs[o] {
		return model.Node{}, false
	}
	node := model.Node{Option: o, N: 1, Items: slices.Clone(items)}
	for _, it := range node.Items {
		x.remaining[it.Class] -= it.N
	}
	return node, true
}
