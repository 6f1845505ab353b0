package offers

import (
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Check notes what is wrong.
func Check(i scheduling.Interruption, f *scheduling.Faults) {
	if i.PerNode < 0 {
		f.Add(i.PerNode.String(), "is negative", "solver.interruption.perNode")
	}
	if i.PerCore < 0 {
		f.Add(i.PerCore.String(), "is negative", "solver.interruption.perCore")
	}
	rate := strconv.FormatFloat(i.UnstatedRate, 'g', -1, 64)
	if !(i.UnstatedRate >= 0 && i.UnstatedRate <= 1) { // so that NaN fails too
		f.Add(rate, "must be a share from 0 to 1", "solver.interruption.unstatedRate")
	} else if i.UnstatedRate > 0 && !i.On() {
		f.Add(rate, "counts only where an interruption costs something", "solver.interruption.unstatedRate")
	}
}
