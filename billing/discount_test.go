package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The last discount that applies to an offering counts, alone. By hand: 0.10 less 10 %, 0.20 less 25 %, 0.04 less 10 %.
func TestDiscounted(t *testing.T) {
	size := st.Capacity(st.Cores(2), st.GiB(8))
	catalog := st.MustCatalog(
		st.Type("m7i.large", size, st.OnDemand("us-east-1a", st.Cents(10)), st.Spot("us-east-1a", st.Cents(4))),
		st.Type("c7i.large", size, st.OnDemand("us-east-1a", st.Cents(20)), st.OnDemand("eu-west-1a", st.Cents(20))),
	)
	in, err := read(`
discounts:
- {percent: 10}
- {percent: 25, families: [c7i], regions: [us-east-1], capacityTypes: [on-demand]}
- {percent: 50, instanceTypes: [m6*]}
`)
	require.NoError(t, err)
	got, unused, err := billing.Discounted(catalog, "billing.yaml", in.Discounts)
	require.NoError(t, err)
	assert.Equal(t, []int{2}, unused)
	prices := map[offerings.Key]string{}
	for typ := range got.All() {
		for _, o := range typ.Offerings {
			prices[o.Key(typ.Name)] = o.Price.String()
		}
	}
	assert.Equal(t, map[offerings.Key]string{
		{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.OnDemand}: "0.09",
		{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot}:     "0.036",
		{InstanceType: "c7i.large", Zone: "us-east-1a", CapacityType: offerings.OnDemand}: "0.15",
		{InstanceType: "c7i.large", Zone: "eu-west-1a", CapacityType: offerings.OnDemand}: "0.18",
	}, prices)
	same, _, err := billing.Discounted(catalog, "", nil)
	require.NoError(t, err)
	assert.Same(t, catalog, same)
	_, _, err = billing.Discounted(catalog, "", []billing.Discount{{Percent: -1}})
	assert.ErrorContains(t, err, "discounts[0].percent")
}
