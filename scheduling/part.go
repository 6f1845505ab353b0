package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// part is what the engine takes for a class: pods, or units of several pods, that go
// to one seat.
type part struct {
	portions []portion
	seat     int
	request  []int64
	count    int64
	priority int32
	crowds   []model.Membership
	// unit and site say, where ties pin the part down, what the planner calls it.
	unit, site int
	pinned     bool
}

// addParts hands the parts to the engine, and which of them may not share a machine
// because they bind the same ports.
func (c *compiler) addParts() {
	c.model.Groups = len(c.seats)
	ports := make([][]hostPort, len(c.seats))
	for i := range c.seats {
		for _, g := range c.seats[i].groups {
			ports[i] = append(ports[i], c.classes.groups[g].ports...)
		}
	}
	var ported []model.ClassID
	c.model.Classes = slices.Grow(c.model.Classes, len(c.parts))
	for i := range c.parts {
		p := &c.parts[i]
		m := model.Class{Group: int32(p.seat), Request: p.request, Count: p.count, Priority: p.priority, Crowds: p.crowds}
		if len(ports[p.seat]) > 0 {
			m.PerNode = 1
			ported = append(ported, model.ClassID(i))
		}
		c.model.Classes = append(c.model.Classes, m)
	}
	for _, a := range ported {
		for _, b := range ported {
			if a != b && portsClash(ports[c.parts[a].seat], ports[c.parts[b].seat]) {
				c.model.Classes[a].Conflicts = append(c.model.Classes[a].Conflicts, b)
			}
		}
		slices.Sort(c.model.Classes[a].Conflicts)
	}
}

// seatRows returns, for each seat, the offers of a template that will do, and sets in
// softs the seats that would rather avoid the pool's taints.
func (c *compiler) seatRows(ti int, softs model.Bits) []model.Bits {
	x := &c.offered[ti]
	rows := make([]model.Bits, len(c.seats))
	for i := range c.seats {
		s := &c.seats[i]
		if s.noNew {
			continue
		}
		row, others := x.rows[s.groups[0]], s.groups[1:]
		if s.sold != nil {
			row, others = s.sold[ti], nil
		}
		shared := true
		narrow := func(with model.Bits) {
			if row == nil || with == nil {
				row = nil
				return
			}
			if shared {
				row, shared = row.Clone(), false
			}
			row.And(with)
		}
		for _, g := range others {
			narrow(x.rows[g])
		}
		if s.rows != nil {
			narrow(s.rows[ti])
		}
		if rows[i] = row; row == nil {
			continue
		}
		if slices.ContainsFunc(s.groups, x.soft.Has) {
			softs.Set(i)
		}
	}
	return rows
}
