package oracle_test

import (
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// The manifests of the quickstart, machines from the real catalog: every pod passes
// every filter, and a whole scheduler that the plan steers binds all of them.
func TestQuickstart(t *testing.T) {
	shop, err := manifest.Loader{}.Load("../../quickstart")
	require.NoError(t, err)
	p := shop.Problem
	p.Catalog = ec2.MustCatalog("us-east-1")
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)

	found, err := oracle.Check(t.Context(), newScheduler(t), &p, plan, oracle.Config{Samples: 20, Seed: 1})
	require.NoError(t, err)
	require.Empty(t, found)

	follow(t, &p, plan)
}
