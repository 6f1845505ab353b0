package greedy

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Filler fills one option at a time. It reuses its scratch memory, so that filling does not allocate once it
// has grown. It must not be used by several goroutines; see [Filler.Twin].
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

	on          nodePods   // the pods on the machine; empty between fills
	index       classIndex // the classes to place
	requests    [][]int64  // by size
	scaled      []float64  // sizes × stride
	stride      int        // Dims rounded up to a multiple of fewDims
	pace        limitPacing
	limitBound  []bool     // by class: its per-node limit decides the number of machines
	rowsOf      []int32    // by indexed class: number of its rows
	left        []int64    // remaining room of the machine, by resource
	reserved    []int64    // room that is used last, by resource; empty for none
	queued      []queue    // per-node limits of which a machine takes pods first; empty for none
	inverse     []float64  // by resource: 1 / remaining room; 0 beyond the resources
	lists       []SizeList // of the cursors
	cursors     []cursor
	open        []int32 // cursors whose classes may still fit
	shortlisted []int32 // the best cursors at the time of the shortlist, best first
	scores      []float64
	before      []int64 // remaining room at the time of the shortlist, by resource
	items       []model.Item
	at          []int32 // by class on the machine: its index in items
	groups      model.Bits
	load        []int64
	listed      []model.ClassID
	offers      offers        // space for a construction
	waiting     []int         // space for its waiting options
	patterns    []model.Item  // space for its patterns
	kept        []model.Item  // of bought machines; never overwritten
	some        []int         // space for the bins of a placement
	bestBins    binCandidates // space for its candidates
	bin         binFiller
}

// fewDims is the number of resources that are compared together, because most problems have no more.
const fewDims = 3

// NewFiller returns a filler for a problem.
func NewFiller(p *model.Problem) *Filler {
	f := &Filler{
		Paced:    true,
		on:       newOccupants(p),
		SizeOf:   make([]int32, len(p.Classes)),
		Possible: make([]bool, len(p.Classes)),
		rowsOf:   make([]int32, len(p.Classes)),
		Costs:    make([]float64, len(p.Options)),
		left:     make([]int64, p.Dims),
		stride:   (p.Dims + fewDims - 1) / fewDims * fewDims,
		at:       make([]int32, len(p.Classes)),
		groups:   model.NewBits(p.Groups),
		load:     make([]int64, p.Dims),
	}
	f.inverse, f.bin.option.Floor = make([]float64, f.stride), -1
	known := map[string]int32{}
	var key []byte
	for c := range p.Classes {
		class := &p.Classes[c]
		f.Possible[c] = p.Joining(nil, nil, model.ClassID(c)) > 0
		key = key[:0]
		for _, q := range class.Request {
			key = binary.LittleEndian.AppendUint64(key, uint64(q))
		}
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(f.requests))
			known[string(key)] = number
			f.requests = append(f.requests, class.Request)
			for _, q := range class.Request {
				f.scaled = append(f.scaled, float64(q))
			}
			f.scaled = append(f.scaled, make([]float64, f.stride-p.Dims)...)
		}
		f.SizeOf[c] = number
	}
	f.pace = newLimitPacing(p, f.Possible)
	for c := range p.Classes {
		f.NodeLimits = f.NodeLimits || f.hasNodeLimit(model.ClassID(c))
	}
	f.limitBound = f.findLimitBound()
	for o := range p.Options {
		f.Costs[o] = float64(max(p.Options[o].Cost, 1))
	}
	return f
}

// Twin returns an independent filler of the same problem with the same settings, for another goroutine.
func (f *Filler) Twin() *Filler {
	t := NewFiller(f.on.p)
	t.Eager, t.Paced = f.Eager, f.Paced
	return t
}
