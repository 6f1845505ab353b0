package pack

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// slimClasses is for how many classes at most it pays to leave options out: what many pods
// ask for is so mixed that they can use any room.
const slimClasses = 64

// slim is a problem without the options that others make pointless to the pods at hand: a
// machine has no use for more memory than its pods ask for beside the CPU that it has.
type slim struct {
	model.Problem
	kept []int // the options
}

// searchAmong is Search that looks at all bins.
func searchAmong(p *model.Problem, params Params) Outcome {
	s := slimmed(p)
	if s == nil {
		return searchIn(p, params)
	}
	return s.widen(searchIn(&s.Problem, params))
}

// slimmed returns nil where nothing can be left out.
func slimmed(p *model.Problem) *slim {
	if len(p.Classes) == 0 || len(p.Classes) > slimClasses || len(p.Floors) > 0 {
		return nil
	}
	kept := model.Thin(p.Options, usedRooms(p))
	if len(kept) == len(p.Options) {
		return nil
	}
	s := &slim{*p, kept}
	s.Options = make([]model.Option, len(kept))
	for to, from := range kept {
		s.Options[to] = p.Options[from]
	}
	return s
}

// widen puts an outcome in terms of all options.
func (s *slim) widen(out Outcome) Outcome {
	for i := range out.Solution.Nodes {
		node := &out.Solution.Nodes[i]
		node.Option = model.OptionID(s.kept[node.Option])
	}
	return out
}

// usedRooms is, by option, how much of its room any of its pods can use: no more than all of
// them ask for, nor than they ask for beside what it has of something else.
func usedRooms(p *model.Problem) [][]int64 {
	out := make([][]int64, len(p.Options))
	all := make([]int64, p.Dims*len(p.Options))
	rows, rowOf := p.AdmittedRows()
	appetites := make([]*appetite, len(rows))
	for i, groups := range rows {
		appetites[i] = newAppetite(p, groups)
	}
	for o := range p.Options {
		out[o] = all[o*p.Dims:][:p.Dims:p.Dims]
		appetites[rowOf[o]].cut(out[o], p.Options[o].Room)
	}
	return out
}

// appetite is what the pods of some groups ask for: at most together, and at most of one
// resource for a unit of another, dims each; infinite where some ask for nothing of that.
type appetite struct {
	most  []int64
	ratio []float64
}

func newAppetite(p *model.Problem, groups model.Bits) *appetite {
	a := &appetite{most: make([]int64, p.Dims), ratio: make([]float64, p.Dims*p.Dims)}
	for c := range p.Classes {
		class := &p.Classes[c]
		if !groups.Has(int(class.Group)) {
			continue
		}
		for d, q := range class.Request {
			if q == 0 {
				continue
			}
			if a.most[d] += q * class.Count; a.most[d] < 0 || class.Count > math.MaxInt64/q {
				a.most[d] = math.MaxInt64
			}
			for e, beside := range class.Request {
				a.ratio[d*p.Dims+e] = max(a.ratio[d*p.Dims+e], float64(q)/float64(beside))
			}
		}
	}
	return a
}

// cut writes to used what of a room can be used.
func (a *appetite) cut(used, room []int64) {
	for d, n := range room {
		used[d] = min(n, a.most[d])
	}
	limits := slices.Clone(used)
	for d := range used {
		for e, n := range limits {
			// Rounding errors make it larger.
			if most := a.ratio[d*len(used)+e] * float64(n) * (1 + 1e-9); most < float64(used[d]) {
				used[d] = int64(most) + 1
			}
		}
	}
}
