package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// housed is a problem in which the bins have room for all pods that fit any of them. Where
// these are makes no difference then to the others: machines are bought for pods that no bin
// takes, as if there were no bins, and for nobody else.
type housed struct {
	classes []model.ClassID // those that no bin takes
	bins    [][]model.Item  // where the others are
	all     int             // classes
	work    int64           // that it took
}

// searchBeside is Search that looks at all bins.
func searchBeside(p *model.Problem, params Params) Outcome {
	h := placeOnNodes(p, params)
	if h == nil {
		return searchAmong(p, params)
	}
	return searchAmong(h.rest(p), h.params(params)).within(h.widen)
}

// placeOnNodes puts pods onto the bins, one bin after the other or else class by class. It returns
// nil where some that fit a bin find no room, or where no pods are left then.
func placeOnNodes(p *model.Problem, params Params) *housed {
	h := &housed{all: len(p.Classes)}
	if len(p.Bins) == 0 {
		return nil
	}
	counts := make([]int64, len(p.Classes))
	for c := range p.Classes {
		id := model.ClassID(c)
		switch {
		case p.Classes[c].Count == 0:
		case p.AnyBinTakes(id):
			counts[c] = p.Classes[c].Count
		default:
			h.classes = append(h.classes, id)
		}
	}
	if len(h.classes) == 0 {
		return nil
	}
	if len(h.classes) == len(p.Classes) {
		h.bins = make([][]model.Item, len(p.Bins))
		return h
	}
	f, worths := greedy.NewFiller(p), params.Worths
	if worths == nil {
		worths = f.ShareValues()
	}
	order := f.BinOrder(model.Every[model.ClassID](len(p.Classes)), worths)
	for _, snug := range []bool{true, false} {
		if snug && !params.Snug {
			continue
		}
		b, remaining := greedy.NewBins(p), slices.Clone(counts)
		if snug {
			f.FillBins(b, remaining, worths)
		}
		f.PlaceOn(b, model.Every[int](len(p.Bins)), order, remaining, nil)
		if !model.AnyLeft(remaining) {
			h.bins, h.work = b.Items, f.Work
			return h
		}
	}
	return nil
}

// rest is the problem of the pods that no bin takes.
func (h *housed) rest(p *model.Problem) *model.Problem {
	rest := *p
	rest.Bins, rest.Rooms, rest.Open = nil, nil, nil
	rest.Classes = make([]model.Class, len(h.classes))
	for to, from := range h.classes {
		class := p.Classes[from]
		conflicts := class.Conflicts
		class.Conflicts = nil
		for _, c := range conflicts {
			if at, found := slices.BinarySearch(h.classes, c); found {
				class.Conflicts = append(class.Conflicts, model.ClassID(at))
			}
		}
		rest.Classes[to] = class
	}
	return &rest
}

// params are those of a search for the rest.
func (h *housed) params(params Params) Params {
	if params.Worths != nil {
		worths := make([]float64, len(h.classes))
		for to, from := range h.classes {
			worths[to] = params.Worths[from]
		}
		params.Worths = worths
	}
	return params
}

// widen puts an outcome for the rest in terms of all pods.
func (h *housed) widen(out Outcome) Outcome {
	for i := range out.Solution.Nodes {
		node := &out.Solution.Nodes[i]
		node.Items = slices.Clone(node.Items)
		for k := range node.Items {
			node.Items[k].Class = h.classes[node.Items[k].Class]
		}
	}
	unplaced := make([]int64, h.all)
	for at, n := range out.Solution.Unplaced {
		unplaced[h.classes[at]] = n
	}
	out.Solution.Unplaced = unplaced
	out.Solution.Bins = make([][]model.Item, len(h.bins))
	for i, items := range h.bins {
		out.Solution.Bins[i] = slices.Clone(items)
	}
	out.Work += h.work
	return out
}
