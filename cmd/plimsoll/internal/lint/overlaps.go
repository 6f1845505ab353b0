package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// highestWeight is the highest spec.weight that the API server admits.
const highestWeight = 100

// overlap is NodePools of one weight that take the same pods, directly or by way of another one of them, in Karpenter's order
// (OrderByWeight): of equal weights, the last by name comes first.
type overlap struct {
	pools []*scheduling.NodePool
	// workload is one with pods that several of them take.
	workload string
}

// overlapping returns the overlaps among NodePools, by the name of the first.
func (s *Subject) overlapping(pools []*scheduling.NodePool) (out []overlap) {
	pools = slices.DeleteFunc(s.karpenterPools(pools), func(p *scheduling.NodePool) bool { return p.Spec.Replicas != nil })
	slices.SortFunc(pools, func(a, b *scheduling.NodePool) int { return strings.Compare(b.Name, a.Name) })
	taken := map[string][]string{}
	for _, pool := range pools {
		taken[pool.Name] = s.takes(pool)
	}
	for len(pools) > 0 {
		o := overlap{pools: pools[:1:1]}
		pools = pools[1:]
		for i := 0; i < len(o.pools); i++ {
			pools = slices.DeleteFunc(pools, func(other *scheduling.NodePool) bool {
				both := lo.Intersect(taken[o.pools[i].Name], taken[other.Name])
				if other.Weight() != o.pools[0].Weight() || len(both) == 0 {
					return false
				}
				o.pools = append(o.pools, other)
				if first := slices.Min(both); o.workload == "" || first < o.workload {
					o.workload = first
				}
				return true
			})
		}
		if len(o.pools) > 1 {
			slices.SortFunc(o.pools, func(a, b *scheduling.NodePool) int { return strings.Compare(b.Name, a.Name) })
			out = append(out, o)
		}
	}
	slices.Reverse(out)
	return out
}

