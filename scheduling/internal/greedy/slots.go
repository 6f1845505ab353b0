package greedy

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods under per-node limits need a number of machines that does not depend on their capacity. It is like one
// more resource: every machine has one slot.

// machineSlots returns the least number of machines that the per-node limits of the remaining pods of some classes
// need.
func (k *limitPacing) machineSlots(classes []model.ClassID, remaining []int64) (most int64) {
	if !k.limits {
		return 0
	}
	clear(k.need)
	for _, c := range classes {
		if k.perNode[c] > 0 {
			most = max(most, (remaining[c]+k.perNode[c]-1)/k.perNode[c])
		}
		for _, m := range k.holds[c] {
			k.need[m.Limit] += float64(m.Weight) * float64(remaining[c])
			room := k.sizes.p.PerNodeLimits[m.Limit].Max
			most = max(most, (int64(k.need[m.Limit])+room-1)/room)
		}
	}
	return most
}
