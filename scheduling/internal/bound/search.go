package bound

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Search finds class duals in one market for changing numbers of pods, e.g. for one domain in a decomposition
// by domains.
type Search struct{ a *assignment }

// Duals are class duals that are feasible for all machines of a market.
type Duals struct {
	// ByClass is by class, in nano-USD per hour; 0 where no machine admits the class.
	ByClass []float64
	// Value is the value of the requested pods minus Surplus, the value that machines of limited supply hold
	// beyond their price; in nano-USD per hour.
	Value, Surplus float64
	vectors        []dualVector
}

// NewSearch returns nil where the market is malformed, has spreads or costs nothing, or where the deadline has
// passed. late reports whether it has; nil for no deadline.
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

// Takes reports whether some machine admits the class.
func (s *Search) Takes(class int) bool { return s.a.scaled.demand[class] > 0 }

// Best returns the best duals for numbers of pods by class. start are resource duals to begin with; work is in
// elementary operations.
func (s *Search) Best(numbers []float64, start []*big.Int, work int64) Duals {
	s.a.scaled.ask(numbers)
	s.a.search(start, Effort{Work: work})
	return s.duals(s.a.best)
}

// Raised returns duals that are proven for a larger market, raised as far as the machines of this market allow.
func (s *Search) Raised(known *Assigned) Duals {
	a := s.a
	a.scaled.ask(nil)
	duals := make([]float64, len(known.Duals))
	for c, w := range known.Duals {
		if a.scaled.demand[c] > 0 {
			duals[c] = fixed.Float64(w) / a.scaled.price
		}
	}
	var vectors []dualVector
	for _, whole := range known.Vectors {
		values := make([]float64, len(a.scaled.dims))
		for e, d := range a.scaled.dims {
			values[e] = fixed.Float64(whole[d]) * a.scaled.unit[e] / a.scaled.price
		}
		vectors = append(vectors, a.scaled.vector(values))
	}
	return s.duals(a.scaled.improve(a.scaled.makeFeasible(duals, vectors)))
}

func (s *Search) duals(p *proposal) Duals {
	a := s.a
	out := Duals{ByClass: make([]float64, len(p.duals)), Value: p.value * a.scaled.price, vectors: p.vectors}
	over := -p.value
	for c, w := range p.duals {
		over += a.scaled.demand[c] * w
		out.ByClass[c] = w * a.scaled.price
	}
	out.Surplus = max(0, over) * a.scaled.price
	return out
}

// Prove lowers duals until they are feasible, with the vectors of other duals, and proves them in whole
// numbers. surplus is the value that machines of limited supply hold beyond their price. ok is false where
// there is no proof.
func (s *Search) Prove(duals []float64, others []Duals) (proven Assigned, surplus *big.Int, ok bool) {
	a := s.a
	a.scaled.ask(nil)
	own := make([]float64, len(duals))
	for c, w := range duals {
		if a.scaled.demand[c] > 0 {
			own[c] = w / a.scaled.price
		}
	}
	var vectors []dualVector
	for i := range others {
		vectors = append(vectors, others[i].vectors...)
	}
	a.best = a.scaled.makeFeasible(own, vectors)
	c := a.proved(noMultipliers)
	if c == nil {
		return Assigned{}, nil, false
	}
	return c.assigned(), c.surplus, true
}