// overlaps returns a finding for each overlap of NodePools. Other orders than Karpenter's are tried, all NodePools of an overlap in
// one go. Weights are advised only where they save something; where no order is cheaper, the finding is no warning.
func (s *Subject) overlaps(ctx context.Context, t *trials) (out []Finding, err error) {
	for _, o := range s.overlapping(s.problem().NodePools) {
		const apart = "separate the pods by taints or labels"
		first := o.pools[0]
		f := Finding{
			Severity: Warning, Code: NodePoolOverlap, Object: "NodePool/" + first.Name, Field: "spec.weight", Value: fmt.Sprint(first.Weight()),
			Message: fmt.Sprintf("overlaps with %s at the same weight, e.g. for the pods of %s: Karpenter then launches from the last by name that fits, whatever its price; plans and 'rebuilt from scratch' assume the cheapest", listed(o.pools[1:]), o.workload),
			Advice:  apart + ", or give the NodePools different weights",
		}
		if weights := freeWeights(t.problem.NodePools, first.Weight(), len(o.pools)); weights != nil {
			order, saved, err := t.rank(ctx, o.pools, weights)
			if err != nil {
				return nil, err
			}
			f.SavingPerHour, f.SavingProven = saved.perHour, saved.proven
			if saved.perHour == 0 {
				f.Severity = Info
				f.Message = fmt.Sprintf("may launch the same pods as %s at the same weight, e.g. those of %s: Karpenter launches from the last by name that fits, and no other order that was tried is cheaper now", listed(o.pools[1:]), o.workload)
				f.Advice = "no change needed now; different weights would make this order explicit: " + listed(o.pools)
			} else {
				set := make([]string, len(order))
				for i, pool := range order {
					set[i] = fmt.Sprintf("%d for %s", weights[i], pool.Name)
				}
				f.Advice = fmt.Sprintf("set it to %s: rebuilt from scratch, the cluster costs %s a month less than in Karpenter's order (tried); or %s", strings.Join(set, ", "), figures.Monthly(saved.perHour), apart)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// listed writes the names of NodePools in their order.
func listed(pools []*scheduling.NodePool) string {
	return strings.Join(lo.Map(pools, func(p *scheduling.NodePool, _ int) string { return p.Name }), ", ")
}

// freeWeights returns n weights, the highest first, for NodePools of one weight, which keep their order to all other
// NodePools; nil where fewer are free.
func freeWeights(pools []*scheduling.NodePool, weight int32, n int) []int32 {
	lowest, highest := int32(1), int32(highestWeight)
	for _, pool := range pools {
		switch other := pool.Weight(); {
		case other < weight:
			lowest = max(lowest, other+1)
		case other > weight:
			highest = min(highest, other-1)
		}
	}
	top := min(highest, max(weight, lowest)+int32(n)-1)
	if top-int32(n)+1 < lowest {
		return nil
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = top - int32(i)
	}
	return out
}

// weighted returns the problem with weights for NodePools, the first of each for the first of the other.
func (t *trials) weighted(order []*scheduling.NodePool, weights []int32) scheduling.Problem {
	out := t.problem
	out.NodePools = slices.Clone(out.NodePools)
	for i, pool := range out.NodePools {
		if at := slices.IndexFunc(order, func(p *scheduling.NodePool) bool { return p.Name == pool.Name }); at >= 0 {
			out.NodePools[i] = pool.DeepCopy()
			out.NodePools[i].Spec.Weight = &weights[at]
		}
	}
	return out
}

// rank returns the cheapest order found for NodePools, and its saving per hour over the order in which they are given; 0 is the order
// given. The search moves one NodePool after the other to the front, then to the place behind it. Weights that save something
// are kept.
func (t *trials) rank(ctx context.Context, given []*scheduling.NodePool, weights []int32) ([]*scheduling.NodePool, difference, error) {
	ordered := &trials{policy: t.policy, problem: t.weighted(given, weights)}
	var err error
	if ordered.plan, err = ordered.sketch(ctx, ordered.problem); err != nil {
		return nil, difference{}, err
	}
	order, best, left := given, ordered.plan, mostTried
	for place := range given {
		from := order
		for i := place + 1; i < len(from) && left > 0; i++ {
			left--
			moved := slices.Insert(slices.Delete(slices.Clone(from), i, i+1), place, from[i])
			plan, err := t.sketch(ctx, t.weighted(moved, weights))
			if err != nil {
				return nil, difference{}, err
			}
			if saving(best, plan) > 0 {
				order, best = moved, plan
			}
		}
	}
	if best == ordered.plan {
		return given, difference{}, nil
	}
	saved, err := ordered.confirm(ctx, t.weighted(order, weights), best)
	if saved.perHour > 0 {
		*t = *ordered
	}
	return order, saved, err
}

// takes returns the workloads with a pod that could run on a machine of a pool, by its
// tolerations, node affinity and requests.
func (s *Subject) takes(pool *scheduling.NodePool) (out []string) {
	template := &pool.Spec.Template
	set, err := requirements.FromSelectors(template.Spec.Requirements)
	if err != nil {
		return nil // validation tells that
	}
	set = set.Intersect(requirements.FromLabels(template.Metadata.Labels)).With(requirements.MustNew(scheduling.NodePoolLabel, requirements.In, pool.Name))
	sold := s.sells(pool)
	pods := lo.UniqBy(slices.DeleteFunc(podsOf(s.problem()), costs.Daemon), func(p *corev1.Pod) string { return s.Workload(scheduling.PodName(p)) })
	for i, requests := range provisioning.PodRequests(pods) {
		if pod := pods[i]; tolerates(pod, template.Spec.Taints) && selects(&pod.Spec, set) && holds(sold, requests) {
			out = append(out, s.Workload(scheduling.PodName(pod)))
		}
	}
	return out
}

// tolerates reports whether a pod may run beside taints.
func tolerates(pod *corev1.Pod, taints []corev1.Taint) bool {
	return lo.EveryBy(taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(pod.Spec.Tolerations, func(o corev1.Toleration) bool {
			exists := o.Operator == corev1.TolerationOpExists
			return (o.Effect == "" || o.Effect == t.Effect) && (o.Key == t.Key || o.Key == "" && exists) && (exists || o.Value == t.Value)
		})
	})
}

// selects reports whether a pod may run on a machine that is described by a set.
func selects(spec *corev1.PodSpec, set requirements.Set) bool {
	if set.Compatible(requirements.FromLabels(spec.NodeSelector), requirements.WellKnown()) != nil {
		return false
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		wanted, err := requirements.FromNodeSelector(t.MatchExpressions)
		return err == nil && len(t.MatchFields) == 0 && set.Compatible(wanted, requirements.WellKnown()) == nil
	})
}

// holds reports whether a node of any offering has room for a pod.
func holds(sold *instancetypes.Catalog, requests corev1.ResourceList) bool {
	for t := range sold.All() {
		room := t.Allocatable()
		if lo.EveryBy(lo.Keys(requests), func(name corev1.ResourceName) bool { q, has := requests[name], room[name]; return q.Cmp(has) <= 0 }) {
			return true
		}
	}
	return false
}
