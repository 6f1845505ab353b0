package facts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// mars is a cloud whose nodes have a core and a GiB for every shape.
func mars() facts.Cloud {
	return facts.Cloud{
		Name:   "mars",
		Labels: func(*facts.Shape) map[string]string { return map[string]string{"example.com/unknown": ""} },
		Capacity: func(*facts.Shape) corev1.ResourceList {
			return (&facts.Shape{VCPU: 1}).Capacity(1<<30, resource.NewQuantity(1<<30, resource.BinarySI), 110)
		},
		Overhead: func(*facts.Shape) instancetypes.Overhead { return instancetypes.Overhead{} },
		Place: func(region string, z facts.Zone, ct offerings.CapacityType) (string, map[string]string) {
			return region + string(z.Letter), map[string]string{"example.com/paid": string(ct) + z.ID}
		},
		Provenance: func(facts.Shapes, facts.Region) []instancetypes.Provenance { return nil },
	}
}

func sold(t *testing.T, region facts.Region) []offerings.Offering {
	t.Helper()
	region.Name, region.Zones = "mars-1", []facts.Zone{{Letter: 'a', ID: "1"}, {Letter: 'c'}}
	require.NoError(t, region.Validate())
	catalog, err := mars().Build(facts.Shapes{List: []facts.Shape{{Name: "m5.large"}}}, region)
	require.NoError(t, err)
	it, ok := catalog.Get("m5.large")
	require.True(t, ok)
	return it.Offerings
}

func TestOfferingsOfARow(t *testing.T) {
	onDemand := func(id string) map[string]string { return map[string]string{"example.com/paid": "on-demand" + id} }
	spot := func(id string) map[string]string { return map[string]string{"example.com/paid": "spot" + id} }
	assert.Equal(t, []offerings.Offering{
		{Zone: "mars-1a", CapacityType: offerings.OnDemand, Price: 9, Labels: onDemand("1")},
		{Zone: "mars-1a", CapacityType: offerings.Spot, Price: 4, InterruptionRate: 0.075, Labels: spot("1"), Estimated: []string{"price"}},
		{Zone: "mars-1c", CapacityType: offerings.OnDemand, Price: 9, Labels: onDemand("")},
		{Zone: "mars-1c", CapacityType: offerings.Spot, Price: 4, InterruptionRate: 0.075, Labels: spot(""), Estimated: []string{"price"}},
	}, sold(t, facts.Region{SpotEstimated: true, Rows: []facts.Row{{Type: "m5.large", OnDemand: 9, Zones: "ac", Spot: 4, Band: 2}}}))
	assert.Equal(t, []offerings.Offering{
		{Zone: "mars-1c", CapacityType: offerings.OnDemand, Price: 9, Labels: onDemand(""), Estimated: []string{"price", "unavailable"}},
	}, sold(t, facts.Region{Rows: []facts.Row{{Type: "m5.large", OnDemand: 9, List: facts.DedicatedList, Zones: "c", Assumed: true}}}))
	assert.Equal(t, []offerings.Offering{
		{Zone: "mars-1a", CapacityType: offerings.OnDemand, Price: 9, Labels: onDemand("1"), Estimated: []string{"unavailable"}},
		{Zone: "mars-1a", CapacityType: offerings.Spot, Price: 4, Labels: spot("1"), Estimated: []string{"unavailable"}},
		{Zone: "mars-1c", CapacityType: offerings.OnDemand, Price: 9, Labels: onDemand(""), Estimated: []string{"unavailable"}},
		{Zone: "mars-1c", CapacityType: offerings.Spot, Price: 4, Labels: spot(""), Estimated: []string{"unavailable"}},
	}, sold(t, facts.Region{Rows: []facts.Row{{Type: "m5.large", OnDemand: 9, Zones: "ac", Spot: 4, Assumed: true}}}))
}

func TestPricesNeedShapes(t *testing.T) {
	shapes := facts.Shapes{List: []facts.Shape{{Name: "b.large"}, {Name: "d.large"}}}
	sell := func(names ...string) error {
		region := facts.Region{Name: "mars-1"}
		for _, name := range names {
			region.Rows = append(region.Rows, facts.Row{Type: name, OnDemand: 1})
		}
		catalog, err := mars().Build(shapes, region)
		if err == nil {
			assert.Equal(t, len(names), catalog.Len())
			assert.Equal(t, "mars/mars-1", catalog.Name())
		}
		return err
	}
	require.NoError(t, sell())
	require.NoError(t, sell("d.large"))
	require.NoError(t, sell("b.large", "d.large"))
	for _, name := range []string{"a.large", "c.large", "e.large"} {
		require.EqualError(t, sell(name), name+": has a price and no shape")
	}
}
