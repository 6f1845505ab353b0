package verify

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// excluded says why the settings keep an offering from being bought; "" if they do not.
func (w *world) excluded(t *instancetypes.InstanceType, o offerings.Offering) string {
	if w.solver.NoSpot && o.CapacityType == offerings.Spot {
		return "is a spot machine, and there are to be none"
	}
	size := w.solver.Size
	if len(size.Smallest)+len(size.Largest) == 0 {
		return ""
	}
	capacity := capacityOf(t, o)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		has := capacity[name]
		if least, ok := size.Smallest[name]; ok && has.Cmp(least) < 0 {
			return fmt.Sprintf("has %s of %s, the smallest machine is to have %s", has.String(), name, least.String())
		}
		if most, ok := size.Largest[name]; ok && has.Cmp(most) > 0 {
			return fmt.Sprintf("has %s of %s, the largest machine is to have %s", has.String(), name, most.String())
		}
	}
	return ""
}
