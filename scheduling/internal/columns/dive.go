package columns

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// diveWhole is what part of a machine a mix has to have for it to be bought where it has
	// none whole, but for the largest part, and diveShare which part of those in the mix are
	// bought at most before the next mix.
	diveWhole, diveShare = 0.6, 6
	// diveFull is how much of its cost a machine has to be worth to be bought.
	diveFull = 0.93
	// diveTries is how many of the largest parts are tried where those before them are not.
	diveTries = 8
)

// Dive buys the machines of one mix after the other: the large ones, then those that a mix has
// whole, else those that it nearly has whole, and mixes anew for the rest. It returns nil where
// not all pods find a place.
func (x *Mixture) Dive(rounds int) (out []model.Node) {
	f := x.f
	for left := true; left; left = model.AnyLeft(x.remaining) {
		x.generate(rounds)
		if x.First == nil {
			x.First = slices.Clone(x.worths)
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
	out = append(out, f.Buy(x.m, x.m.All, x.classes, x.remaining, x.worths, greedy.NewBudget(x.p))...)
	f.Paced = paced
	if model.AnyLeft(x.remaining) {
		return nil
	}
	return out
}

// part is how often a mix has a filling.
type part struct {
	filling int
	amount  float64
}

// buy buys the machines that the mix has whole, or else nearly whole.
func (x *Mixture) buy() (out []model.Node) {
	var parts []part
	for j := range x.fillings {
		if n := x.lp.Amount(j); n > 1e-6 {
			parts = append(parts, part{j, n})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.amount, a.amount) })
	x.indexClasses()
	for _, y := range parts {
		for range int64(y.amount + 1e-6) {
			if node, ok := x.buyOne(y.filling); ok {
				out = append(out, node)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, y := range parts {
		if len(out) > 0 && (y.amount < diveWhole || len(out) > len(parts)/diveShare) || len(out) == 0 && i > diveTries {
			break
		}
		if node, ok := x.buyOne(y.filling); ok {
			out = append(out, node)
		}
	}
	return out
}

// buyOne buys a machine with the pods of a filling, or as many as are left of them, and
// others in what room they leave, if that is worth its cost.
func (x *Mixture) buyOne(filling int) (model.Node, bool) {
	y, f := &x.fillings[filling], x.f
	o := x.m.Options[y.at]
	f.Begin(y.at)
	for i, k := range y.kinds {
		n := y.counts[i]
		for _, c := range x.kinds[k] {
			n -= f.AddUpTo(c, min(n, x.remaining[c]))
		}
	}
	items := f.Finish(y.at, x.remaining, x.worths)
	worth := 0.0
	for _, it := range items {
		worth += float64(it.N) * x.worths[it.Class]
	}
	if worth < diveFull*f.Costs[o] {
		return model.Node{}, false
	}
	node := model.Node{Option: o, N: 1, Items: slices.Clone(items)}
	for _, it := range node.Items {
		x.remaining[it.Class] -= it.N
	}
	return node, true
}
