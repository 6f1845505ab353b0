package model

import (
	"cmp"
	"slices"
)

// PruneDominated lists the options, ascending, that no other one dominates. One option dominates another if it costs at
// most as much, has at least as much room, and admits at least the same groups, at the same rank.
func PruneDominated(options []Option) []int {
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(options[a].Weight, options[b].Weight),
			cmp.Compare(options[a].Cost, options[b].Cost),
			// Of equal cost the larger one comes first, so that it is there to dominate.
			-slices.Compare(options[a].Room, options[b].Room),
			cmp.Compare(a, b),
		)
	})
	var kept []int
	var kinds []*dominators
	for _, i := range order {
		o := &options[i]
		if slices.ContainsFunc(kinds, func(k *dominators) bool {
			return k.admits.Contains(o.Admits) && Fits(k.most, o.Room) &&
				slices.ContainsFunc(k.kept, func(j int) bool { return options[j].dominates(o) })
		}) {
			continue
		}
		kept = append(kept, i)
		kinds = addDominator(kinds, i, o)
	}
	slices.Sort(kept)
	return kept
}

// dominators is the kept options that admit the same groups, with the largest room of any of them by resource:
// an option with more room is dominated by none of them. Where prices are proportional, hardly any option has
// to be compared.
type dominators struct {
	admits Bits
	most   []int64
	kept   []int
}

// addDominator adds a kept option.
func addDominator(kinds []*dominators, i int, o *Option) []*dominators {
	at := slices.IndexFunc(kinds, func(k *dominators) bool { return slices.Equal(k.admits, o.Admits) })
	if at < 0 {
		at = len(kinds)
		kinds = append(kinds, &dominators{admits: o.Admits, most: make([]int64, len(o.Room))})
	}
	k := kinds[at]
	k.kept = append(k.kept, i)
	for d, n := range o.Room {
		k.most[d] = max(k.most[d], n)
	}
	return kinds
}

// dominates reports whether a can replace b in every answer.
func (a *Option) dominates(b *Option) bool {
	if a.Weight != b.Weight || a.Cost > b.Cost || a.Supply != NoSupply || a.Floor != b.Floor || !slices.Equal(a.Worst, b.Worst) {
		return false
	}
	if !Fits(a.Room, b.Room) {
		return false
	}
	if len(a.Use) > 0 && (a.Pool != b.Pool || !Fits(b.Use, a.Use)) {
		return false
	}
	if !a.Admits.Contains(b.Admits) {
		return false
	}
	// a must admit each group of b in the same pass.
	for w, word := range b.Admits {
		if (a.Soft[w]^b.Soft[w])&word != 0 {
			return false
		}
	}
	return true
}
