package verify

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// capacityOf returns what a machine has: the type's capacity, where the offering
// does not say otherwise.
func capacityOf(t *instancetypes.InstanceType, o offerings.Offering) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, q := range t.Capacity {
		list[name] = q
	}
	for name, q := range o.Capacity {
		list[name] = q
	}
	return list
}

// allocatableOf returns what a machine has for pods: capacity less what kubelet,
// system and eviction threshold keep, memory also less huge pages, never below 0.
func allocatableOf(t *instancetypes.InstanceType, o offerings.Offering) amounts {
	capacity := capacityOf(t, o)
	left := make(corev1.ResourceList, len(capacity))
	for name, q := range capacity {
		free := q.DeepCopy()
		if kept, ok := o.Overhead[name]; ok {
			free.Sub(kept)
		} else {
			free.Sub(t.Overhead.KubeReserved[name])
			free.Sub(t.Overhead.SystemReserved[name])
			free.Sub(t.Overhead.EvictionThreshold[name])
		}
		if name == corev1.ResourceMemory {
			for other, pages := range capacity {
				if strings.HasPrefix(string(other), corev1.ResourceHugePagesPrefix) {
					free.Sub(pages)
				}
			}
		}
		if free.Sign() < 0 {
			free = resource.Quantity{}
		}
		left[name] = free
	}
	return roundedDown(left)
}

// findOffering returns how the type is sold in that way.
func findOffering(t *instancetypes.InstanceType, zone string, capacityType offerings.CapacityType, reservation string) (offerings.Offering, bool) {
	for _, o := range t.Offerings {
		if o.Zone == zone && o.CapacityType == capacityType && o.ReservationID == reservation {
			return o, true
		}
	}
	return offerings.Offering{}, false
}
