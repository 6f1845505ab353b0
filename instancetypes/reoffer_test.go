package instancetypes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// twoTypes is a catalog of two types that are sold on demand in one zone.
func twoTypes(t *testing.T) *instancetypes.Catalog {
	t.Helper()
	var types []*instancetypes.InstanceType
	for _, name := range []string{"small", "large"} {
		types = append(types, &instancetypes.InstanceType{
			Name:      name,
			Capacity:  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi")},
			Offerings: []offerings.Offering{{Zone: "a", CapacityType: offerings.OnDemand, Price: 100}},
		})
	}
	c, err := instancetypes.NewCatalog(types...)
	require.NoError(t, err)
	return c
}

func TestWithOfferings(t *testing.T) {
	c := twoTypes(t)
	made, err := c.WithOfferings(
		instancetypes.OfferingChange{InstanceType: "small", Offering: offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: 1}},
		instancetypes.OfferingChange{InstanceType: "small", Offering: offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: 70}},
		instancetypes.OfferingChange{InstanceType: "small", Offering: offerings.Offering{Zone: "a", CapacityType: offerings.Spot, Price: 30, Unavailable: true}},
	)
	require.NoError(t, err)
	small, ok := made.Get("small")
	require.True(t, ok)
	require.Len(t, small.Offerings, 2)
	onDemand, ok := made.Lookup(offerings.Key{InstanceType: "small", Zone: "a", CapacityType: offerings.OnDemand})
	require.True(t, ok)
	assert.Equal(t, offerings.Price(70), onDemand.Price, "the last change counts")
	spot, ok := made.Lookup(offerings.Key{InstanceType: "small", Zone: "a", CapacityType: offerings.Spot})
	require.True(t, ok)
	assert.True(t, spot.Unavailable)

	was, _ := c.Lookup(offerings.Key{InstanceType: "small", Zone: "a", CapacityType: offerings.OnDemand})
	assert.Equal(t, offerings.Price(100), was.Price, "the old catalog stays as it is")
	old, _ := c.Get("large")
	same, _ := made.Get("large")
	assert.Same(t, old, same, "types that do not change are shared")
	assert.Equal(t, c.Names(), made.Names())
}

func TestWithOfferingsRefuses(t *testing.T) {
	_, err := twoTypes(t).WithOfferings(
		instancetypes.OfferingChange{InstanceType: "huge", Offering: offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand}},
		instancetypes.OfferingChange{InstanceType: "small", Offering: offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: -1}},
	)
	var fault *instancetypes.CatalogFault
	require.ErrorAs(t, err, &fault)
	assert.ErrorContains(t, err, "huge")
	assert.ErrorContains(t, err, "price")
	var none *instancetypes.Catalog
	made, err := none.WithOfferings()
	require.NoError(t, err)
	assert.Zero(t, made.Len())
}
