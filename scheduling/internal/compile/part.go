package compile

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Part is what the engine takes for a class: pods, or units of several pods, that go
// to one seat.
type Part struct {
	Portions      []Portion
	Seat          int
	Request       []int64
	Count         int64
	Priority      int32
	PerNodeLimits []model.Membership
	// unit and site say, where ties pin the part down, what the planner calls it.
	Unit, Site int
	Pinned     bool
}

// AddParts hands the parts to the engine, and which of them may not share a machine
// because they bind the same ports.
func (c *Compiler) AddParts() {
	c.Model.Groups = len(c.Seats)
	ports := make([][]podspec.HostPort, len(c.Seats))
	for i := range c.Seats {
		for _, g := range c.Seats[i].Groups {
			ports[i] = append(ports[i], c.Classes.Groups[g].Ports...)
		}
	}
	var ported []model.ClassID
	c.Model.Classes = slices.Grow(c.Model.Classes, len(c.Parts))
	for i := range c.Parts {
		p := &c.Parts[i]
		m := model.Class{Group: int32(p.Seat), Request: p.Request, Count: p.Count, Priority: p.Priority, PerNodeLimits: p.PerNodeLimits}
		if len(ports[p.Seat]) > 0 {
			m.PerNode = 1
			ported = append(ported, model.ClassID(i))
		}
		c.Model.Classes = append(c.Model.Classes, m)
	}
	for _, a := range ported {
		for _, b := range ported {
			if a != b && podspec.PortsClash(ports[c.Parts[a].Seat], ports[c.Parts[b].Seat]) {
				c.Model.Classes[a].Conflicts = append(c.Model.Classes[a].Conflicts, b)
			}
		}
		slices.Sort(c.Model.Classes[a].Conflicts)
	}
}

// seatRows returns, for each seat, the offers of a template that will do, and sets in
// softs the seats that would rather avoid the pool's taints.
func (c *Compiler) seatRows(ti int, softs model.Bits) []model.Bits {
	x := &c.Offered[ti]
	rows := make([]model.Bits, len(c.Seats))
	for i := range c.Seats {
		s := &c.Seats[i]
		if s.NoNew {
			continue
		}
		row, others := x.Rows[s.Groups[0]], s.Groups[1:]
		if s.Sold != nil {
			row, others = s.Sold[ti], nil
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
			narrow(x.Rows[g])
		}
		if s.Rows != nil {
			narrow(s.Rows[ti])
		}
		if rows[i] = row; row == nil {
			continue
		}
		if slices.ContainsFunc(s.Groups, x.Soft.Has) {
			softs.Set(i)
		}
	}
	return rows
}
