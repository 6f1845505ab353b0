package bound

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Assigned is a proven lower bound with worths for classes.
type Assigned struct {
	// Duals are what one pod of each class is worth, in nano-USD per hour divided by
	// 2^[fixed.Scale]. None is negative. Of classes that are parts of a kind that is spread it is
	// what a pod of the kind is worth where no multiplier is taken off.
	Duals []*big.Int
	// DomainMultipliers is what pods of each spread are worth less, by domain, in the same unit; pods
	// with a worth below the multiplier are worth nothing there. None is negative.
	DomainMultipliers [][]*big.Int
	// Vectors are worths of one base unit of each resource, in the same unit. For
	// every machine, one of them proves that it holds no more worth than it costs.
	Vectors [][]*big.Int
	// Filled says that for some machines it takes more than the vectors: no pattern that
	// comes into question, by some vector, is worth more than the machine costs.
	Filled bool
	// Parted tells plans apart; then the rest is what is known without that. Nil for nothing.
	Parted *Parted
	// CountMultipliers are what machines cost more by each Parted that leads here, the outermost
	// first, or less where there are more machines than that.
	CountMultipliers []int64
	// rest is the search that led here, to go on from; nil for none.
	rest *assignment
	// Bound is the lower bound in nano-USD per hour, rounded up to a whole number.
	Bound int64
}

const (
	// fewestMachines and mostMachines bound how many machines one interior-point
	// problem looks at.
	fewestMachines, mostMachines = 4, 48
	// mostRounds bounds how often machines are added.
	mostRounds = 12
	// mostSteps bounds one interior-point run, which takes some 15 steps; fewer than
	// fewestSteps are not worth the while.
	mostSteps, fewestSteps, usualSteps = 40, 4, 12
	// roughly and exactly are gaps at which a run ends, as shares of the objective.
	roughly, exactly = 1e-4, 1e-11
	// fewClasses is up to how many classes it takes no time to polish every proposal.
	fewClasses = 48
	// nothing is a share of a machine's price that a solved problem may mean as 0.
	nothing = 1e-6
	// placesThatMatter is the number of pods from which on it hardly matters that a
	// machine holds whole pods only.
	placesThatMatter = 16
)

// ClassDuals are the duals as nano-USD per hour, by class.
func (x *Assigned) ClassDuals() []float64 {
	out := make([]float64, len(x.Duals))
	for c, w := range x.Duals {
		out[c] = fixed.Float64(w)
	}
	return out
}

// Effort says how far [Pattern] goes.
type Effort struct {
	// Work is for the assignment bound, Filling for going on from there, both in
	// elementary operations.
	Work, Filling int64
	// Further is for going on with the assignment bound where Work does not do and the
	// bound is less than Wanted.
	Further, Wanted int64
	// Cases is for telling apart by how many machines are bought where the bound is less than
	// Wanted.
	Cases int64
	// CasesWanted is the bound that cases are told apart for, 0 for Wanted.
	CasesWanted int64
	// Seen are what machines of some plan hold, by class: patterns to begin with.
	Seen [][]model.Item
	// Late says that it is time to stop; nil for never.
	Late func() bool
}

// Pattern looks for worths of classes that prove a higher bound than worths of resources can, and goes
// on from there with worths that machines bear only because pods are whole. Where the market has spreads it
// looks for multipliers instead. start are worths of resources, as [Resource] finds them, nil for none. The same
// market and effort give the same result, unless it is told that it is late. The bound is 0 where nothing is
// found or the market is malformed; it may be below that of the start.
func Pattern(m Market, start []*big.Int, e Effort) Assigned {
	a := prepare(&m, e.Late)
	if a == nil {
		return Assigned{}
	}
	if len(m.Spreads) > 0 {
		return a.spread(start, e)
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

// prepare returns nil where there is nothing to do.
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

// assignment is the search in floating point. Prices are in units of the dearest
// machine, amounts in units of the largest capacity.
type assignment struct {
	market   *Market
	machines []machine
	prices   []float64
	caps     []float64 // by machine, one for each resource of dims
	sizes    []float64 // by class
	inverse  []float64 // by class: 1 / size, 0 for none
	most     []float64 // by class: pods on one machine, whatever its size
	fits     *fits     // how many pods of a class a machine holds at most
	dims     []int     // the resources that can matter
	unit     []float64
	price    float64
	demand   []float64
	parts    model.Bits // classes that are parts of kinds that are spread
	scarce   model.Bits // those, and those that are few

	shares  *shares   // of which this is the search, nil where no pods are spread
	sellers [][]int   // by class: the machines on sale that it may use; see usersOf
	slack   []float64 // by machine, and what its vector says; see raise
	said    [][]float64
	best    *proposal
	late    func() bool
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

// rate brings what the machines cost and have into the units of the search.
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

// measure brings what the classes ask for into the units of the search.
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

// fits tells how many pods of a class a machine holds at most, by what the machine has: many machines have the same.
type fits struct {
	shape []int       // by machine: a number that machines of equal capacity share
	rows  [][]float64 // by shape and class; nil until it is asked for
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

// places is how many pods of a class a machine holds at most. It is exact but for
// rounding errors, and never too low.
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
