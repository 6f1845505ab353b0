package launchplan

import (
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// placeSearch looks for nodes and machines that could hold the pods that a plan refuses.
type placeSearch struct {
	report    *rule.Report
	state     *snapshot.State
	plan      *scheduling.Plan
	launches  []*launch
	nodes     *nodeCheck
	workloads *workloadCheck
	// slack is the result of limits.
	slack snapshot.Amounts
}

// betterPlaces reports pods that are not placed although a node or machine could hold them, and pods in a pool
// although one of a higher weight could hold them. It reports only where no other rule can be the reason; for pods
// that depend on other pods see bindSimulation.
func (c *placeSearch) betterPlaces() {
	refused := c.refusedKinds()
	for _, k := range refused {
		for _, s := range c.state.SortedNodes() {
			if c.takes(s, k.Pod) {
				c.report.Add(rule.RefusedForNothing, "pod/"+k.Name, "is unschedulable, and node %s has room for it", s.Name)
				break
			}
		}
	}
	for _, pl := range c.state.SortedPools() {
		wanted := make(map[*snapshot.Kind]string)
		for _, k := range refused {
			if !k.NeedsGivenNode() {
				wanted[k] = rule.RefusedForNothing
			}
		}
		for _, k := range c.lighterKinds(pl) {
			wanted[k] = rule.WeightIgnored
		}
		if len(wanted) == 0 {
			continue
		}
		for _, hit := range c.launchable(pl, wanted) {
			if wanted[hit.kind] == rule.RefusedForNothing {
				c.report.Add(rule.RefusedForNothing, "pod/"+hit.kind.Name, "is unschedulable, and NodePool %s could launch %s for it", pl.Object.Name, hit.what)
			} else {
				c.report.Add(rule.WeightIgnored, "pod/"+hit.kind.Name, "is on a NodePool with a lower weight than %s, which could launch %s for it", pl.Object.Name, hit.what)
			}
		}
	}
}

// takes reports whether the node can take one more pod beside those of the plan.
func (c *placeSearch) takes(n *snapshot.Node, t *snapshot.Pod) bool {
	n = c.nodes.after(n.Name)
	return !n.Leaves() && n.Admits(t, snapshot.AllFilters) && c.workloads.admits(t, n)
}

// refusedPods are the names of the pods that the plan refuses.
func (c *placeSearch) refusedPods() map[string]bool {
	refused := make(map[string]bool)
	for _, u := range c.plan.Unschedulable {
		refused[u.Pod] = true
	}
	return refused
}

// refusedKinds returns the kinds of refused pods that depend on no other pod.
func (c *placeSearch) refusedKinds() []*snapshot.Kind {
	refused := c.refusedPods()
	return snapshot.KindsOf(lo.Filter(c.state.SortedPods(), func(t *snapshot.Pod, _ int) bool { return refused[t.Name] && !t.IsHeld() && c.state.Independent(t) }))
}

// lighterKinds groups the pods that are launched for in pools of a lower weight.
func (c *placeSearch) lighterKinds(pl *snapshot.Pool) []*snapshot.Kind {
	if c.state.Policy.Weights == scheduling.WeightIgnore || pl.Closed != "" {
		return nil
	}
	lighter := make(map[string]bool)
	for _, r := range c.launches {
		if r.pool == nil || r.pool.Weight() >= pl.Weight() {
			continue
		}
		for _, t := range r.pods {
			lighter[t.Name] = c.state.WithoutPreferences(t) && !t.NeedsGivenNode() && !hasPreferences(t.Object) && !pl.PrefersOthers(t.Object.Spec.Tolerations)
		}
	}
	return snapshot.KindsOf(lo.Filter(c.state.SortedPods(), func(t *snapshot.Pod, _ int) bool { return lighter[t.Name] }))
}

func hasPreferences(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
}

// launchableKind is a kind of pods with the title of a machine that could be launched for one of them.
type launchableKind struct {
	kind *snapshot.Kind
	what string
}

// launchable returns, for each kind of pods, a machine that the pool could still launch for one of them: within its
// limits and reservations even if another launch is at another option, and with enough others like it for minValues
// and Flexibility.
func (c *placeSearch) launchable(pl *snapshot.Pool, wanted map[*snapshot.Kind]string) []launchableKind {
	if pl.Closed != "" {
		return nil
	}
	least := map[string]int{}
	if c.state.Policy.StrictMinValues() {
		least = pl.MinValues()
	}
	if (len(least) > 0 || c.state.Policy.Flexibility != scheduling.Flexibility{}) && len(pl.Limits) > 0 {
		// A further machine could take limits that the minValues of the launches count on.
		return nil
	}
	kinds := make([]*snapshot.Kind, 0, len(wanted))
	for k := range wanted {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *snapshot.Kind) int { return strings.Compare(a.Name, b.Name) })
	fits := make(map[*snapshot.Kind][]*snapshot.Node)
	spots := make(map[*snapshot.Kind]variety)
	var hits []launchableKind
	for m := range c.state.Offers(pl, snapshot.MostDaemons, nil) {
		if !m.Affordable(c.slack) {
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k *snapshot.Kind) bool {
			if !m.Admits(k.Pod, snapshot.AllFilters) {
				return false
			}
			if m.Offering.CapacityType == offerings.Spot {
				if spots[k] == nil {
					spots[k] = make(variety)
				}
				spots[k].add(m)
				if len(lacking(c.state.Policy, spots[k])) > 0 {
					return false
				}
			}
			if len(least) > 0 {
				fits[k] = append(fits[k], m)
				if !snapshot.Enough(fits[k], least) {
					return false
				}
			}
			hits = append(hits, launchableKind{kind: k, what: m.Title()})
			return true
		})
		if len(kinds) == 0 {
			break
		}
	}
	return hits
}

// couldLaunch reports whether some pool could launch a machine for the pod.
func (c *placeSearch) couldLaunch(t *snapshot.Pod) bool {
	return !t.NeedsGivenNode() && slices.ContainsFunc(c.state.SortedPools(), func(pl *snapshot.Pool) bool {
		return len(c.launchable(pl, map[*snapshot.Kind]string{{Pod: t}: rule.RefusedForNothing})) > 0
	})
}
