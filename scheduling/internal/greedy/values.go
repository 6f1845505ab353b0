package greedy

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// shareValues returns the default values of classes: the cost of a pod's share of the option where that is
// cheapest. A share is that of its scarcest resource, e.g. half of the cost for a pod with half of the CPU.
// Classes that fit no option, or that may not be on any machine, have the value 0.
func (z *classSizes) shareValues() []float64 {
	p := z.p
	values := make([]float64, len(p.Classes))
	lists, listOf := optionLists(p)
	type kind struct{ size, list int32 }
	known := map[kind]float64{}
	for c := range p.Classes {
		if !z.possible[c] {
			continue
		}
		k := kind{z.sizeOf[c], listOf[p.Classes[c].Group]}
		value, ok := known[k]
		if !ok {
			value = cheapestShare(p, lists[k.list], p.Classes[c].Request)
			known[k] = value
		}
		values[c] = value
	}
	return values
}

// cheapestShare returns the least cost of a request's share on the given options; 0 where it fits none.
func cheapestShare(p *model.Problem, options []model.OptionID, request []int64) float64 {
	best := -1.0
	for _, o := range options {
		option := &p.Options[o]
		if !model.Fits(option.Room, request) {
			continue
		}
		share := 0.0
		for d, q := range request {
			if q > 0 {
				share = max(share, float64(q)/float64(option.Room[d]))
			}
		}
		if v := share * float64(max(option.Cost, 1)); best < 0 || v < best {
			best = v
		}
	}
	return max(best, 0)
}

// optionLists returns the distinct lists of options that admit a group, and the list number of each group.
func optionLists(p *model.Problem) (lists [][]model.OptionID, listOf []int32) {
	rows, rowOf := p.AdmittedRows()
	known := map[string]int32{}
	listOf = make([]int32, p.Groups)
	key := make([]byte, len(rows))
	for g := range listOf {
		for r, row := range rows {
			key[r] = 0
			if row.Has(g) {
				key[r] = 1
			}
		}
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(lists))
			known[string(key)] = number
			var list []model.OptionID
			for o, r := range rowOf {
				if key[r] == 1 {
					list = append(list, model.OptionID(o))
				}
			}
			lists = append(lists, list)
		}
		listOf[g] = number
	}
	return lists, listOf
}
