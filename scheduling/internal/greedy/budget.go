package greedy

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Budget is the rest of the limits of each pool and of each reservation.
type Budget struct {
	limits [][]int64
	// spare is the amount of each limit that must stay free because of minValues: any machine may be launched
	// as a larger option of its floor.
	spare  [][]int64
	supply []int64
}

// NewBudget returns the limits and reservations of a problem.
func NewBudget(p *model.Problem) *Budget {
	b := &Budget{supply: slices.Clone(p.Supply)}
	for i := range p.Pools {
		b.limits = append(b.limits, slices.Clone(p.Pools[i].Limits))
		b.spare = append(b.spare, make([]int64, len(p.Pools[i].Limits)))
	}
	return b
}

// Clone returns an independent copy.
func (b *Budget) Clone() *Budget {
	c := &Budget{supply: slices.Clone(b.supply)}
	for i := range b.limits {
		c.limits = append(c.limits, slices.Clone(b.limits[i]))
		c.spare = append(c.spare, slices.Clone(b.spare[i]))
	}
	return c
}

// Affords returns the number of machines of an option that may still be bought, at most n.
func (b *Budget) Affords(option *model.Option, n int64) int64 {
	if option.Supply != model.NoSupply {
		n = min(n, b.supply[option.Supply]/option.SupplyUse)
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

// Spend takes n machines of an option from the budget; a negative n returns them. spare never shrinks.
func (b *Budget) Spend(option *model.Option, n int64) {
	if option.Supply != model.NoSupply {
		b.supply[option.Supply] -= option.SupplyUse * n
	}
	for d, use := range option.Use {
		b.limits[option.Pool][d] -= use * n
		if option.Worst != nil && n > 0 {
			b.spare[option.Pool][d] = max(b.spare[option.Pool][d], option.Worst[d]-use)
		}
	}
}

// times returns how many machines of an option with the same pods, at most n, the remaining pods and the budget
// allow.
func (b *Budget) times(option *model.Option, items []model.Item, n int64, remaining []int64) int64 {
	for _, it := range items {
		n = min(n, remaining[it.Class]/it.N)
	}
	if n == 0 {
		return 0
	}
	return b.Affords(option, n)
}

// buy takes machines from the budget and their pods from remaining.
func (b *Budget) buy(option *model.Option, node *model.Node, remaining []int64) {
	for _, it := range node.Items {
		remaining[it.Class] -= it.N * node.N
	}
	b.Spend(option, node.N)
}
