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
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// overlaps are NodePools that take the same pods at the same weight. Which of them is the cheapest to come first is
// tried.
func (s *Subject) overlaps(ctx context.Context) (out []Finding, err error) {
	pools := slices.DeleteFunc(slices.Clone(s.problem().NodePools), func(p *scheduling.NodePool) bool { return p.Spec.Replicas != nil })
	taken := make([][]string, len(pools))
	for i, pool := range pools {
		taken[i] = s.takes(pool)
	}
	known := map[string]*order{} // by the names of the pools
	for i, a := range pools {
		rivals, both := []*scheduling.NodePool{a}, []string(nil)
		for j, b := range pools {
			if i == j || a.Weight() != b.Weight() {
				continue
			}
			if common := lo.Intersect(taken[i], taken[j]); len(common) > 0 {
				rivals, both = append(rivals, b), append(both, common...)
			}
		}
		if len(rivals) == 1 {
			continue
		}
		others := namesOf(rivals[1:])
		slices.SortFunc(rivals, func(a, b *scheduling.NodePool) int { return strings.Compare(a.Name, b.Name) })
		key := strings.Join(namesOf(rivals), "/")
		if known[key] == nil {
			if known[key], err = s.order(ctx, rivals); err != nil {
				return nil, err
			}
		}
		f := Finding{
			Severity: Warning, Code: NodePoolOverlap, Object: "NodePool/" + a.Name, Field: "spec.weight", Value: fmt.Sprint(a.Weight()),
			Message: fmt.Sprintf("overlaps with %s, e.g. for the pods of %s, at the same weight: Karpenter chooses between them by name, not by price", strings.Join(others, ", "), slices.Min(both)),
			Advice:  known[key].advice(),
		}
		if known[key].first == a.Name {
			f.SavingPerHour = known[key].saving
		}
		out = append(out, f)
	}
	return out, nil
}

// namesOf are the names of NodePools, sorted.
func namesOf(pools []*scheduling.NodePool) []string {
	names := lo.Map(pools, func(p *scheduling.NodePool, _ int) string { return p.Name })
	slices.Sort(names)
	return names
}

// order is which of some NodePools that take the same pods is the cheapest to come first.
type order struct {
	first  string // "" where that could not be tried
	weight int32
	// byName is the NodePool that comes first without a weight, saving the price difference, per hour, of the
	// other order.
	byName string
	saving offerings.Price
	// price is the price per hour of new machines for the pods of the cluster in the other order.
	price offerings.Price
}

// highestWeight is that which the API server admits.
const highestWeight = 100

// order tries each of the NodePools, which are sorted by name, with a weight above theirs that no
// other NodePool has.
func (s *Subject) order(ctx context.Context, pools []*scheduling.NodePool) (*order, error) {
	o := &order{byName: pools[0].Name, weight: pools[0].Weight() + 1}
	for slices.ContainsFunc(s.problem().NodePools, func(p *scheduling.NodePool) bool { return p.Weight() == o.weight }) {
		o.weight++
	}
	b, err := s.planned(ctx)
	if b == nil || o.weight > highestWeight {
		return o, err
	}
	var now offerings.Price
	placed := 0
	for i, pool := range pools[:min(len(pools), mostTried)] {
		trial := b.problem
		trial.NodePools = slices.Clone(b.problem.NodePools)
		for j, p := range trial.NodePools {
			if p.Name == pool.Name {
				trial.NodePools[j] = p.DeepCopy()
				trial.NodePools[j].Spec.Weight = &o.weight
			}
		}
		price, n, err := b.costs(ctx, trial)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			now, placed = price, n
		}
		if i == 0 || n >= placed && price < o.price {
			o.first, o.price, o.saving = pool.Name, price, now-price
		}
	}
	return o, nil
}

// advice says which NodePool is to have a higher weight.
func (o *order) advice() string {
	const apart = "separate the pods by taints or labels"
	switch {
	case o.first == "":
		return "give them different weights, or " + apart
	case o.saving == 0:
		return fmt.Sprintf("set the weight of %s to %d, or %s: each NodePool was tried first, and no other makes the pods of the cluster cheaper on new nodes", o.first, o.weight, apart)
	}
	return fmt.Sprintf("set the weight of %s to %d, or %s: each NodePool was tried first, and on new nodes the pods of the cluster cost %s a month with it, and %s with %s, which comes first by name",
		o.first, o.weight, apart, figures.Monthly(o.price), figures.Monthly(offerings.Sum(o.price, o.saving)), o.byName)
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

// holds reports whether some machine on sale has room for a pod.
func holds(sold *instancetypes.Catalog, requests corev1.ResourceList) bool {
	for t := range sold.All() {
		room := t.Allocatable()
		if lo.EveryBy(lo.Keys(requests), func(name corev1.ResourceName) bool { q, has := requests[name], room[name]; return q.Cmp(has) <= 0 }) {
			return true
		}
	}
	return false
}
