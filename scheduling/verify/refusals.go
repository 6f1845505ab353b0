package verify

import (
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
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
		for _, s := range j.sortedStations() {
			if s.holds(k.tenant) && j.shareLeaves(k.tenant, s) {
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

// entangled reports whether the pod says anything about other pods or has volumes.
func (t *tenant) entangled() bool {
	spec := &t.pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 {
		return true
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// picky reports whether the pod asks for a node by name, or for labels by which
// nobody may choose a machine. A solver may refuse to buy for it.
func (t *tenant) picky() bool {
	return slices.ContainsFunc(t.wants, func(t term) bool {
		return len(t.fields) > 0 || slices.ContainsFunc(t.exprs, func(e expression) bool { return requirements.Restricted(e.key) })
	})
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
	slack := j.launchHeadroom(pl)
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
	fits := make(map[*kind][]*machine)
	spots := make(map[*kind]variety)
	var hits []hit
	for m := range j.offers(pl, most) {
		if !j.affordable(m, slack) || len(exceeding(m.daemons, m.allocatable)) > 0 {
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k *kind) bool {
			if !m.holdsAlone(k.tenant) {
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
func (j *judge) affordable(m *machine, slack amounts) bool {
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

// rules are the sets of pods that rules and wishes of others are about.
type rules struct {
	hard, soft []*podSet
	// byHard and bySoft remember whether a pod belongs to one of them.
	byHard, bySoft map[*face]bool
}

// readRules collects what pending pods ask for, and what running ones keep away or
// would like.
func (w *world) readRules(running []*corev1.Pod) {
	r := rules{byHard: make(map[*face]bool), bySoft: make(map[*face]bool)}
	known := make(map[string]bool)
	note := func(list *[]*podSet, kind string, s *podSet) {
		if !known[kind+s.text] {
			known[kind+s.text] = true
			*list = append(*list, s)
		}
	}
	for _, t := range w.sortedPods() {
		for i := range t.ties.spread {
			note(&r.hard, "hard", t.ties.spread[i].pods)
		}
		for _, n := range slices.Concat(t.ties.near, t.ties.apart) {
			note(&r.hard, "hard", n.pods)
		}
		for _, s := range w.wishesOf(t.pod) {
			note(&r.soft, "soft", s)
		}
	}
	for _, n := range w.residents {
		for _, a := range n.ties.apart {
			note(&r.hard, "hard", a.pods)
		}
	}
	for _, pod := range running {
		for _, s := range w.wishesOf(pod) {
			note(&r.soft, "soft", s)
		}
	}
	w.rules = r
}

// wishesOf are the pods that the wishes of a pod are about.
func (w *world) wishesOf(pod *corev1.Pod) []*podSet {
	var sets []*podSet
	for _, c := range w.spreadOf(pod) {
		if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			sets = append(sets, spreadSet(pod, &c))
		}
	}
	wish := func(terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			sets = append(sets, termSet(pod, &terms[i].PodAffinityTerm))
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		wish(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		wish(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return sets
}

// independent reports whether neither a rule between pods nor a volume has a say in
// where the pod goes.
func (w *world) independent(t *tenant) bool {
	return t.ties.none() && len(t.mounts) == 0 && !isCounted(t.face, w.rules.hard, w.rules.byHard)
}

// carefree reports whether besides no wish has.
func (w *world) carefree(t *tenant) bool {
	return w.independent(t) && !t.entangled() && len(w.wishesOf(t.pod)) == 0 && !isCounted(t.face, w.rules.soft, w.rules.bySoft)
}

func isCounted(f *face, sets []*podSet, known map[*face]bool) bool {
	meant, ok := known[f]
	if !ok {
		meant = slices.ContainsFunc(sets, func(s *podSet) bool { return s.has(f) })
		known[f] = meant
	}
	return meant
}
