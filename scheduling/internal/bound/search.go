package bound

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Search looks for worths of classes in one market, for numbers of pods that change.
type Search struct{ a *assignment }

// Duals are worths that the machines of a market bear.
type Duals struct {
	// Worths are by class, in nano-USD per hour; 0 where no machine lets the class in.
	Worths []float64
	// Value is what the pods asked for are worth, less Surplus: what machines of limited number
	// hold beyond their price.
	Value, Surplus float64
	vectors        []vector
}

// NewSearch returns nil where the market is malformed, has spreads, or has nothing that costs
// anything, and where it is late, which may be nil.
func NewSearch(m *Market, late func() bool) *Search {
	if len(m.Spreads) > 0 {
		return nil
	}
	a := prepare(m, late)
	if a == nil {
		return nil
	}
	return &Search{a}
}

// Takes reports whether some machine lets pods of a class in.
func (s *Search) Takes(class int) bool { return s.a.demand[class] > 0 }

// Best looks for the worths that are best for numbers of pods by class, from values of resources,
// within a number of elementary operations.
func (s *Search) Best(numbers []float64, start []*big.Int, work int64) Duals {
	s.a.ask(numbers)
	s.a.search(start, Effort{Work: work})
	return s.duals(s.a.best)
}

// Raised are the worths that are proven for a larger market, raised as far as the machines of
// this one bear that.
func (s *Search) Raised(known *Assigned) Duals {
	a := s.a
	a.ask(nil)
	worths := make([]float64, len(known.Duals))
	for c, w := range known.Duals {
		if a.demand[c] > 0 {
			worths[c] = fixed.Float64(w) / a.price
		}
	}
	var vectors []vector
	for _, whole := range known.Vectors {
		values := make([]float64, len(a.dims))
		for e, d := range a.dims {
			values[e] = fixed.Float64(whole[d]) * a.unit[e] / a.price
		}
		vectors = append(vectors, a.vector(values))
	}
	return s.duals(a.polish(a.makeFeasible(worths, vectors)))
}

func (s *Search) duals(p *proposal) Duals {
	a := s.a
	out := Duals{Worths: make([]float64, len(p.worths)), Value: p.value * a.price, vectors: p.vectors}
	over := -p.value
	for c, w := range p.worths {
		over += a.demand[c] * w
		out.Worths[c] = w * a.price
	}
	out.Surplus = max(0, over) * a.price
	return out
}

// Prove lowers worths as far as machines do not bear them, by what is known of others, and proves
// in whole numbers that they bear the rest. surplus is what machines of limited number hold
// beyond their price. ok is false where there is no proof.
func (s *Search) Prove(worths []float64, others []Duals) (proven Assigned, surplus *big.Int, ok bool) {
	a := s.a
	a.ask(nil)
	own := make([]float64, len(worths))
	for c, w := range worths {
		if a.demand[c] > 0 {
			own[c] = w / a.price
		}
	}
	var vectors []vector
	for i := range others {
		vectors = append(vectors, others[i].vectors...)
	}
	a.best = a.makeFeasible(own, vectors)
	c := a.proved(noMultipliers)
	if c == nil {
		return Assigned{}, nil, false
	}
	return c.assigned(), c.lost, true
}

// ask sets the demand: numbers of pods by class, or all of them.
func (a *assignment) ask(numbers []float64) {
	usable := model.NewBits(len(a.demand))
	for i := range a.machines {
		usable.Or(a.machines[i].users)
	}
	for c := range a.demand {
		if a.demand[c] = 0; usable.Has(c) && a.market.Classes[c].Count > 0 {
			a.demand[c] = float64(a.market.Classes[c].Count)
			if numbers != nil {
				a.demand[c] = max(trace, numbers[c])
			}
		}
	}
}
