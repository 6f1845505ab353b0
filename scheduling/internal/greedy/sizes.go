package greedy

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// classSizes is the classes of a problem by size, i.e. by distinct request. It is not changed after it is made.
type classSizes struct {
	p        *model.Problem
	sizeOf   []int32   // by class: number of its request among the distinct ones
	possible []bool    // by class: whether a pod of it may be on an empty machine at all
	requests [][]int64 // by size
	scaled   []float64 // sizes × stride: the requests as floating point numbers
	stride   int       // Dims rounded up to a multiple of fewDims
}

// fewDims is the number of resources that are compared together, because most problems have no more.
const fewDims = 3

func newClassSizes(p *model.Problem) *classSizes {
	z := &classSizes{
		p: p, sizeOf: make([]int32, len(p.Classes)), possible: make([]bool, len(p.Classes)),
		stride: (p.Dims + fewDims - 1) / fewDims * fewDims,
	}
	known := map[string]int32{}
	var key []byte
	for c := range p.Classes {
		class := &p.Classes[c]
		z.possible[c] = p.Joining(nil, nil, model.ClassID(c)) > 0
		key = key[:0]
		for _, q := range class.Request {
			key = binary.LittleEndian.AppendUint64(key, uint64(q))
		}
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(z.requests))
			known[string(key)] = number
			z.requests = append(z.requests, class.Request)
			for _, q := range class.Request {
				z.scaled = append(z.scaled, float64(q))
			}
			z.scaled = append(z.scaled, make([]float64, z.stride-p.Dims)...)
		}
		z.sizeOf[c] = number
	}
	return z
}

// arrange sorts classes by size, then in descending order of value.
func (z *classSizes) arrange(classes []model.ClassID, values []float64) {
	slices.SortFunc(classes, func(a, b model.ClassID) int {
		return cmp.Or(
			cmp.Compare(z.sizeOf[a], z.sizeOf[b]),
			cmp.Compare(values[b], values[a]),
			cmp.Compare(a, b),
		)
	})
}

// sameBins reports whether pods of two classes fit on the same bins, if other pods there are ignored.
func (z *classSizes) sameBins(a, b model.ClassID) bool {
	return z.sizeOf[a] == z.sizeOf[b] && z.p.Classes[a].Group == z.p.Classes[b].Group
}

// sameConflicts reports whether pods of two classes may join the same pods.
func (z *classSizes) sameConflicts(a, b model.ClassID) bool {
	x, y := &z.p.Classes[a], &z.p.Classes[b]
	return x.PerNode == 0 && y.PerNode == 0 && len(x.Conflicts) == 0 && len(y.Conflicts) == 0 && slices.Equal(x.PerNodeLimits, y.PerNodeLimits)
}

// uniform reports whether all classes may join the same pods.
func (z *classSizes) uniform(classes []model.ClassID) bool {
	for _, c := range classes[1:] {
		if !z.sameConflicts(classes[0], c) {
			return false
		}
	}
	return true
}
