package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Plans of random problems with SpotPolicies, with room of virtual pods and with both, beside all other constraints, keep every
// promise of [TestRandomProblems]: the shares, the prices without policies and without room, and the bounds too.
func TestRandomSpotPoliciesAndRoom(t *testing.T) {
	kept := 0
	for seed := range soak.Cases(150) {
		solver := randomSolver(int(seed)) //nolint:gosec // small
		solver.Placement = [...]scheduling.PlacementPolicy{"", scheduling.PlacementFree, scheduling.PlacementNominated}[seed%3]
		p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: seed%2 == 0})
		if seed%4 > 0 {
			p.SpotPolicies = schedulingtest.SpotPolicies(p, seed)
		}
		if seed%4 < 2 {
			for _, b := range schedulingtest.RandomBuffers(seed, &p) {
				p.Pods = append(p.Pods, b.Pods()...)
			}
		}
		plan, err := schedulingtest.Audit(t.Context(), solver, p)
		if err != nil && !leavesOut(err) {
			t.Errorf("seed %d, solver %+v: %v", seed, solver, err)
		}
		if plan != nil && plan.Summary.RoomKept != nil {
			kept += plan.Summary.RoomKept.Existing + plan.Summary.RoomKept.Launched
		}
	}
	t.Logf("%d virtual pods have room", kept)
	require.Positive(t, kept)
}
