package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A search that may take longer does other things first and is content at other times, so that
// it may end with a dearer plan, and a proof with a lower bound. Where the effort is above the
// default, the plan of the default is therefore made first, and what takes longer has to be better.

// Thorough reports whether the solver's effort is above the default.
func (f *Facts) Thorough() bool { return f.Solver.Effort > scheduling.EffortDefault }
