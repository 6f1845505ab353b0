package provisioning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/search"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// placeLeftOver plans the pods that a plan leaves out as if the plan had been carried out, because a search for all
// pods that depend on each other can miss places that exist once the other pods are bound. Preferences of these pods do
// not count, so that none costs a place. placed counts pods by planned class, and grows by the pods that find a place.
// The plan stays as it is where its own pods would then not bind to their nodes.
func placeLeftOver(ctx context.Context, f *instance.Facts, c *instance.Instance, plan *scheduling.Plan, placed []int64) (*scheduling.Plan, []int64) {
	has := map[types.NamespacedName]bool{}
	for pod := range plan.Placements() {
		has[pod] = true
	}
	var left []*corev1.Pod
	for _, class := range c.Planned {
		for _, pod := range class.Pods {
			if !has[podspec.PodKey(pod)] {
				left = append(left, pod)
			}
		}
	}
	if len(left) == 0 || late(ctx) {
		return plan, placed
	}
	after, err := carriedOut(f, plan, true)
	if err != nil {
		return plan, placed // a launch is not on sale, so the plan cannot be carried out
	}
	after.ignorePreferences()
	if after.Apply(scheduling.Delta{Pods: left}) != nil {
		return plan, placed
	}
	keys, narrow := c.TermKeys(nil, true), true
	for first := true; ; first = false {
		more, err := after.Place(ctx, scheduling.EffortFast)
		if err != nil || len(more.Launches)+len(more.Existing) == 0 {
			return plan, placed
		}
		if out := following(c, plan, more, len(has)); out != nil {
			placed, classOf := slices.Clone(placed), c.ClassByPod()
			for pod := range out.Placements() {
				if !has[pod] {
					placed[classOf[pod.String()]]++
				}
			}
			return out, placed
		}
		// New nodes for these pods would keep other pods from binding: by a domain that had no node, by options in
		// several domains, or by labels and taints of their pool.
		var pools []*scheduling.NodePool
		if first {
			pools = inKnownDomains(after.problem.NodePools, after.cluster.Hosts, keys)
		}
		if len(pools) == 0 && narrow && len(more.Launches) > 0 {
			pools, narrow = inDomainsOf(&after.problem, &more.Launches[0], keys), false
		}
		if len(pools) == 0 {
			pools = closed(after.problem.NodePools, more.Launches)
		}
		if len(pools) == 0 || after.Apply(scheduling.Delta{NodePools: pools}) != nil {
			return plan, placed
		}
	}
}

// following returns a plan joined with a later one; nil where not all pods would bind to their nodes. has is the number
// of pods of the first plan.
func following(c *instance.Instance, plan, more *scheduling.Plan, has int) *scheduling.Plan {
	out, n, err := followed(c, plan, more)
	if err != nil || !settledDomains(c, out) {
		return nil
	}
	if s, err := simulation.New(c, out); err != nil || len(s.BindOrder()) < has+n {
		return nil
	}
	return out
}

// inKnownDomains returns the NodePools with more requirements, by which they launch nodes only in the domains of the
// present nodes. The keys are those of topology terms; only well-known labels among them count, because the provider sets
// their values.
func inKnownDomains(pools []*scheduling.NodePool, present []*hosts.Host, keys sets.Set[string]) []*scheduling.NodePool {
	var known []requirements.Selector
	for _, key := range sets.List(keys) {
		if !requirements.WellKnown().Has(key) {
			continue
		}
		values := sets.New[string]()
		for _, h := range present {
			if h.Node == nil {
				continue
			}
			if value, ok := h.Node.Labels[key]; ok {
				values.Insert(value)
			}
		}
		if len(values) > 0 {
			known = append(known, requirements.Selector{Key: key, Operator: requirements.In, Values: sets.List(values)})
		}
	}
	return narrowed(pools, known)
}

// inDomainsOf returns the NodePools with more requirements, by which they launch nodes only in the domains of the first
// option of a launch. The keys are as in [inKnownDomains].
func inDomainsOf(p *scheduling.Problem, l *scheduling.Launch, keys sets.Set[string]) []*scheduling.NodePool {
	node, err := l.Node(l.Name, &l.Options[0], p.CatalogOf(l.NodePool))
	if err != nil {
		return nil // cannot happen: the catalog has the option
	}
	var here []requirements.Selector
	for _, key := range sets.List(keys) {
		if value, ok := node.Labels[key]; ok && requirements.WellKnown().Has(key) {
			here = append(here, requirements.Selector{Key: key, Operator: requirements.In, Values: []string{value}})
		}
	}
	return narrowed(p.NodePools, here)
}

