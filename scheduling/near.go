package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// Of many nodes that run, few are of use to the pods at hand, and plans of sites differ
// little: which nodes pods of one kind fill best is worked out once for all of them.

// nearBook remembers the bins that pods of a kind fill best, the best first.
type nearBook map[string][]int32

// Up to fewBins all bins are near, and so they are where more than mostNearby would have to be
// remembered.
const fewBins, mostNearby = 64, 1 << 20

// lodge finds the bins that the parts of e could need, ascending: for each kind of parts as
// many of those that it fills best as there are units of all parts that fit any bin. Whoever
// would go elsewhere finds one of these that nobody uses. Nil stands for all bins.
func (t *ties) lodge(e *compiler) *lodging {
	l := t.land
	bins, pods := len(l.model.Bins), l.podCount()
	if bins <= fewBins || pods >= int64(bins) || pods*int64(len(e.parts)) > mostNearby {
		return nil
	}
	lists := make([][]int32, 0, len(e.parts))
	known := map[string]bool{}
	seated := int64(0)
	var key, name []byte
	e.lodgers = nil
	for i := range e.parts {
		key = nearKey(key[:0], e, i)
		book := l.nearest
		if len(e.parts[i].crowds) > 0 {
			book = t.nearest // crowds have their numbers there
		}
		list, ok := book[string(key)]
		if !ok {
			list = t.fullest(e, i, pods)
			book[string(key)] = list
		}
		if len(list) > 0 {
			seated += e.parts[i].count
			e.lodgers = append(e.lodgers, model.ClassID(i))
			name = binary.AppendVarint(append(append(name, key...), '/'), e.parts[i].count)
		}
		if !known[string(key)] {
			known[string(key)] = true
			lists = append(lists, list)
		}
	}
	if x := l.lodgings[string(name)]; x != nil && slices.Equal(x.crowds, t.crowds) {
		return x
	}
	row := model.NewBits(bins)
	for _, list := range lists {
		for _, bin := range list[:min(seated, int64(len(list)))] {
			row.Set(int(bin))
		}
	}
	x := &lodging{crowds: slices.Clone(t.crowds), near: make([]int, 0, row.Count())}
	row.Each(func(bin int) { x.near = append(x.near, bin) })
	l.lodgings[string(name)] = x
	return x
}

// nearKey names what decides where a part of e finds a place.
func nearKey(key []byte, e *compiler, part int) []byte {
	p := &e.parts[part]
	s := &e.seats[p.seat]
	for _, g := range s.groups {
		key = binary.AppendVarint(key, int64(g))
	}
	key = append(key, ';')
	for _, q := range p.request {
		key = binary.AppendVarint(key, q)
	}
	for _, m := range p.crowds {
		for _, n := range []int64{int64(m.Crowd), m.Weight, e.model.Crowds[m.Crowd].Max} {
			key = binary.AppendVarint(append(key, 'c'), n)
		}
		if m.Holds {
			key = append(key, 'h')
		}
	}
	if s.bins != nil {
		key = binary.AppendVarint(append(key, ';'), int64(s.reach))
	}
	return key
}

// fullest lists the n bins that units of a part fill best, the best first.
func (t *ties) fullest(e *compiler, part int, n int64) []int32 {
	p := &e.parts[part]
	seat := &e.seats[p.seat]
	l := t.land
	l.openRow, l.waryRow = l.binsOf(seat, l.openRow, l.waryRow)
	open, wary := l.openRow, l.waryRow
	takes := func(bin int) (takes, soft bool) {
		takes = open.Has(bin) && (len(p.crowds) == 0 || e.model.Joining(nil, t.present[bin], model.ClassID(part)) > 0)
		return takes, wary.Has(bin)
	}
	if m := l.nearestNodes(); m != nil && len(seat.groups) > 0 {
		if len(p.crowds) == 0 {
			return m.fullestFor(l.compiler, seat.groups, seat.bins, p.request, n, takes)
		}
		if e.model.Joining(nil, nil, model.ClassID(part)) > 0 { // crowds keep them off bins where some of them are
			crowded := t.crowded(p.crowds)
			all := m.fullestFor(l.compiler, seat.groups, seat.bins, p.request, n+crowded, func(bin int) (takes, soft bool) {
				return open.Has(bin), wary.Has(bin)
			})
			out := make([]int32, 0, n)
			for _, bin := range all {
				if joins, _ := takes(int(bin)); joins && int64(len(out)) < n {
					out = append(out, bin)
				}
			}
			return out
		}
	}
	return pack.Fullest(l.model, p.request, n, takes)
}

// crowded is on how many bins at most there is anybody of some crowds.
func (t *ties) crowded(crowds []model.Membership) (n int64) {
	for _, m := range crowds {
		n += int64(len(t.land.census().crowded[t.crowdName(&t.crowds[m.Crowd])]))
	}
	return n
}

// seatNear hands the engine the bins that are near.
func (c *compiler) seatNear(base *compiler, present [][]model.Presence) {
	near := c.near
	words := len(model.NewBits(len(c.seats)))
	bins, rows := make([]model.Bin, len(near)), make([]uint64, 2*words*len(near))
	for k, i := range near {
		row := rows[2*words*k : 2*words*(k+1)]
		bins[k] = model.Bin{Room: base.model.Bins[i].Room, Admits: row[:words:words], Soft: row[words:], Present: present[i]}
	}
	var open, wary model.Bits
	for s := range c.seats {
		open, wary = base.binsOf(&c.seats[s], open, wary)
		for k, i := range near {
			if open.Has(i) {
				bins[k].Admits.Set(s)
			}
			if wary.Has(i) {
				bins[k].Soft.Set(s)
			}
		}
	}
	c.model.Bins = bins
}

// nodeOf is the number of the node that a bin of the model is.
func (c *compiler) nodeOf(bin int) int {
	if c.near == nil {
		return bin
	}
	return c.near[bin]
}
