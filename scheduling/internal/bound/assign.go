package bound

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

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
	// Filled says that the vectors do not suffice for some machines: a search over their patterns has to show
	// that no pattern has more value than the price.
	Filled bool
	// Parted is the branch and bound by number of machines; the other fields are then the proof without it. Nil
	// for none.
	Parted *Parted
	// CountMultipliers has the surcharge in nano-USD per hour of each [Parted] above this proof, the outermost
	// first: added to prices in the branch Fewer, subtracted in the branch More.
	CountMultipliers []int64
	// rest is the search that found this, so that [Assigned.Divided] can continue it; nil for none.
	rest *assignment
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
		return a.spreadBound(start, e)
	}
	a.search(start, e)
	before := a.best
	a.patterns(e.Filling, e.Seen)
	out := a.certify()
	if a.best != before && out.Bound == 0 {
		a.best = before
		out = a.certify()
	}
	a.best = before
	if !out.Filled || e.Cases > 0 {
		out.rest = a
	}
	return out.Divided(e)
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
	a := newAssignment(m)
	if a != nil {
		a.late = late
	}
	return a
}

// assignment is the search in floating point. Prices are in units of the dearest machine, amounts of a resource
// in units of the largest capacity.
type assignment struct {
	market   *Market
	machines []machine
	prices   []float64
	caps     []float64 // by machine, one for each resource of dims
	sizes    []float64 // by class
	inverse  []float64 // by class: 1 / size, 0 for none
	most     []float64 // by class: the limit of pods on one machine of unlimited capacity
	fits     *fits     // k_c by machine and class
	dims     []int     // the resources of which some machine has any
	unit     []float64
	price    float64
	demand   []float64
	parts    model.Bits // classes that are parts of spreads
	scarce   model.Bits // classes of parts, and classes marked as few

	spread      *spreadSearch // the search that owns this assignment; nil for a market without spreads
	buyable     [][]int       // by class: the machines on sale that admit it; filled by buyableOf
	slack       []float64     // by machine: price minus the value that it can hold; scratch of raiseDuals
	classValues [][]float64   // by machine: values of the classes by its vector; scratch of raiseDuals
	best        *proposal
	late        func() bool
}

func newAssignment(m *Market) *assignment {
	a := &assignment{market: m, machines: m.machines()}
	if len(a.machines) == 0 {
		return nil
	}
	for i := range a.machines {
		a.price = max(a.price, float64(a.machines[i].price))
	}
	if a.price == 0 {
		return nil
	}
	for d := range m.Dims {
		unit := 0.0
		for i := range a.machines {
			unit = max(unit, float64(a.machines[i].cap[d]))
		}
		if unit > 0 {
			a.dims = append(a.dims, d)
			a.unit = append(a.unit, unit)
		}
	}
	a.rate()
	a.measure()
	return a
}

// rate scales prices and capacities of the machines to the units of the search.
func (a *assignment) rate() {
	n := len(a.dims)
	a.prices = make([]float64, len(a.machines))
	a.caps = make([]float64, len(a.machines)*n)
	for i := range a.machines {
		a.prices[i] = float64(a.machines[i].price) / a.price
		for e, d := range a.dims {
			a.caps[i*n+e] = float64(a.machines[i].cap[d]) / a.unit[e]
		}
	}
	a.fits = newFits(a)
}

// measure scales requests and limits of the classes to the units of the search.
func (a *assignment) measure() {
	n, classes := len(a.dims), a.market.Classes
	a.sizes = make([]float64, len(classes)*n)
	a.inverse = make([]float64, len(classes)*n)
	a.demand, a.most = make([]float64, len(classes)), make([]float64, len(classes))
	usable := model.NewBits(len(classes))
	a.parts = a.market.spreadParts()
	a.scarce = a.parts.Clone()
	for i := range a.machines {
		usable.Or(a.machines[i].users)
	}
	for c := range classes {
		if classes[c].Few {
			a.scarce.Set(c)
		}
		if usable.Has(c) {
			a.demand[c] = float64(classes[c].Count)
		}
		for e, d := range a.dims {
			a.sizes[c*n+e] = float64(classes[c].Size[d]) / a.unit[e]
			if size := a.sizes[c*n+e]; size > 0 {
				a.inverse[c*n+e] = 1 / size
			}
		}
		a.most[c] = float64(classes[c].Count)
		if k := classes[c].PerNode; k > 0 {
			a.most[c] = min(a.most[c], float64(k))
		}
	}
}

func (a *assignment) size(c int) []float64 { return a.sizes[c*len(a.dims) : (c+1)*len(a.dims)] }
func (a *assignment) cap(i int) []float64  { return a.caps[i*len(a.dims) : (i+1)*len(a.dims)] }

// fits caches the number of pods of a class that fit on a machine. Many machines have equal capacities and
// share a row.
type fits struct {
	shape []int       // by machine: a number that machines of equal capacity share
	rows  [][]float64 // by shape and class; nil until it is needed
}

func newFits(a *assignment) *fits {
	f, number := &fits{shape: make([]int, len(a.machines))}, map[string]int{}
	var key []byte
	for i := range a.machines {
		key = key[:0]
		for _, room := range a.cap(i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(room))
		}
		at, known := number[string(key)]
		if !known {
			at = len(number)
			number[string(key)] = at
		}
		f.shape[i] = at
	}
	f.rows = make([][]float64, len(number))
	return f
}

// places returns k_c, the largest number of pods of class c that fit on machine i. Rounding errors may make it
// too high, and never too low, because the bound relies on it.
func (f *fits) places(a *assignment, i, c int) float64 {
	row := f.rows[f.shape[i]]
	if row == nil {
		row = slices.Clone(a.most)
		n := len(a.dims)
		for class := range row {
			inverse := a.inverse[class*n : (class+1)*n]
			for e, room := range a.cap(i) {
				if inverse[e] > 0 {
					row[class] = min(row[class], room*inverse[e]*(1+1e-12))
				}
			}
			row[class] = math.Floor(row[class])
		}
		f.rows[f.shape[i]] = row
	}
	return row[c]
}
