package benchmarks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// A savings plan covers every type of the catalog, and the proof of the bound is by patterns: verify accepts it, although it
// must bound the worth of each offering of the savings plan.
func TestCertificateUnderSavingsPlan(t *testing.T) {
	p := mix.Random()(2).Problem
	p.Catalog = p.Catalog.Filter(instancetypes.ByCapacityType(offerings.OnDemand))
	commitments := []billing.Commitment{{ID: "sp", Kind: billing.SavingsPlan, Factor: 720_000_000, Amount: 4_630_500_000}}
	var err error
	p.Catalog, err = billing.NewBalance(nil, commitments).Offer(p.Catalog, p.Catalog)
	require.NoError(t, err)
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
}
