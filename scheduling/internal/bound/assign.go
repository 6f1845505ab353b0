package bound

import (
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Assigned is a proven lower bound with the dual values that prove it.
type Assigned struct {
	// Duals has the dual value of one pod of each class, in nano-USD per hour divided by 2^[fixed.Scale]. None
	// is negative. For a class that is a part of a spread it is the dual of the kind before multipliers are
	// subtracted.
	Duals []*big.Int
	// DomainMultipliers has the reduction of the duals of each spread, by domain, in the same unit. A dual
	// below the multiplier counts as 0 there. None is negative.
	DomainMultipliers [][]*big.Int
	// Vectors are resource duals for one base unit of each resource, in the same unit. For every machine, one
	// of them proves that the value of its pods is at most its price.
	Vectors [][]*big.Int
	// Surpluses have, by supply with a name, the value that its machines hold at most beyond their price, in the same unit.
	Surpluses map[string]*big.Int
	// Filled says that the vectors do not suffice for some machines: a search over their patterns has to show
	// that no pattern has more value than the price.
	Filled bool
	// Branched is the branch and bound by number of machines; the other fields are then the proof without it. Nil
	// for none.
	Branched *Branched
	// CountMultipliers has the surcharge in nano-USD per hour of each [Branched] above this proof, the outermost
	// first: added to prices in the branch Fewer, subtracted in the branch More.
	CountMultipliers []int64
	// Patterns are pods on machines that have nearly the value of their price by the duals of the linear program over whole
	// patterns: its optimum is a mix of them. Class is an index of the market's classes.
	Patterns [][]model.Item
	// rest is the search that found this, so that [Assigned.Divided] can continue it; nil for none.
	rest *assignment
	// searched is the search that found this, and found its best duals, so that [Assigned.Refilled] can continue it; nil
	// for none.
	searched *assignment
	found    *proposal
	// Bound is the lower bound in nano-USD per hour, rounded up to a whole number.
	Bound int64
}

const (
	// fewestMachines and mostMachines bound the machines of one interior-point problem.
	fewestMachines, mostMachines = 4, 48
	// mostRounds bounds the rounds in which violated machines are added.
	mostRounds = 12
	// mostSteps bounds the iterations of one interior-point run, which usually takes 15. With work for less
	// than fewestSteps no run starts.
	mostSteps, fewestSteps, usualSteps = 40, 4, 12
	// looseGap and exactGap are the relative duality gaps at which a run ends.
	looseGap, exactGap = 1e-4, 1e-11
	// fewClasses is the number of classes below which every proposal is polished, because that takes no time
	// then.
	fewClasses = 48
	// negligible is the share of a machine's price below which a value of the interior point counts as 0.
	negligible = 1e-6
	// placesThatMatter is the largest number of pods of a class on a machine for which the relaxation states
	// the limit k_c.
	placesThatMatter = 16
)

// ClassDuals returns the duals by class in nano-USD per hour.
func (x *Assigned) ClassDuals() []float64 {
	out := make([]float64, len(x.Duals))
	for c, w := range x.Duals {
		out[c] = fixed.Float64(w)
	}
	return out
}

// Effort bounds the work of [Pattern], in elementary operations.
type Effort struct {
	// Work is for the assignment bound, Filling for the pattern bound after it.
	Work, Filling int64
	// Further is more work for the assignment bound, spent where Work was used up and the bound is less than
	// Wanted, in nano-USD per hour.
	Further, Wanted int64
	// Cases is for branching by number of machines, where the bound is less than Wanted.
	Cases int64
	// CasesWanted is the bound at which branching stops; 0 means Wanted.
	CasesWanted int64
	// Seen are the pods of each machine of a known plan: the first patterns.
	Seen [][]model.Item
	// Late reports whether the deadline has passed; nil for no deadline.
	Late func() bool
}

// Pattern finds class duals with a higher bound than one vector of resource duals can give: first by the
// assignment bound, then by the pattern bound, then by branches. Where the market has spreads it optimizes
// domain multipliers instead of patterns. start are resource duals to begin with, e.g. from package covering;
// nil for none. The same market and effort give the same result, unless Late interrupts. The bound is 0 where
// none is found or the market is malformed; it may be below the bound of the start.
func Pattern(m Market, start []*big.Int, e Effort) Assigned {
	a := prepare(&m, e.Late)
	if a == nil {
		return Assigned{}
	}
	if len(m.Spreads) > 0 {
		return spreadBound(a, start, e)
	}
	a.search(start, e)
	out := a.filled(a.best, e)
	if !out.Filled || e.Cases > 0 {
		out.rest = a
	}
	return out.Divided(e)
}

// filled goes on from a proposal by the pattern bound, and proves the best that it finds.
func (a *assignment) filled(from *proposal, e Effort) Assigned {
	before := a.best
	defer func() { a.best = before }()
	a.best = from
	var whole [][]model.Item
	if p := newPatterns(a, e.Filling); p != nil {
		a.best = p.run(e.Seen)
		whole = p.near()
	}
	found, out := a.best, a.certify()
	if a.best != from && out.Bound == 0 {
		a.best = from
		found, out = from, a.certify()
	}
	out.searched, out.found, out.Patterns = a, found, whole
	return out
}

// Refilled goes on with the pattern bound, from more patterns of plans than before. It returns x where that proves no
// more.
func (x *Assigned) Refilled(e Effort) Assigned {
	if x.searched == nil || x.Branched != nil {
		return *x
	}
	x.searched.late = e.Late
	if out := x.searched.filled(x.found, e); out.Bound > x.Bound {
		return out
	}
	return *x
}

// prepare returns the search for a market, nil where the market is malformed, costs nothing, or the deadline
// has passed.
func prepare(m *Market, late func() bool) *assignment {
	if late == nil {
		late = func() bool { return false }
	}
	if late() || !m.sound() {
		return nil
	}
	scaled := newScaledMarket(m)
	if scaled == nil {
		return nil
	}
	return &assignment{scaled: scaled, late: late}
}

// assignment is the search for the best duals of a market.
type assignment struct {
	scaled *scaledMarket
	spread *spreadSearch // the search that owns this assignment; nil for a market without spreads
	best   *proposal
	late   func() bool
}