// narrowed returns the NodePools with more requirements; nil if there are none to add.
func narrowed(pools []*scheduling.NodePool, by []requirements.Selector) []*scheduling.NodePool {
	if len(by) == 0 {
		return nil
	}
	return lo.Map(pools, func(pool *scheduling.NodePool, _ int) *scheduling.NodePool {
		narrow := *pool
		narrow.Spec.Template.Spec.Requirements = slices.Concat(pool.Spec.Template.Spec.Requirements, by)
		return &narrow
	})
}

// closed returns the NodePools of launches, with a limit of 0 nodes.
func closed(pools []*scheduling.NodePool, launches []scheduling.Launch) (out []*scheduling.NodePool) {
	for _, pool := range pools {
		if slices.ContainsFunc(launches, func(l scheduling.Launch) bool { return l.NodePool == pool.Name }) {
			none := *pool
			none.Spec.Limits = corev1.ResourceList{scheduling.NodesResource: {}}
			out = append(out, &none)
		}
	}
	return out
}

// settledDomains reports whether all options of each launch agree in the labels of required rules
// between pods that its pods have or are counted by.
func settledDomains(c *instance.Instance, plan *scheduling.Plan) bool {
	launches, classOf := instance.NewLaunches(c), c.ClassByPod()
	labels := func(l scheduling.Launch, o scheduling.LaunchOption) map[string]string {
		l.Options = []scheduling.LaunchOption{o}
		at, _ := launches.OfferOf(&l)
		x := &c.Offers.Offers[at.Offer]
		return x.InstanceType.NodeLabels(*x.Offering)
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		keys := c.TermKeys(lo.Uniq(lo.Map(l.Pods, func(pod string, _ int) int { return classOf[pod] })), true)
		first := labels(*l, l.Options[0])
		for _, o := range l.Options[1:] {
			other := labels(*l, o)
			for key := range keys {
				if first[key] != other[key] {
					return false
				}
			}
		}
	}
	return true
}

// followed returns a plan joined with a later one, and the number of pods that the later one places.
func followed(c *instance.Instance, plan, more *scheduling.Plan) (out *scheduling.Plan, pods int, err error) {
	sum := *plan
	out = &sum
	out.Launches, out.Existing = slices.Clone(plan.Launches), slices.Clone(plan.Existing)
	s := &out.Summary
	s.Pools, s.CapacityTypes, s.Resources = slices.Clone(s.Pools), slices.Clone(s.CapacityTypes), slices.Clone(s.Resources)
	launches, classOf := instance.NewLaunches(c), c.ClassByPod()
	for i := range more.Launches {
		l := more.Launches[i]
		out.Launches = append(out.Launches, l)
		at, ok := launches.OfferOf(&l)
		if !ok {
			return nil, 0, fmt.Errorf("launch %s: is not on sale", l.Name)
		}
		load := make([]int64, c.Dims())
		for _, pod := range l.Pods {
			for r, n := range c.Planned[classOf[pod]].Requests {
				load[r] += n
			}
		}
		search.Account(c, s, at, 1, search.Daemons(c, at), load)
		pods += len(l.Pods)
	}
	slices.SortStableFunc(out.Launches, func(a, b scheduling.Launch) int {
		return cmp.Or(strings.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Price, b.Price), strings.Compare(a.Options[0].InstanceType, b.Options[0].InstanceType))
	})
	numbers := map[string]int{}
	for i := range out.Launches {
		l := &out.Launches[i]
		numbers[l.NodePool]++
		l.Name = l.NodePool + "-" + strconv.Itoa(numbers[l.NodePool])
	}
	for _, a := range more.Existing {
		pods += len(a.Pods)
		if i := slices.IndexFunc(out.Existing, func(x scheduling.Assignment) bool { return x.Node == a.Node }); i >= 0 {
			out.Existing[i].Pods = slices.Sorted(slices.Values(slices.Concat(out.Existing[i].Pods, a.Pods)))
		} else {
			out.Existing = append(out.Existing, a)
		}
	}
	slices.SortFunc(out.Existing, func(a, b scheduling.Assignment) int { return strings.Compare(a.Node, b.Node) })
	return out, pods, nil
}
