package compile

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Of many nodes that run, few are of use to the pods at hand, and plans of sites differ
// little: which nodes pods of one kind fill best is worked out once for all of them.

// nearBook remembers the bins that pods of a kind fill best, the best first.
type nearBook map[string][]int32

// NearKey names what decides where a part of e finds a place.
func NearKey(key []byte, e *Compiler, part int) []byte {
	p := &e.Parts[part]
	s := &e.Seats[p.Seat]
	for _, g := range s.Groups {
		key = binary.AppendVarint(key, int64(g))
	}
	key = append(key, ';')
	for _, q := range p.Request {
		key = binary.AppendVarint(key, q)
	}
	for _, m := range p.PerNodeLimits {
		for _, n := range []int64{int64(m.Crowd), m.Weight, e.Model.PerNodeLimits[m.Crowd].Max} {
			key = binary.AppendVarint(append(key, 'c'), n)
		}
		if m.Holds {
			key = append(key, 'h')
		}
	}
	if s.Bins != nil {
		key = binary.AppendVarint(append(key, ';'), int64(s.reach))
	}
	return key
}

// SeatNear hands the engine the bins that are near.
func (c *Compiler) SeatNear(base *Compiler, present [][]model.Presence) {
	near := c.Near
	words := len(model.NewBits(len(c.Seats)))
	bins, rows := make([]model.Bin, len(near)), make([]uint64, 2*words*len(near))
	for k, i := range near {
		row := rows[2*words*k : 2*words*(k+1)]
		bins[k] = model.Bin{Room: base.Model.Bins[i].Room, Admits: row[:words:words], Soft: row[words:], Present: present[i]}
	}
	var open, wary model.Bits
	for s := range c.Seats {
		open, wary = base.BinsOf(&c.Seats[s], open, wary)
		for k, i := range near {
			if open.Has(i) {
				bins[k].Admits.Set(s)
			}
			if wary.Has(i) {
				bins[k].Soft.Set(s)
			}
		}
	}
	c.Model.Bins = bins
}

// NodeOf is the number of the node that a bin of the model is.
func (c *Compiler) NodeOf(bin int) int {
	if c.Near == nil {
		return bin
	}
	return c.Near[bin]
}

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
