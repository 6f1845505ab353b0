package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// usagesOf are n on-demand nodes of a type in the first zone of a catalog.
func usagesOf(t *testing.T, catalog *instancetypes.Catalog, name string, n int) (list []billing.Usage) {
	t.Helper()
	kind, ok := catalog.Get(name)
	require.True(t, ok)
	for i := range kind.Offerings {
		if o := &kind.Offerings[i]; o.CapacityType == offerings.OnDemand {
			for range n {
				list = append(list, billing.UsageOf("node", kind, o))
			}
			return list
		}
	}
	return nil
}

// drawing is the offering of a type that draws on a commitment, in the first zone that has one.
func drawing(t *testing.T, catalog *instancetypes.Catalog, name, id string) (o offerings.Offering, ok bool) {
	t.Helper()
	kind, ok := catalog.Get(name)
	require.True(t, ok)
	for _, o := range kind.Offerings {
		if o.ReservationID == id {
			return o, true
		}
	}
	return o, false
}

// The amount that running nodes leave is for launches, at no price. A surcharge breaks ties.
func TestOfferDrawsOnTheRest(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	commitments := []billing.Commitment{
		{ID: "web", Kind: billing.ReservedInstances, Amount: 3 * one, InstanceType: "m5.large", Region: "us-east-1", SizeFlexible: true},
		{ID: "plan", Kind: billing.SavingsPlan, Amount: one, Factor: amount("0.72")},
	}
	usages := usagesOf(t, catalog, "m5.large", 1)
	offered, err := billing.NewBalance(usages, commitments).Offer(catalog, catalog)
	require.NoError(t, err)

	large, ok := drawing(t, offered, "m5.large", "web")
	require.True(t, ok)
	assert.Equal(t, []int64{1_000_000_000, 2_000_000_000, 0, int64(price("0.000000096"))}, []int64{large.ReservationUse, large.ReservationCount, int64(large.Price), int64(large.RankingSurcharge)})
	assert.True(t, large.Commitment && large.Launchable())
	assert.NotContains(t, large.NodeLabels(), offerings.ReservationIDLabel)
	xlarge, ok := drawing(t, offered, "m5.xlarge", "web")
	require.True(t, ok, "the running node may give its amount back")
	assert.Equal(t, int64(2_000_000_000), xlarge.ReservationUse)
	_, ok = drawing(t, offered, "m6i.large", "web")
	assert.False(t, ok, "another family")
	other, ok := drawing(t, offered, "m6i.large", "plan")
	require.True(t, ok)
	assert.Equal(t, int64(price("0.06912")), other.ReservationUse, "the rate of the plan")
	_, ok = drawing(t, offered, "m5.metal", "plan")
	assert.False(t, ok, "the plan does not suffice for it")
}

// A node draws on a commitment while no other usage would take its place there.
func TestDrawn(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	commitments := []billing.Commitment{{ID: "web", Kind: billing.ReservedInstances, Amount: 2 * one, InstanceType: "m5.large"}}
	for n, want := range map[int][]string{1: {"web"}, 2: {"web", "web"}, 3: {"", "", ""}} {
		assert.Equal(t, want, billing.NewBalance(usagesOf(t, catalog, "m5.large", n), commitments).Drawn, n)
	}
}

// vCPUs and memory of the same families are drawn on together, measured in their list price.
func TestOfferOfCommittedUse(t *testing.T) {
	catalog := gcp.MustCatalog("europe-west1")
	commitments, missing := billing.FillUnitPrices([]billing.Commitment{
		{ID: "n2-vcpus", Kind: billing.VCPUs, Amount: 20 * one, Families: []string{"n2"}, Region: "europe-west1"},
		{ID: "n2-memory", Kind: billing.MemoryGiB, Amount: 80 * one, Families: []string{"n2"}, Region: "europe-west1"},
	}, catalog)
	require.Empty(t, missing)
	offered, err := billing.NewBalance(nil, commitments).Offer(catalog, catalog)
	require.NoError(t, err)
	o, ok := drawing(t, offered, "n2-standard-4", "n2-vcpus")
	require.True(t, ok)
	list := usagesOf(t, catalog, "n2-standard-4", 1)[0].Price
	assert.InDelta(t, int64(list), o.ReservationUse, 10)
	assert.InDelta(t, 5*int64(list), o.ReservationCount, 100, "20 vCPUs and 80 GiB are five nodes")
	assert.Less(t, o.Price, list/1000)
}
