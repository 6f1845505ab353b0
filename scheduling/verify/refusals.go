package verify

import (
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// betterPlaces looks for pods that are refused although something could hold them,
// and for pods that sit in a pool although one of a higher weight could hold them.
// It accuses only where no other rule can be the reason; about pods that depend on
// others, see bindSimulation.
func (j *judge) betterPlaces() {
	j.tiedPlaces()
	refused := j.refusedKinds()
	for _, k := range refused {
		for _, s := range j.sortedNodes() {
			if j.takes(s, k.tenant) {
				j.add(RefusedForNothing, "pod/"+k.name, "is unschedulable, and node %s can hold it", s.name)
				break
			}
		}
	}
	for _, pl := range j.sortedPools() {
		wanted := make(map[*kind]Code)
		for _, k := range refused {
			if !k.picky() {
				wanted[k] = RefusedForNothing
			}
		}
		for _, k := range j.lighterKinds(pl) {
			wanted[k] = WeightIgnored
		}
		if len(wanted) == 0 {
			continue
		}
		for _, hit := range j.launchable(pl, wanted) {
			if wanted[hit.kind] == RefusedForNothing {
				j.add(RefusedForNothing, "pod/"+hit.name, "is unschedulable, and pool %s could launch %s for it", pl.Name, hit.what)
			} else {
				j.add(WeightIgnored, "pod/"+hit.name, "is in a pool of a lower weight than %s, which could launch %s for it", pl.Name, hit.what)
			}
		}
	}
}

// takes reports whether the node can take one more pod beside those of the plan.
func (j *judge) takes(n *node, t *tenant) bool {
	n = j.after(n.name)
	return !n.leaves() && n.holds(t) && n.tooMany(t.mounts) == "" && j.shareLeaves(t, n)
}

// refusedPods are the names of the pods that the plan refuses.
func (j *judge) refusedPods() map[string]bool {
	refused := make(map[string]bool)
	for _, u := range j.plan.Unschedulable {
		refused[u.Pod] = true
	}
	return refused
}

// refusedKinds groups the refused pods that have nothing to do with others.
func (j *judge) refusedKinds() []*kind {
	refused := j.refusedPods()
	return kindsOf(lo.Filter(j.sortedPods(), func(t *tenant, _ int) bool { return refused[t.name] && !t.isHeld() && j.independent(t) }))
}

// lighterKinds groups the pods that are launched for in pools of a lower weight.
func (j *judge) lighterKinds(pl *pool) []*kind {
	if j.policy.Weights == scheduling.WeightIgnore || pl.closed != "" {
		return nil
	}
	lighter := make(map[string]bool)
	for _, r := range j.launches {
		if r.pool == nil || r.pool.weight() >= pl.weight() {
			continue
		}
		for _, t := range r.pods {
			lighter[t.name] = j.carefree(t) && !t.picky() && !hasPreferences(t.pod) && !pl.prefersOthers(t.pod.Spec.Tolerations)
		}
	}
	return kindsOf(lo.Filter(j.sortedPods(), func(t *tenant, _ int) bool { return lighter[t.name] }))
}

func hasPreferences(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
}

// hit is a kind of pod together with a machine that could be bought for it.
type hit struct {
	*kind
	what string
}

// launchable finds, for each kind of pod, a machine that the pool could still buy for
// one of them: within its limits and reservations even if another launch falls back
// to another option, and with enough others like it to satisfy minValues.
func (j *judge) launchable(pl *pool, wanted map[*kind]Code) []hit {
	if pl.closed != "" {
		return nil
	}
	slack := j.headroom(pl)
	if n, limited := slack[scheduling.NodesResource]; limited && n.Sign() <= 0 {
		return nil
	}
	least := map[string]int{}
	if j.strictMinValues() {
		least = pl.minValues()
	}
	if (len(least) > 0 || j.policy.Flexibility != scheduling.Flexibility{}) && len(slack) > 0 {
		// A further machine could take from the limits what the minValues of those
		// already launched count on.
		return nil
	}
	kinds := make([]*kind, 0, len(wanted))
	for k := range wanted {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *kind) int { return strings.Compare(a.name, b.name) })
	fits := make(map[*kind][]*node)
	spots := make(map[*kind]variety)
	var hits []hit
	for m := range j.offers(pl, most) {
		if !j.affordable(m, slack) || len(exceeding(m.daemons, m.allocatable)) > 0 {
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k *kind) bool {
			if !m.holds(k.tenant) {
				return false
			}
			if m.offering.CapacityType == offerings.Spot {
				if spots[k] == nil {
					spots[k] = make(variety)
				}
				spots[k].add(m)
				if len(j.lacking(spots[k])) > 0 {
					return false
				}
			}
			if len(least) > 0 {
				fits[k] = append(fits[k], m)
				if !enough(fits[k], least) {
					return false
				}
			}
			hits = append(hits, hit{kind: k, what: m.title()})
			return true
		})
		if len(kinds) == 0 {
			break
		}
	}
	return hits
}

// affordable reports whether limits and reservation leave room for the machine.
func (j *judge) affordable(m *node, slack amounts) bool {
	for name, n := range slack {
		if name != scheduling.NodesResource && m.capacity.of(name).Cmp(n) > 0 {
			return false
		}
	}
	if m.offering.CapacityType != offerings.Reserved {
		return true
	}
	id := m.offering.ReservationID
	return j.used[id]+min(j.listed[id], 1) < j.reservations[id]
}
