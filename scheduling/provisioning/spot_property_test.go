package provisioning_test

import (
	"testing"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Plans of random problems with SpotPolicies beside all other constraints keep every promise of [TestRandomProblems], the
// shares and the bounds too.
func TestRandomSpotPolicies(t *testing.T) {
	for seed := range soak.Cases(150) {
		solver := randomSolver(int(seed)) //nolint:gosec // small
		solver.Placement = [...]scheduling.PlacementPolicy{"", scheduling.PlacementFree, scheduling.PlacementNominated}[seed%3]
		p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: seed%2 == 0})
		p.SpotPolicies = schedulingtest.SpotPolicies(p, seed)
		if _, err := schedulingtest.Audit(t.Context(), solver, p); err != nil && !leavesOut(err) {
			t.Errorf("seed %d, solver %+v: %v", seed, solver, err)
		}
	}
}
