package compile

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Count notes what runs already: how many pods each rule counts in each domain, and who is on
// each bin of the per-node limits, which it returns. Pods that are going do not count for spreads.
func (b *RuleBook) Count() [][]model.Presence {
	l := b.Locations
	present := make([][]model.Presence, len(l.Nodes))
	l.RunningSets(func(pod *corev1.Pod, node int, among []int32) {
		spot, going := l.OnSale+node, pod.DeletionTimestamp != nil
		for _, target := range among {
			for _, n := range b.ByTarget[int(target)] {
				r := &b.Rules[n]
				at := l.Axes[r.Axis].At[spot]
				if at < 0 || r.Kind == podspec.SpreadTie && (going || l.Axes[r.Filter].At[spot] != 1) {
					continue
				}
				r.Domains[at].Count++
				r.Total++
			}
			bin := l.BinOf[node]
			for _, n := range b.PerNodeLimitsBy[int(target)] {
				if bin >= 0 && !(going && b.PerNodeLimits[n].kind == podspec.SpreadTie) {
					present[bin] = counted(present[bin], int32(n))
				}
			}
		}
	})
	for i := range b.Rules {
		r := &b.Rules[i]
		if r.Kind != podspec.SpreadTie {
			continue
		}
		for n := range l.Places {
			if at := l.Axes[r.Axis].At[l.OnSale+n]; at >= 0 && l.Axes[r.Filter].At[l.OnSale+n] == 1 {
				r.Domains[at].Eligible = true
			}
		}
	}
	return present
}

// counted counts one more pod of a per-node limit among those that are present, by its number.
func counted(present []model.Presence, limit int32) []model.Presence {
	at, found := slices.BinarySearchFunc(present, limit, func(p model.Presence, limit int32) int { return cmp.Compare(p.Crowd, limit) })
	if !found {
		present = slices.Insert(present, at, model.Presence{Crowd: limit})
	}
	present[at].N++
	return present
}
