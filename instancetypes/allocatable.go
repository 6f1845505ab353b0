package instancetypes

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// CapacityOf returns the capacity of a machine bought at o: the type's, with the
// resources that o overrides replaced or added. The caller owns the result.
func (t *InstanceType) CapacityOf(o offerings.Offering) corev1.ResourceList {
	return merged(t.Capacity.DeepCopy(), o.Capacity)
}

// Allocatable returns what pods may request on a machine of this type: capacity
// less kube-reserved, system-reserved and eviction threshold; memory further less
// the huge pages, which are taken out of it. Nothing goes below zero. The caller
// owns the result.
//
// The rule is the kubelet's; see "Reserve Compute Resources for System Daemons"
// in the Kubernetes documentation.
func (t *InstanceType) Allocatable() corev1.ResourceList {
	return t.AllocatableOf(offerings.Offering{})
}

// AllocatableOf returns what pods may request on a machine bought at o. The
// capacity is that of [InstanceType.CapacityOf]; the overhead is the type's sum,
// with the resources that o overrides replaced. The caller owns the result.
func (t *InstanceType) AllocatableOf(o offerings.Offering) corev1.ResourceList {
	allocatable := t.CapacityOf(o)
	huge := hugePages(allocatable)
	overhead := merged(t.Overhead.Total(), o.Overhead)
	for name, q := range allocatable {
		if reserved, ok := overhead[name]; ok {
			q.Sub(reserved)
		}
		if name == corev1.ResourceMemory {
			q.Sub(huge)
		}
		if q.Sign() < 0 {
			q = *resource.NewQuantity(0, q.Format)
		}
		allocatable[name] = q
	}
	return allocatable
}

// hugePages sums the memory that is handed out as huge pages of any size.
func hugePages(capacity corev1.ResourceList) resource.Quantity {
	var sum resource.Quantity
	for name, q := range capacity {
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			sum.Add(q)
		}
	}
	return sum
}

// merged puts the entries of over into base, which it may change, and returns it.
func merged(base, over corev1.ResourceList) corev1.ResourceList {
	if base == nil {
		base = corev1.ResourceList{}
	}
	maps.Copy(base, over.DeepCopy())
	return base
}
