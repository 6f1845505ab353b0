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
		if remaining[c] > 0 {
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
	supply []int64
}

func newBudget(p *model.Problem) *budget {
	b := &budget{limits: make([][]int64, len(p.Pools)), supply: append([]int64(nil), p.Supply...)}
	for i := range p.Pools {
		b.limits[i] = append([]int64(nil), p.Pools[i].Limits...)
	}
	return b
}

func (b *budget) clone() *budget {
	c := &budget{limits: make([][]int64, len(b.limits)), supply: append([]int64(nil), b.supply...)}
	for i, l := range b.limits {
		c.limits[i] = append([]int64(nil), l...)
	}
	return c
}

// affords is how many machines of option o may still be bought, at most n.
func (b *budget) affords(option *model.Option, n int64) int64 {
	if option.Supply != model.NoSupply {
		n = min(n, b.supply[option.Supply])
	}
	for d, use := range option.Takes() {
		left := b.limits[option.Pool][d]
		switch {
		case left < 0:
			return 0
		case use > 0:
			n = min(n, left/use)
		}
	}
	return max(n, 0)
}

// spend takes n machines of an option out of the budget; a negative n gives them back.
func (b *budget) spend(option *model.Option, n int64) {
	if option.Supply != model.NoSupply {
		b.supply[option.Supply] -= n
	}
	for d, use := range option.Takes() {
		b.limits[option.Pool][d] -= use * n
	}
}
