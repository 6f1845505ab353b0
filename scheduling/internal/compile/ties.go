package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Tied reports whether anything ties pods to each other or to what they would like.
func (c *Compiler) Tied() bool {
	return len(c.TopologyTerms.List) > 1 || len(c.ExistingAntiAffinity) > 0
}

// BinsOf are the bins that will do for a seat, and those of them that its pods would rather
// avoid. Both are written into rows that are not used any more, if there are some.
func (c *Compiler) BinsOf(s *Seat, open, wary model.Bits) (_, _ model.Bits) {
	if open == nil {
		open, wary = model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes))
	}
	clear(open)
	clear(wary)
	switch {
	case s.Bins != nil:
		open.Or(s.Bins)
	case len(s.Groups) > 0:
		open.Or(c.open[s.Groups[0]])
	}
	for _, g := range s.Groups {
		open.And(c.open[g])
		wary.Or(c.wary[g])
	}
	wary.And(open)
	return open, wary
}
