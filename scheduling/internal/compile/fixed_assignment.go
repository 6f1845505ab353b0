package compile

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Plans of sites differ mostly in pods that no running node takes. Where nodes have room for all
// others, these can be on them as they were in another plan that has as many of each kind of
// them at the same sites, and machines are looked for without any nodes.

// FixedAssignment is the bins that parts could need of which some take each.
type FixedAssignment struct {
	PerNodeLimits []PerNodeLimit // of those who found it
	Near          []int
	// items are, by bin that is near, who is there, as places among the lodgers; nil until it is
	// known that there is room for all of them.
	Items [][]model.Item
}

// Learn notes where the lodgers of a trial are, if all have a place.
func (x *FixedAssignment) Learn(lodgers []model.ClassID, s model.Solution) {
	items := make([][]model.Item, len(s.Bins))
	for i, list := range s.Bins {
		for _, it := range list {
			at, found := slices.BinarySearch(lodgers, it.Class)
			if !found {
				return
			}
			items[i] = append(items[i], model.Item{Class: model.ClassID(at), N: it.N})
		}
	}
	x.Items = items
}
