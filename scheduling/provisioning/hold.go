package provisioning

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
)

// hold removes options from the launches of a plan until limits and reservations hold whichever option each launch is
// bought at. It warns of NodePools whose launches need more options than that for their minValues.
func hold(f *instance.Facts, plan *scheduling.Plan) (torn []scheduling.Warning) {
	s := stock.New(f.Problem)
	names, _ := s.Affords(plan.Launches, slices.Values(f.Problem.Nodes), f.Solver.Flexibility)
	count := map[string]int{}
	for i := range plan.Launches {
		if l := &plan.Launches[i]; slices.Contains(names, l.Name) {
			count[l.NodePool]++
		}
	}
	for _, pool := range slices.Sorted(maps.Keys(count)) {
		torn = append(torn, scheduling.Warning{Object: "NodePool/" + pool, Message: fmt.Sprintf(
			"%d launches need more options than limits and reservations have room for if none of them gets its first option, because of minValues or flexibility: "+
				"launch one after the other, and plan again after each launch that does not get its first option", count[pool])})
	}
	return torn
}
