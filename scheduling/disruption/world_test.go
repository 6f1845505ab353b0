package disruption

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// testCatalog sells m.small, m.large and m.xlarge with 1, 2 and 4 CPUs.
func testCatalog(t testing.TB) *instancetypes.Catalog {
	t.Helper()
	offer := func(zone string, by offerings.CapacityType, price string) offerings.Offering {
		return offerings.Offering{Zone: zone, CapacityType: by, Price: offerings.MustPrice(price)}
	}
	reserved := func(id, price string) offerings.Offering {
		return offerings.Offering{Zone: "a", CapacityType: offerings.Reserved, Price: offerings.MustPrice(price), ReservationID: id, ReservationCount: 1}
	}
	sold := func(name, cpu string, list ...offerings.Offering) *instancetypes.InstanceType {
		return &instancetypes.InstanceType{Name: name, Offerings: list, Capacity: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}}
	}
	gone := offer("b", offerings.Spot, "0.04")
	gone.Unavailable = true
	catalog, err := instancetypes.NewCatalog(
		sold("m.small", "1", offer("a", offerings.OnDemand, "0.05"), offer("b", offerings.OnDemand, "0.055"), offer("a", offerings.Spot, "0.02")),
		sold("m.large", "2", offer("a", offerings.OnDemand, "0.1"), offer("b", offerings.OnDemand, "0.11"), offer("a", offerings.Spot, "0.03"), gone,
			reserved("cr-1", "0.001"), reserved("cr-2", "0.002")),
		sold("m.xlarge", "4", offer("a", offerings.OnDemand, "0.2"), offer("a", offerings.Spot, "0.08")),
	)
	require.NoError(t, err)
	return catalog
}
