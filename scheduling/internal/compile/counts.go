package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// PodCount is the number of pods that are planned.
func (c *Compiler) PodCount() (n int64) {
	for _, class := range c.Planned {
		n += int64(len(class.Pods))
	}
	return n
}

// Placed counts the pods of a solution by planned class.
func (c *Compiler) Placed(solution model.Solution) []int64 {
	out := make([]int64, len(c.Planned))
	for i := range c.Parts {
		for _, p := range c.Parts[i].Portions {
			out[p.Class] += (c.Parts[i].Count - solution.Unplaced[i]) * p.N
		}
	}
	return out
}

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

// ManyClasses is from how many classes on a search for machines takes long enough for it
// to be worth while to end one that leads nowhere.
const ManyClasses = 200

// A search that may take longer does other things first and is content at other times, so that
// it may end with a dearer plan, and a proof with a lower bound. Where the effort is above the
// default, the plan of the default is therefore made first, and what takes longer has to be better.

// Thorough reports whether the solver's effort is above the default.
func (f *Facts) Thorough() bool { return f.Solver.Effort > scheduling.EffortDefault }
