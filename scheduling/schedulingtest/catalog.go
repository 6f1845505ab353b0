package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Type is an amd64 Linux instance type that runs up to 110 pods, reserves no resources for the
// system and has no offering unless an option adds them.
func Type(name string, opts ...TypeOption) *instancetypes.InstanceType {
	t := &instancetypes.InstanceType{
		Name: name,
		Labels: map[string]string{
			corev1.LabelInstanceTypeStable: name,
			corev1.LabelArchStable:         "amd64",
			corev1.LabelOSStable:           "linux",
		},
		Capacity: Resources(Count(corev1.ResourcePods, 110)),
	}
	return with(t, opts)
}

// Capacity is the node's capacity, before resources are reserved for the system.
func Capacity(amounts ...ResourceAmount) TypeOption {
	return on(func(t *instancetypes.InstanceType) { t.Capacity = merge(t.Capacity, amounts) })
}

// KubeReserved is the part of the capacity that the kubelet reserves.
func KubeReserved(amounts ...ResourceAmount) TypeOption {
	return on(func(t *instancetypes.InstanceType) {
		t.Overhead.KubeReserved = merge(t.Overhead.KubeReserved, amounts)
	})
}

// Offer adds an offering to the type.
func Offer(o offerings.Offering) TypeOption {
	return on(func(t *instancetypes.InstanceType) { t.Offerings = append(t.Offerings, o) })
}

// OnDemand sells the type on demand in a zone.
func OnDemand(zone string, price offerings.Price) TypeOption {
	return Offer(offerings.Offering{Zone: zone, CapacityType: offerings.OnDemand, Price: price})
}

// Spot sells the type as spot capacity in a zone.
func Spot(zone string, price offerings.Price) TypeOption {
	return Offer(offerings.Offering{Zone: zone, CapacityType: offerings.Spot, Price: price})
}

// Reserved adds a reservation of count nodes of the type in a zone.
func Reserved(zone string, price offerings.Price, id string, count int) TypeOption {
	return Offer(offerings.Offering{
		Zone: zone, CapacityType: offerings.Reserved, Price: price, ReservationID: id, ReservationCount: int64(count),
	})
}

// Cents is a price of n US cents per hour.
func Cents(n int64) offerings.Price { return offerings.Price(n * 10_000_000) }

// MustCatalog returns a catalog of the types. It panics if the types are not valid.
func MustCatalog(types ...*instancetypes.InstanceType) *instancetypes.Catalog {
	c, err := instancetypes.NewCatalog(types...)
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: %v", err))
	}
	return c
}

// ResourceAmount is a quantity of one resource.
type ResourceAmount struct {
	Name     corev1.ResourceName
	Quantity resource.Quantity
}

// MilliCPU is n thousandths of a core.
func MilliCPU(n int64) ResourceAmount {
	return ResourceAmount{corev1.ResourceCPU, *resource.NewMilliQuantity(n, resource.DecimalSI)}
}

// Cores is n cores.
func Cores(n int64) ResourceAmount {
	return ResourceAmount{corev1.ResourceCPU, *resource.NewQuantity(n, resource.DecimalSI)}
}

// MiB is n mebibytes of memory.
func MiB(n int64) ResourceAmount {
	return ResourceAmount{corev1.ResourceMemory, *resource.NewQuantity(n<<20, resource.BinarySI)}
}

// GiB is n gibibytes of memory.
func GiB(n int64) ResourceAmount { return MiB(n << 10) }

// DiskGiB is n gibibytes of ephemeral storage.
func DiskGiB(n int64) ResourceAmount {
	return ResourceAmount{corev1.ResourceEphemeralStorage, *resource.NewQuantity(n<<30, resource.BinarySI)}
}

// Count is n units of any resource: pods, nodes, GPUs and other devices.
func Count(name corev1.ResourceName, n int64) ResourceAmount {
	return ResourceAmount{name, *resource.NewQuantity(n, resource.DecimalSI)}
}

// Resources is the list of the amounts. Of two amounts of one resource the later
// one counts.
func Resources(amounts ...ResourceAmount) corev1.ResourceList {
	list := make(corev1.ResourceList, len(amounts))
	for _, a := range amounts {
		list[a.Name] = a.Quantity.DeepCopy()
	}
	return list
}
