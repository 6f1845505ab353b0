package greedy

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods of which a machine takes few need so many machines, however large these are. That is
// one more thing that machines have and pods ask for: every machine has one slot.

// Slots is how many machines the pods that remain of some classes need at least because
// they cannot share them as they like.
func (f *Filler) Slots(classes []model.ClassID, remaining []int64) (most int64) {
	k := &f.pace
	if !f.NodeLimits {
		return 0
	}
	clear(k.need)
	for _, c := range classes {
		if k.perNode[c] > 0 {
			most = max(most, (remaining[c]+k.perNode[c]-1)/k.perNode[c])
		}
		for _, m := range k.holds[c] {
			k.need[m.Limit] += float64(m.Weight) * float64(remaining[c])
			room := f.p.PerNodeLimits[m.Limit].Max
			most = max(most, (int64(k.need[m.Limit])+room-1)/room)
		}
	}
	return most
}
