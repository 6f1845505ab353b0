package greedy

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Filler fills one option at a time. Its scratch memory is reused, so that filling
// allocates nothing once it has grown.
type Filler struct {
	// Work is the classes looked at so far.
	Work int64
	// Costs are what worth is divided by, per option; never 0. They are prices at first.
	Costs []float64
	// Paced says that worths and costs compare, so that dear machines can be made to wait where
	// pods under per-node limits need many. It is so at first.
	Paced bool
	// Eager has options filled before they could come first: where not everything can be had, who
	// gets it hangs on what is filled when.
	Eager bool
	// NodeLimits says that pods of some class cannot share machines as they like, and FewestNodes
	// how many machines all such pods need, wherever they may be.
	NodeLimits  bool
	FewestNodes float64
	// SizeOf is, per class, the number of its request.
	SizeOf []int32
	// Possible is, per class, whether a pod of it may be on any machine at all.
	Possible []bool

	occupants           // who is on the machine; nobody between fills
	stage     stage     // what is to be placed
	requests  [][]int64 // per size
	scaled    []float64 // sizes × stride
	stride    int       // dims, and what makes them a multiple of fewDims
	pace      limitPacing
	crowded   []bool    // by class, whether its pods are of those that need the most machines
	rowsOf    []int32   // per class on shelves, the rows it is in
	left      []int64   // room left, per dim
	hold      []int64   // room to use only at last, per dim; empty for none
	ahead     []queue   // per-node limits of which a machine takes before all others; empty for none
	inverse   []float64 // by resource, 1 by the room left; 0 beyond the resources
	shelves   []Shelf   // that the cursors walk along
	cursors   []cursor
	open      []int32 // cursors whose classes may still fit
	short     []int32 // the best of them some choices ago, best first
	scores    []float64
	before    []int64 // room left at the time, per dim
	items     []model.Item
	at        []int32 // per class on the machine, its place in items
	groups    model.Bits
	load      []int64
	listed    []model.ClassID
	offers    offers       // room for those of one construction
	waiting   []int        // and for what it holds back
	patterns  []model.Item // and for what its offers would hold
	kept      []model.Item // by machines; what is there is never written again
	some      []int        // room for bins to look at
	seats     seats        // and for seats on them
	bin       binFiller
}

// fewDims is how many resources are looked at together: most problems have no more.
const fewDims = 3

// NewFiller is a filler of the machines and nodes of a problem.
func NewFiller(p *model.Problem) *Filler {
	f := &Filler{
		Paced:     true,
		occupants: newOccupants(p),
		SizeOf:    make([]int32, len(p.Classes)),
		Possible:  make([]bool, len(p.Classes)),
		rowsOf:    make([]int32, len(p.Classes)),
		Costs:     make([]float64, len(p.Options)),
		left:      make([]int64, p.Dims),
		stride:    (p.Dims + fewDims - 1) / fewDims * fewDims,
		at:        make([]int32, len(p.Classes)),
		groups:    model.NewBits(p.Groups),
		load:      make([]int64, p.Dims),
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
		f.NodeLimits = f.NodeLimits || f.tight(model.ClassID(c))
	}
	f.crowded = f.findCrowded()
	for o := range p.Options {
		f.Costs[o] = float64(max(p.Options[o].Cost, 1))
	}
	return f
}

// Twin is a filler of the same problem that shares nothing that changes.
func (f *Filler) Twin() *Filler {
	t := NewFiller(f.p)
	t.Eager, t.Paced = f.Eager, f.Paced
	return t
}
