package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// stage is one pass made ready: the options that may be bought in it, and for each
// the classes that it could hold.
type stage struct {
	options    []model.OptionID
	candidates [][]model.ClassID
	soft       bool
	byCost     []int // places in options, cheapest first; set by sortByCost
}

// sortByCost fills byCost.
func (s *stage) sortByCost(p *model.Problem) {
	s.byCost = make([]int, len(s.options))
	for i := range s.byCost {
		s.byCost[i] = i
	}
	slices.SortStableFunc(s.byCost, func(a, b int) int {
		return cmp.Compare(p.Options[s.options[a]].Cost, p.Options[s.options[b]].Cost)
	})
}

// newStage collects the options of a pass for the classes that have pods left.
func newStage(p *model.Problem, pass model.Pass, remaining []int64) *stage {
	byGroup := make([][]model.ClassID, p.Groups)
	for c := range p.Classes {
		if remaining[c] > 0 && p.Joining(nil, nil, model.ClassID(c)) > 0 {
			g := p.Classes[c].Group
			byGroup[g] = append(byGroup[g], model.ClassID(c))
		}
	}
	s := &stage{soft: pass.Soft}
	groups := model.NewBits(p.Groups)
	for o := range p.Options {
		option := &p.Options[o]
		if option.Weight != pass.Weight {
			continue
		}
		copy(groups, option.Admits)
		if pass.Soft {
			groups.And(option.Soft)
		} else {
			groups.AndNot(option.Soft)
		}
		var candidates []model.ClassID
		groups.Each(func(g int) {
			for _, c := range byGroup[g] {
				if model.Fits(option.Room, p.Classes[c].Request) {
					candidates = append(candidates, c)
				}
			}
		})
		if len(candidates) > 0 {
			s.options = append(s.options, model.OptionID(o))
			s.candidates = append(s.candidates, candidates)
		}
	}
	return s
}

// budget is what may still be bought: limits by pool, machines by reservation.
type budget struct {
	limits [][]int64
	// spare is how much of each limit has to stay free, so that any one machine could
	// be exchanged for what the floors of its pool count on.
	spare  [][]int64
	supply []int64
}

func newBudget(p *model.Problem) *budget {
	b := &budget{supply: slices.Clone(p.Supply)}
	for i := range p.Pools {
		b.limits = append(b.limits, slices.Clone(p.Pools[i].Limits))
		b.spare = append(b.spare, make([]int64, len(p.Pools[i].Limits)))
	}
	return b
}

func (b *budget) clone() *budget {
	c := &budget{supply: slices.Clone(b.supply)}
	for i := range b.limits {
		c.limits = append(c.limits, slices.Clone(b.limits[i]))
		c.spare = append(c.spare, slices.Clone(b.spare[i]))
	}
	return c
}

// affords is how many machines of option o may still be bought, at most n.
func (b *budget) affords(option *model.Option, n int64) int64 {
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

// spend takes n machines of an option out of the budget; a negative n gives them
// back. What was once kept spare stays so.
func (b *budget) spend(option *model.Option, n int64) {
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
