package greedy

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Filler fills one option at a time. It reuses its scratch memory, so that filling does not allocate once it
// has grown. It must not be used by several goroutines; see [Filler.Clone].
type Filler struct {
	// Work is the number of classes looked at so far.
	Work int64
	// Costs are by option, never 0, in the unit of values. At first they are prices.
	Costs []float64
	// Paced enables [limitPacing], which is possible only while values and costs have the same unit. It is true
	// at first.
	Paced bool
	// Eager fills options before they could come first: where limits bind, the order of fillings decides which
	// pods are left out.
	Eager bool
	// NodeLimits says that some class has a per-node limit, and FewestNodes how many machines all such classes
	// need, if all could use any machine.
	NodeLimits  bool
	FewestNodes float64
	// SizeOf is, by class, the number of its request among the distinct ones.
	SizeOf []int32
	// Possible says, by class, whether a pod of it may be on an empty machine at all.
	Possible []bool

	sizes    *classSizes
	machine  machineFill
	index    classIndex // the classes to place
	pace     limitPacing
	bin      binFiller
	space    constructionSpace
	listed   []model.ClassID // space for Placeable
	some     []int           // space for the bins of a placement
	bestBins binCandidates   // space for its candidates
}

// NewFiller returns a filler for a problem.
func NewFiller(p *model.Problem) *Filler {
	sizes := newClassSizes(p)
	f := &Filler{Paced: true, SizeOf: sizes.sizeOf, Possible: sizes.possible, Costs: make([]float64, len(p.Options)), sizes: sizes}
	f.machine, f.pace, f.index.rowsOf = newMachineFill(sizes, &f.Work), newLimitPacing(sizes), make([]int32, len(p.Classes))
	f.bin = binFiller{sizes: sizes, machine: &f.machine, option: model.Option{Floor: -1}}
	f.NodeLimits, f.FewestNodes = f.pace.limits, f.pace.fewest
	for o := range p.Options {
		f.Costs[o] = float64(max(p.Options[o].Cost, 1))
	}
	return f
}

// Clone returns an independent filler of the same problem with the same settings, for another goroutine.
func (f *Filler) Clone() *Filler {
	t := NewFiller(f.sizes.p)
	t.Eager, t.Paced = f.Eager, f.Paced
	return t
}

// Index indexes the classes for some places of a market. It sorts classes.
func (f *Filler) Index(m *Market, places []int, classes []model.ClassID, values []float64) {
	f.sizes.arrange(classes, values)
	f.Work += f.index.fill(m, places, f.sizes, &f.pace, classes)
}

// ListsAt returns the classes by size that the option at a place of the market admits.
func (f *Filler) ListsAt(at int) []SizeList { return f.index.lists[f.index.m.Row[at]] }

// optionAt returns the option at a place of the market.
func (f *Filler) optionAt(at int) *model.Option { return &f.sizes.p.Options[f.index.m.Options[at]] }

// Fill packs pods of the indexed classes, at most remaining[c] of class c, into an empty machine of the option
// at a place of the market, and returns the items and their value. Each step takes pods of the class that would
// have the most value if the rest of the machine were filled with it alone: classes whose shape matches the
// room come first, and the next step balances the resources. With seeds, the machine begins with a pod of them
// or stays empty. The items are valid until the next fill.
func (f *Filler) Fill(at int, seeds []SizeList, remaining []int64, values []float64) ([]model.Item, float64) {
	return f.machine.run(f.optionAt(at), f.ListsAt(at), seeds, remaining, values)
}

// Begin begins an empty machine of the option at a place of the market.
func (f *Filler) Begin(at int) *model.Option {
	option := f.optionAt(at)
	f.machine.begin(option.Room)
	return option
}

// AddUpTo adds at most n pods of a class to the machine, as many as fit and may join, and returns their number.
func (f *Filler) AddUpTo(c model.ClassID, n int64) int64 {
	if n > 0 {
		n = min(n, f.machine.on.joining(c), f.machine.fitting(f.sizes.p.Classes[c].Request))
	}
	if n > 0 {
		f.machine.take(c, n)
	}
	return max(n, 0)
}

// Finish fills the machine up and returns its items, which are valid until the next fill.
func (f *Filler) Finish(at int, remaining []int64, values []float64) []model.Item {
	f.machine.fillUp(f.optionAt(at), f.ListsAt(at), remaining, values)
	return f.machine.finish()
}

// Placeable lists the classes with remaining pods that may be on some machine. The list is valid until the next
// call.
func (f *Filler) Placeable(remaining []int64) []model.ClassID {
	f.listed = f.listed[:0]
	for c, n := range remaining {
		if n > 0 && f.Possible[c] {
			f.listed = append(f.listed, model.ClassID(c))
		}
	}
	return f.listed
}

// setPace sets the caps on costs and the seeds of each row for the remaining pods. Values must be in the unit of costs.
func (f *Filler) setPace(remaining []int64, values []float64) {
	paced := f.NodeLimits && f.Paced && f.pace.slack <= slowest
	if paced {
		f.Work += int64(len(f.index.all))
	}
	f.pace.measure(&f.index, paced, remaining, values)
}

// ShareValues returns the default values of classes: the cost of a pod's share of the option where that is
// cheapest. A share is that of its scarcest resource, e.g. half of the cost for a pod with half of the CPU.
// Classes that fit no option, or that may not be on any machine, have the value 0.
func (f *Filler) ShareValues() []float64 { return f.sizes.shareValues() }

// SameBins reports whether pods of two classes fit on the same bins, if other pods there are ignored.
func (f *Filler) SameBins(a, b model.ClassID) bool { return f.sizes.sameBins(a, b) }

// Slots returns the least number of machines that the per-node limits of the remaining pods of some classes
// need.
func (f *Filler) Slots(classes []model.ClassID, remaining []int64) int64 {
	return f.pace.machineSlots(classes, remaining)
}

// LimitsOf returns the per-node limits that a class enforces, if they need nearly the largest number of
// machines, or else nil.
func (f *Filler) LimitsOf(c model.ClassID) []model.Membership {
	if !f.pace.limitBound[c] {
		return nil
	}
	return f.pace.holds[c]
}

// FillBins fills existing nodes one by one with remaining pods, the node with the least room first, in the way
// of new machines: so that no resource runs out before the others. It passes over bins with pods of this
// answer, and over bins whose PreferNoSchedule taint a pod does not tolerate.
func (f *Filler) FillBins(b *Bins, remaining []int64, values []float64) {
	f.bin.fill(b, remaining, values)
}
