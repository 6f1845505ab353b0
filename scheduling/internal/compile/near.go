package compile

import (
	"encoding/binary"

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
