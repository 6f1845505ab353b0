package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// relaxSpread proposes the smallest maxSkew that admits one more pod, and other fields of the spread that do.
func (t *termState) relaxSpread(id int, violations []cluster.Violation) []scheduling.Change {
	term := t.term(id, violations[0])
	x := term.Spec
	var out []scheduling.Change
	least := int64(-1)
	for _, v := range violations {
		if v.Refusal != cluster.TooSkewed {
			continue
		}
		over := int64(1)
		if !x.PerHost() {
			over = t.state.Excess(term, v.Domain)
		}
		if least < 0 || over < least {
			least = over
		}
	}
	if !x.PerHost() {
		if domains := t.enough(term, violations); domains > 0 {
			out = append(out, scheduling.Change{
				Kind: scheduling.ChangeMinDomains, Key: x.Key, From: strconv.FormatInt(x.MinDomains, 10), To: strconv.FormatInt(domains, 10),
				Text: fmt.Sprintf("minDomains ≤ %d over %s would help (it is %d)", domains, x.Key, x.MinDomains),
			})
		}
	}
	skew := x.MaxSkew + least
	out = append(out, scheduling.Change{
		Kind: scheduling.ChangeMaxSkew, Key: x.Key, From: strconv.FormatInt(x.MaxSkew, 10), To: strconv.FormatInt(skew, 10),
		Text: fmt.Sprintf("maxSkew ≥ %d over %s would admit one more pod (it is %d)", skew, x.Key, x.MaxSkew),
	})
	for _, field := range []struct {
		name, not string
		honors    bool
	}{
		{"nodeAffinityPolicy", "that its node selector or affinity excludes", x.HonorAffinity},
		{"nodeTaintsPolicy", "with taints that the pod does not tolerate", x.HonorTaints},
	} {
		if !field.honors {
			out = append(out, scheduling.Change{
				Kind: scheduling.ChangeNodeInclusion, Key: x.Key, From: "Ignore", To: field.name,
				Text: fmt.Sprintf("%s: Honor over %s would help: nodes %s are not counted then", field.name, x.Key, field.not),
			})
		}
	}
	return append(out, scheduling.Change{
		Kind: scheduling.ChangeScheduleAnyway, Key: x.Key,
		Text: fmt.Sprintf("whenUnsatisfiable: ScheduleAnyway over %s would help", x.Key),
	})
}

// enough is the number of domains of a spread if it would let one more pod in by asking for no more domains than these;
// 0 if not.
func (t *termState) enough(term *cluster.Term, violations []cluster.Violation) int64 {
	domains, least := emptiest(t.state.Counts(term))
	if int64(domains) >= term.Spec.MinDomains || len(least) == 0 {
		return 0
	}
	for _, v := range violations {
		if v.Refusal == cluster.TooSkewed && t.state.Excess(term, v.Domain) <= least[0].Pods { // above a minimum of 0
			return int64(domains)
		}
	}
	return 0
}

// applySpread relaxes the pod's own spread over a key, or where it has none at all, the
// default one.
func applySpread(t *Trial, c *scheduling.Change) bool {
	own := len(t.Pod.Spec.TopologySpreadConstraints) > 0
	constraints := slices.Clone(t.Problem.DefaultSpread)
	if own {
		constraints = t.Pod.Spec.TopologySpreadConstraints
	}
	found := false
	for i := range constraints {
		x := &constraints[i]
		if x.TopologyKey != c.Key || x.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		found = true
		n, err := strconv.ParseInt(c.To, 10, 32)
		to := int32(n)
		switch c.Kind {
		case scheduling.ChangeMaxSkew:
			found = err == nil
			x.MaxSkew = max(x.MaxSkew, to)
		case scheduling.ChangeNodeInclusion:
			honor := corev1.NodeInclusionPolicyHonor
			if c.To == "nodeTaintsPolicy" {
				x.NodeTaintsPolicy = &honor
			} else {
				x.NodeAffinityPolicy = &honor
			}
		case scheduling.ChangeMinDomains:
			if x.MinDomains != nil && *x.MinDomains > to {
				x.MinDomains = &to
			}
			if to < 1 {
				x.MinDomains = nil
			}
		default:
			x.WhenUnsatisfiable, x.MinDomains = corev1.ScheduleAnyway, nil
		}
	}
	return found && (own || t.Update(scheduling.Delta{DefaultSpread: constraints}) == nil)
}

// applyDomain adds a node in a domain, with room for everything and the labels that the pod asks for.
func applyDomain(t *Trial, c *scheduling.Change) bool {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "room/" + c.Key, Labels: map[string]string{}}}
	if a := t.Pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[:1] {
			for _, r := range term.MatchExpressions {
				if r.Operator == corev1.NodeSelectorOpIn {
					n.Labels[r.Key] = r.Values[0]
				}
			}
		}
	}
	maps.Copy(n.Labels, t.Pod.Spec.NodeSelector)
	n.Labels[c.Key], n.Labels[corev1.LabelHostname] = c.Values[0], n.Name
	reader := podspec.RequestReader{Table: podspec.NewResourceTable()}
	reader.Read(&t.Pod.Spec)
	n.Status.Allocatable = corev1.ResourceList{}
	for _, name := range reader.Table.Names {
		n.Status.Allocatable[name] = *resource.NewQuantity(1<<50, resource.BinarySI)
	}
	return t.Update(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
}
