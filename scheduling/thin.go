package scheduling

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// thin drops options that another one makes pointless: at most as dear, at least as
// roomy, for at least the same groups, at the same rank. It changes what the search
// looks at, never what may be launched: the options of a launch are drawn from all
// offers.
func (c *compiler) thin() {
	options := c.model.Options
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(options[a].Weight, options[b].Weight),
			cmp.Compare(options[a].Cost, options[b].Cost),
			// Of equal price the roomier comes first, so that it is there to stand in.
			-slices.Compare(options[a].Room, options[b].Room),
			cmp.Compare(a, b),
		)
	})
	var kept []int
	for _, i := range order {
		if !slices.ContainsFunc(kept, func(j int) bool { return c.dominates(&options[j], &options[i]) }) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	thinned := make([]model.Option, len(kept))
	bought := make([]purchase, len(kept))
	for to, from := range kept {
		thinned[to], bought[to] = options[from], c.bought[from]
	}
	c.model.Options, c.bought = thinned, bought
}

// dominates reports whether a can stand in for b everywhere.
func (c *compiler) dominates(a, b *model.Option) bool {
	if a.Weight != b.Weight || a.Cost > b.Cost || a.Supply != model.NoSupply || a.Floor != b.Floor || !slices.Equal(a.Worst, b.Worst) {
		return false
	}
	for d, n := range a.Room {
		if n < b.Room[d] {
			return false
		}
	}
	if len(a.Use) > 0 {
		if a.Pool != b.Pool {
			return false
		}
		for d, n := range a.Use {
			if n > b.Use[d] {
				return false
			}
		}
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
