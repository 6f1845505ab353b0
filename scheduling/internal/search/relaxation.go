package search

import (
	"encoding/binary"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// minRelaxationNodes is how many machines the pods of a per-node limit have to need for their places to
// count like a resource.
const minRelaxationNodes = 16

// relaxationMarket is the engine's problem as a market: pods at their sites, and places on
// machines for those that keep others of their per-node limit away. classOf are the classes of the
// market, by class of the problem; -1 for those without pods.
func relaxationMarket(p *model.Problem) (m bound.Market, classOf []int) {
	crowds := relaxationLimits(p)
	m.Dims = p.Dims + len(crowds)
	places := make([][]byte, p.Groups) // the columns that admit a group
	columns := map[string]bool{}
	var name []byte
	for o := range p.Options {
		name = p.Options[o].Admits.Append(name[:0])
		if columns[string(name)] {
			continue
		}
		columns[string(name)] = true
		p.Options[o].Admits.Each(func(g int) { places[g] = binary.AppendUvarint(places[g], uint64(len(columns))) })
	}
	index := map[string]int{}
	var spokesmen []int
	for c := range p.Classes {
		class := &p.Classes[c]
		if class.Count == 0 {
			classOf = append(classOf, -1)
			continue
		}
		size := append(make([]int64, 0, m.Dims), class.Request...)
		for _, k := range crowds {
			size = append(size, heldWeight(class, k))
		}
		name = binary.AppendUvarint(append(name[:0], places[class.Group]...), 0)
		name = binary.AppendVarint(name, class.PerNode)
		for _, q := range size {
			name = binary.AppendVarint(name, q)
		}
		at, known := index[string(name)]
		if !known {
			at = len(m.Classes)
			index[string(name)] = at
			m.Classes = append(m.Classes, bound.Class{Size: size, PerNode: class.PerNode})
			spokesmen = append(spokesmen, c)
		}
		m.Classes[at].Count += class.Count
		classOf = append(classOf, at)
	}
	users := map[string]model.Bits{}
	for o := range p.Options {
		option := &p.Options[o]
		room := append(make([]int64, 0, m.Dims), option.Room...)
		for _, k := range crowds {
			room = append(room, p.PerNodeLimits[k].Max)
		}
		name = option.Admits.Append(name[:0])
		row, known := users[string(name)]
		if !known {
			row = model.NewBits(len(m.Classes))
			for i, c := range spokesmen {
				if option.Admits.Has(int(p.Classes[c].Group)) {
					row.Set(i)
				}
			}
			users[string(name)] = row
		}
		m.Options = append(m.Options, bound.Choice{Cap: room, Price: option.Cost, Users: row})
	}
	return m, classOf
}

// relaxationLimits are the per-node limits that need many machines.
func relaxationLimits(p *model.Problem) (out []int32) {
	need := make([]int64, len(p.PerNodeLimits))
	for c := range p.Classes {
		for _, m := range p.Classes[c].PerNodeLimits {
			if m.Holds {
				need[m.Crowd] += m.Weight * p.Classes[c].Count
			}
		}
	}
	for k, n := range need {
		if most := p.PerNodeLimits[k].Max; most > 0 && n >= minRelaxationNodes*most {
			out = append(out, int32(k))
		}
	}
	return out
}

// heldWeight is what one pod of a class takes of the places of a per-node limit to which it holds
// its machine.
func heldWeight(class *model.Class, crowd int32) int64 {
	if m, _ := class.Membership(crowd); m.Holds {
		return m.Weight
	}
	return 0
}

// relaxation is what machines for an engine's problem cost at least if they could be bought in
// parts, in nano-USD per hour, and what a pod of each class is worth then; worths are nil where
// that is not known.
type relaxation struct {
	bound  int64
	worths []float64
}

// newRelaxation looks for the bound and for the worths that prove it.
func newRelaxation(p *model.Problem, late func() bool) relaxation {
	m, classOf := relaxationMarket(p)
	a := bound.Assignment(m, nil, relaxationWork, late)
	if a.Bound == 0 {
		return relaxation{}
	}
	duals := a.ClassDuals()
	out := relaxation{bound: a.Bound, worths: make([]float64, len(p.Classes))}
	for c, at := range classOf {
		if at >= 0 {
			out.worths[c] = duals[at]
		}
	}
	return out
}
