package schedulingtest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// topologyTerm has the fields of all three kinds of terms.
type topologyTerm struct {
	key      string
	selector *metav1.LabelSelector
	chosen   bool // the selector was stated, perhaps as none
	spreads  bool // it is a spread
	same     []string

	// Of spread.
	skew       int32
	minDomains *int32
	soft       bool
	affinity   *corev1.NodeInclusionPolicy
	taints     *corev1.NodeInclusionPolicy

	// Of affinity.
	weight     int32 // 0: required
	namespaces []string
	everywhere *metav1.LabelSelector
	other      []string
}

// onSpread and onAffinity are options for one of the kinds only.
func onSpread(change func(*topologyTerm)) option   { return onKind(true, change) }
func onAffinity(change func(*topologyTerm)) option { return onKind(false, change) }

func onKind(spreads bool, change func(*topologyTerm)) option {
	return func(object any) bool {
		t, ok := object.(*topologyTerm)
		if ok = ok && t.spreads == spreads; ok {
			change(t)
		}
		return ok
	}
}

// labelled is a pod whose other options have been applied: topology terms without a selector select pods with its
// labels.
type labelled struct{ Pod *corev1.Pod }

// suits reports whether an option is about an object, which it may change.
func suits(o Option, object any) bool {
	pod, ok := object.(*corev1.Pod)
	return o.Apply(object) || ok && o.Apply(&labelled{pod})
}

// topology is an option that adds a topology term to a pod.
func topology[O Option](key string, spreads bool, opts []O, add func(*corev1.Pod, *topologyTerm)) PodOption {
	return on(func(p *labelled) {
		t := with(&topologyTerm{key: key, skew: 1, spreads: spreads}, opts)
		if !t.chosen {
			t.selector = &metav1.LabelSelector{MatchLabels: maps.Clone(p.Pod.Labels)}
		}
		add(p.Pod, t)
	})
}

// Spread spreads pods evenly over the values of a node label: by at most one pod
// more in one place than in another, and as a hard constraint. It counts the pods
// with the labels of this pod unless [Of] or [OfAll] say otherwise.
func Spread(key string, opts ...SpreadOption) PodOption {
	return topology(key, true, opts, func(p *corev1.Pod, t *topologyTerm) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, t.constraint())
	})
}

// Near requires, or with [Weight] prefers, a domain of the topology key with another of the selected pods (pod
// affinity). Selected are the pods with the labels of this pod unless [Of] or [OfAll] say otherwise.
func Near(key string, opts ...AffinityOption) PodOption {
	return topology(key, false, opts, func(p *corev1.Pod, t *topologyTerm) {
		a := podAffinity(p)
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		into := a.PodAffinity
		t.addTo(&into.RequiredDuringSchedulingIgnoredDuringExecution, &into.PreferredDuringSchedulingIgnoredDuringExecution)
	})
}

// Apart requires, or with [Weight] prefers, a domain of the topology key without any other of the selected pods (pod
// anti-affinity). Selected are the pods with the labels of this pod unless [Of] or [OfAll] say otherwise.
func Apart(key string, opts ...AffinityOption) PodOption {
	return topology(key, false, opts, func(p *corev1.Pod, t *topologyTerm) {
		a := podAffinity(p)
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		into := a.PodAntiAffinity
		t.addTo(&into.RequiredDuringSchedulingIgnoredDuringExecution, &into.PreferredDuringSchedulingIgnoredDuringExecution)
	})
}

// DefaultSpread is a constraint for [scheduling.Problem.DefaultSpread], which has no
// selector.
func DefaultSpread(key string, opts ...SpreadOption) corev1.TopologySpreadConstraint {
	return with(&topologyTerm{key: key, skew: 1, spreads: true}, opts).constraint()
}

// constraint is the tie as a topology spread constraint.
func (t *topologyTerm) constraint() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		TopologyKey: t.key, MaxSkew: t.skew, MinDomains: t.minDomains, LabelSelector: t.selector,
		WhenUnsatisfiable: corev1.DoNotSchedule, MatchLabelKeys: t.same,
		NodeAffinityPolicy: t.affinity, NodeTaintsPolicy: t.taints,
	}
	if t.soft {
		c.WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	return c
}

