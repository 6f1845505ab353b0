package oracle_test

import (
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Of the plan of the quickstart, with the real catalog, each pod passes each filter, and a whole scheduler that
// follows the plan binds all of them.
func TestQuickstart(t *testing.T) {
	shop, err := manifest.Loader{}.Load("../../quickstart")
	require.NoError(t, err)
	p := shop.Problem
	p.Catalog = ec2.MustCatalog("us-east-1")
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)

	s, err := oracle.NewSchedulerFor(t.Context(), &p)
	require.NoError(t, err)
	found, err := oracle.Check(t.Context(), s, &p, plan, oracle.Config{Samples: 20, Seed: 1})
	require.NoError(t, err)
	require.Empty(t, found)

	follow(t, &p, plan)
}
