package model

import (
	"cmp"
	"slices"
)

// Thin lists the options, ascending, that no other one makes pointless: at most as dear, at
// least as roomy, for at least the same groups, at the same rank.
func Thin(options []Option) []int {
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(options[a].Weight, options[b].Weight),
			cmp.Compare(options[a].Cost, options[b].Cost),
			// Of equal price the roomier comes first, so that it is there to stand in.
			-slices.Compare(options[a].Room, options[b].Room),
			cmp.Compare(a, b),
		)
	})
	var kept []int
	var kinds []*thinned
	for _, i := range order {
		o := &options[i]
		if slices.ContainsFunc(kinds, func(k *thinned) bool {
			return k.admits.Contains(o.Admits) && Fits(k.most, o.Room) &&
				slices.ContainsFunc(k.kept, func(j int) bool { return options[j].dominates(o) })
		}) {
			continue
		}
		kept = append(kept, i)
		kinds = keep(kinds, i, o)
	}
	slices.Sort(kept)
	return kept
}

// thinned is the options kept so far that admit the same groups, with the most room that
// any of them has of each resource: what asks for more than that is pointless to none of
// them. Where prices are in proportion, hardly any option has to be looked at.
type thinned struct {
	admits Bits
	most   []int64
	kept   []int
}

// keep notes an option among those that admit the same groups.
func keep(kinds []*thinned, i int, o *Option) []*thinned {
	at := slices.IndexFunc(kinds, func(k *thinned) bool { return slices.Equal(k.admits, o.Admits) })
	if at < 0 {
		at = len(kinds)
		kinds = append(kinds, &thinned{admits: o.Admits, most: make([]int64, len(o.Room))})
	}
	k := kinds[at]
	k.kept = append(k.kept, i)
	for d, n := range o.Room {
		k.most[d] = max(k.most[d], n)
	}
	return kinds
}

// dominates reports whether a can stand in for b everywhere.
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
	// What b offers to a group at one rank, a must offer at the same rank.
	for w, word := range b.Admits {
		if (a.Soft[w]^b.Soft[w])&word != 0 {
			return false
		}
	}
	return true
}
