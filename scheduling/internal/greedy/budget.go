package greedy

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Budget is what may still be bought: limits by pool, machines by reservation.
type Budget struct {
	limits [][]int64
	// spare is how much of each limit has to stay free, so that any one machine could
	// be exchanged for what the floors of its pool count on.
	spare  [][]int64
	supply []int64
}

// NewBudget is all that a problem allows to be bought.
func NewBudget(p *model.Problem) *Budget {
	b := &Budget{supply: slices.Clone(p.Supply)}
	for i := range p.Pools {
		b.limits = append(b.limits, slices.Clone(p.Pools[i].Limits))
		b.spare = append(b.spare, make([]int64, len(p.Pools[i].Limits)))
	}
	return b
}

// Clone returns a budget that shares nothing with b.
func (b *Budget) Clone() *Budget {
	c := &Budget{supply: slices.Clone(b.supply)}
	for i := range b.limits {
		c.limits = append(c.limits, slices.Clone(b.limits[i]))
		c.spare = append(c.spare, slices.Clone(b.spare[i]))
	}
	return c
}

// Affords is how many machines of option o may still be bought, at most n.
func (b *Budget) Affords(option *model.Option, n int64) int64 {
	if option.Supply != model.NoSupply {
		n = min(n, b.supply[option.Supply])
	}
	for d, use := range option.Use {
		left := b.limits[option.Pool][d] - b.spare[option.Pool][d]
		if option.Worst != nil {
			left = b.limits[option.Pool][d] - max(b.spare[option.Pool][d], option.Worst[d]-use)
		}
		switch {
		case left < 0:
			return 0
		case use > 0:
			n = min(n, left/use)
		}
	}
	return max(n, 0)
}

// Spend takes n machines of an option out of the budget; a negative n gives them
// back. What was once kept spare stays so.
func (b *Budget) Spend(option *model.Option, n int64) {
	if option.Supply != model.NoSupply {
		b.supply[option.Supply] -= n
	}
	for d, use := range option.Use {
		b.limits[option.Pool][d] -= use * n
		if option.Worst != nil && n > 0 {
			b.spare[option.Pool][d] = max(b.spare[option.Pool][d], option.Worst[d]-use)
		}
	}
}

// times is how often, at most n times, a machine of an option with the same pods can be
// had of what remains.
func (b *Budget) times(option *model.Option, items []model.Item, n int64, remaining []int64) int64 {
	for _, it := range items {
		n = min(n, remaining[it.Class]/it.N)
	}
	if n == 0 {
		return 0
	}
	return b.Affords(option, n)
}

// buy takes machines out of the budget, and their pods out of what remains.
func (b *Budget) buy(option *model.Option, node *model.Node, remaining []int64) {
	for _, it := range node.Items {
		remaining[it.Class] -= it.N * node.N
	}
	b.Spend(option, node.N)
}
