package provisioning

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// unsettled compiles the problem as if it were open where volumes are made, which no
// bound may take for granted, and counts by class what a plan places.
func unsettled(f *compile.Facts, plan *scheduling.Plan, cautious bool) (*compile.Compiler, []int64) {
	open := *f
	open.Choice, open.Memory = f.Choice.Clone(), compile.NewMemory()
	clear(open.Choice.Zones)
	clear(open.Choice.Given)
	c := open.Compile(cautious)
	left := left(plan)
	placed := make([]int64, len(c.Planned))
	for i, class := range c.Planned {
		for _, pod := range class.Pods {
			if _, out := left[podspec.PodName(pod)]; !out {
				placed[i]++
			}
		}
	}
	return c, placed
}
