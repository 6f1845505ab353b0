package lint

import (
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

const requirementsField = "spec.template.spec.requirements"

// unmet are NodePools that buy nothing.
func (s *Subject) unmet() (out []Finding) {
	for _, w := range provisioning.IdleNodePools(s.problem()) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "change the requirement that is named, or name a catalog that has such machines",
		})
	}
	for _, w := range provisioning.UnmetMinValues(s.problem()) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "lower minValues to that number, or widen the other requirements",
		})
	}
	return out
}

// overlaps are NodePools that take the same pods at the same weight.
func (s *Subject) overlaps() (out []Finding) {
	pools := slices.DeleteFunc(slices.Clone(s.problem().NodePools), func(p *scheduling.NodePool) bool { return p.Spec.Replicas != nil })
	taken := make([][]string, len(pools))
	for i, pool := range pools {
		taken[i] = s.takes(pool)
	}
	for i, a := range pools {
		var others, both []string
		for j, b := range pools {
			if i == j || a.Weight() != b.Weight() {
				continue
			}
			if common := lo.Intersect(taken[i], taken[j]); len(common) > 0 {
				others, both = append(others, b.Name), append(both, common...)
			}
		}
		if len(others) > 0 {
			slices.Sort(others)
			out = append(out, Finding{
				Severity: Warning, Code: NodePoolOverlap, Object: "NodePool/" + a.Name, Field: "spec.weight", Value: fmt.Sprint(a.Weight()),
				Message: fmt.Sprintf("takes pods that %s would take as well, such as those of %s, at the same weight: Karpenter chooses one of them by name, and not by price", strings.Join(others, ", "), slices.Min(both)),
				Advice:  "give one of them a higher weight, or keep pods apart by taints or labels",
			})
		}
	}
	return out
}

// takes are the workloads with a pod that could run on a machine of a pool, by what it
// tolerates, selects and requests.
func (s *Subject) takes(pool *scheduling.NodePool) (out []string) {
	template := &pool.Spec.Template
	set, err := requirements.FromSelectors(template.Spec.Requirements)
	if err != nil {
		return nil // validation tells that
	}
	set = set.Intersect(requirements.FromLabels(template.Metadata.Labels)).With(requirements.MustNew(scheduling.NodePoolLabel, requirements.In, pool.Name))
	sold := s.sells(pool)
	pods := lo.UniqBy(slices.DeleteFunc(s.pods(), costs.Daemon), func(p *corev1.Pod) string { return s.Workload(scheduling.PodName(p)) })
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

// enoughSpot is how many spot types a NodePool should leave: so many cheaper ones Karpenter wants
// before it replaces spot by spot.
const enoughSpot = 15

// narrow are NodePools that allow spot and leave few types of it. The requirement is named
// without which there are the most.
func (s *Subject) narrow() (out []Finding) {
	for _, pool := range s.problem().NodePools {
		types := s.spotTypes(pool)
		if types == 0 || types >= enoughSpot {
			continue
		}
		f := Finding{
			Severity: Warning, Code: SpotNarrow, Object: "NodePool/" + pool.Name, Field: requirementsField,
			Message: fmt.Sprintf("leaves %s on spot: where they run out there is little to turn to, and Karpenter replaces spot by spot only from %d on", figures.Count(types, "instance type"), enoughSpot),
			Advice:  "allow more families, sizes, generations or architectures",
		}
		all, most := pool.Spec.Template.Spec.Requirements, types
		for i := range all {
			without := *pool
			without.Spec.Template.Spec.Requirements = slices.Concat(all[:i], all[i+1:])
			if more := s.spotTypes(&without); more > most {
				if r, err := all[i].Requirement(); err == nil {
					most, f.Field, f.Value = more, fmt.Sprintf("%s[%d]", requirementsField, i), r.Short()
					f.Advice = fmt.Sprintf("widen this requirement: without it there are %d", more)
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// spotTypes is how many instance types a pool can buy on spot.
func (s *Subject) spotTypes(pool *scheduling.NodePool) int {
	return s.sells(pool).Filter(instancetypes.ByCapacityType(offerings.Spot)).Len()
}

// sells is what of its catalog a pool may launch.
func (s *Subject) sells(pool *scheduling.NodePool) *instancetypes.Catalog {
	return s.sales.Of(s.problem(), pool)
}
