package search

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// Up to fewBins all bins are near, and so they are where more than mostNearby would have to be
// remembered.
const fewBins, mostNearby = 64, 1 << 20

// lodge finds the bins that the parts of e could need, ascending: for each kind of parts as
// many of those that it fills best as there are units of all parts that fit any bin. Whoever
// would go elsewhere finds one of these that nobody uses. Nil stands for all bins.
func (t *Ties) lodge(e *compile.Compiler) *compile.FixedAssignment {
	l := t.Locations
	bins, pods := len(l.Model.Bins), l.PodCount()
	if bins <= fewBins || pods >= int64(bins) || pods*int64(len(e.Parts)) > mostNearby {
		return nil
	}
	lists := make([][]int32, 0, len(e.Parts))
	known := map[string]bool{}
	seated := int64(0)
	var key, name []byte
	e.FixedParts = nil
	for i := range e.Parts {
		key = compile.NearKey(key[:0], e, i)
		book := l.Nearest
		if len(e.Parts[i].PerNodeLimits) > 0 {
			book = t.Nearest // per-node limits have their numbers there
		}
		list, ok := book[string(key)]
		if !ok {
			list = t.fullest(e, i, pods)
			book[string(key)] = list
		}
		if len(list) > 0 {
			seated += e.Parts[i].Count
			e.FixedParts = append(e.FixedParts, model.ClassID(i))
			name = binary.AppendVarint(append(append(name, key...), '/'), e.Parts[i].Count)
		}
		if !known[string(key)] {
			known[string(key)] = true
			lists = append(lists, list)
		}
	}
	if x := l.FixedAssignments[string(name)]; x != nil && slices.Equal(x.PerNodeLimits, t.PerNodeLimits) {
		return x
	}
	row := model.NewBits(bins)
	for _, list := range lists {
		for _, bin := range list[:min(seated, int64(len(list)))] {
			row.Set(int(bin))
		}
	}
	x := &compile.FixedAssignment{PerNodeLimits: slices.Clone(t.PerNodeLimits), Near: make([]int, 0, row.Count())}
	row.Each(func(bin int) { x.Near = append(x.Near, bin) })
	l.FixedAssignments[string(name)] = x
	return x
}

// fullest lists the n bins that units of a part fill best, the best first.
func (t *Ties) fullest(e *compile.Compiler, part int, n int64) []int32 {
	p := &e.Parts[part]
	seat := &e.Seats[p.Seat]
	l := t.Locations
	l.OpenRow, l.WaryRow = l.BinsOf(seat, l.OpenRow, l.WaryRow)
	open, wary := l.OpenRow, l.WaryRow
	return pack.Fullest(l.Model, p.Request, n, func(bin int) (takes, soft bool) {
		takes = open.Has(bin) && (len(p.PerNodeLimits) == 0 || e.Model.Joining(nil, t.present[bin], model.ClassID(part)) > 0)
		return takes, wary.Has(bin)
	})
}