// addTo adds the tie as a term to one of the lists.
func (t *topologyTerm) addTo(required *[]corev1.PodAffinityTerm, preferred *[]corev1.WeightedPodAffinityTerm) {
	term := corev1.PodAffinityTerm{
		TopologyKey: t.key, LabelSelector: t.selector, Namespaces: t.namespaces, NamespaceSelector: t.everywhere,
		MatchLabelKeys: t.same, MismatchLabelKeys: t.other,
	}
	if t.weight == 0 {
		*required = append(*required, term)
		return
	}
	*preferred = append(*preferred, corev1.WeightedPodAffinityTerm{Weight: t.weight, PodAffinityTerm: term})
}

func podAffinity(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

// Of is about pods with this label, too.
func Of(key, value string) TermOption {
	return on(func(t *topologyTerm) {
		s := t.choose()
		s.MatchLabels = put(s.MatchLabels, key, value)
	})
}

// OfAll is about pods whose labels meet all of these, too; with none, about every pod
// of the namespace. The operators are In, NotIn, Exists and DoesNotExist.
func OfAll(exprs ...requirements.Selector) TermOption {
	return on(func(t *topologyTerm) {
		s := t.choose()
		s.MatchExpressions = append(s.MatchExpressions, labelExpressions(exprs)...)
	})
}

// ofNone removes the selector: the term selects no pod.
func ofNone() TermOption {
	return on(func(t *topologyTerm) { t.selector, t.chosen = nil, true })
}

// Skew is by how many pods one place may hold more than another.
func Skew(n int32) SpreadOption { return onSpread(func(t *topologyTerm) { t.skew = n }) }

// MinDomains spreads over at least n places.
func MinDomains(n int32) SpreadOption {
	return onSpread(func(t *topologyTerm) { m := n; t.minDomains = &m })
}

// Soft spreads as well as can be (ScheduleAnyway).
func Soft() SpreadOption { return onSpread(func(t *topologyTerm) { t.soft = true }) }

// affinityPolicy says whether spread counts the nodes only that the pod's own node
// selector and affinity allow.
func affinityPolicy(p corev1.NodeInclusionPolicy) SpreadOption {
	return onSpread(func(t *topologyTerm) { own := p; t.affinity = &own })
}

// taintsPolicy says whether spread counts the nodes only whose taints the pod tolerates.
func taintsPolicy(p corev1.NodeInclusionPolicy) SpreadOption {
	return onSpread(func(t *topologyTerm) { own := p; t.taints = &own })
}

// Same is about pods only that have the same value of these labels as this pod
// (matchLabelKeys).
func Same(keys ...string) TermOption {
	return on(func(t *topologyTerm) { t.same = append(t.same, keys...) })
}

// Other selects only pods with another value of these labels than this pod, or none (mismatchLabelKeys). Only affinity
// and anti-affinity have it.
func Other(keys ...string) AffinityOption {
	return onAffinity(func(t *topologyTerm) { t.other = append(t.other, keys...) })
}

// InNamespaces is about pods of these namespaces, too, instead of the pod's own.
// Affinity and anti-affinity alone have it.
func InNamespaces(names ...string) AffinityOption {
	return onAffinity(func(t *topologyTerm) { t.namespaces = append(t.namespaces, names...) })
}

// InNamespacesOf is about pods of the namespaces, too, whose labels meet all of these;
// with none, of every namespace. Affinity and anti-affinity alone have it.
func InNamespacesOf(exprs ...requirements.Selector) AffinityOption {
	return onAffinity(func(t *topologyTerm) { t.everywhere = selecting(nil, exprs) })
}

// choose returns the tie's selector, to be added to.
func (t *topologyTerm) choose() *metav1.LabelSelector {
	if t.selector == nil {
		t.selector = &metav1.LabelSelector{}
	}
	t.chosen = true
	return t.selector
}

// selecting is a selector of labels and expressions.
func selecting(labels map[string]string, exprs []requirements.Selector) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labels, MatchExpressions: labelExpressions(exprs)}
}

// labelExpressions returns conditions as requirements of a label selector. An operator that selectors do not have is
// copied, and makes the selector invalid.
func labelExpressions(exprs []requirements.Selector) []metav1.LabelSelectorRequirement {
	var out []metav1.LabelSelectorRequirement
	for _, e := range exprs {
		out = append(out, metav1.LabelSelectorRequirement{
			Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: slices.Clone(e.Values),
		})
	}
	return out
}
