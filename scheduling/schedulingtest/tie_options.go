package schedulingtest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Of is about pods with this label, too.
func Of(key, value string) TieOption {
	return tieFunc(func(t *tie) {
		s := t.choose()
		s.MatchLabels = LabelOption{key, value}.into(s.MatchLabels)
	})
}

// OfAll is about pods whose labels meet all of these, too; with none, about every pod
// of the namespace. The operators are In, NotIn, Exists and DoesNotExist.
func OfAll(exprs ...requirements.Selector) TieOption {
	return tieFunc(func(t *tie) {
		s := t.choose()
		s.MatchExpressions = append(s.MatchExpressions, labelExpressions(exprs)...)
	})
}

// OfNone is about no pod at all: the tie has no selector.
func OfNone() TieOption {
	return tieFunc(func(t *tie) { t.selector, t.chosen = nil, true })
}

// Skew is by how many pods one place may hold more than another.
func Skew(n int32) TieOption { return tieFunc(func(t *tie) { t.skew = n }) }

// MinDomains spreads over at least n places.
func MinDomains(n int32) TieOption { return tieFunc(func(t *tie) { m := n; t.minDomains = &m }) }

// Soft spreads as well as can be (ScheduleAnyway).
func Soft() TieOption { return tieFunc(func(t *tie) { t.soft = true }) }

// AffinityPolicy says whether spread counts the nodes only that the pod's own node
// selector and affinity allow.
func AffinityPolicy(p corev1.NodeInclusionPolicy) TieOption {
	return tieFunc(func(t *tie) { own := p; t.affinity = &own })
}

// TaintsPolicy says whether spread counts the nodes only whose taints the pod tolerates.
func TaintsPolicy(p corev1.NodeInclusionPolicy) TieOption {
	return tieFunc(func(t *tie) { own := p; t.taints = &own })
}

// Same is about pods only that have the same value of these labels as this pod
// (matchLabelKeys).
func Same(keys ...string) TieOption {
	return tieFunc(func(t *tie) { t.same = append(t.same, keys...) })
}

// Other is about pods only that have another value of these labels than this pod, or
// none (mismatchLabelKeys). Affinity and anti-affinity alone have it.
func Other(keys ...string) TieOption {
	return tieFunc(func(t *tie) { t.other = append(t.other, keys...) })
}

// InNamespaces is about pods of these namespaces, too, instead of the pod's own.
// Affinity and anti-affinity alone have it.
func InNamespaces(names ...string) TieOption {
	return tieFunc(func(t *tie) { t.namespaces = append(t.namespaces, names...) })
}

// InNamespacesOf is about pods of the namespaces, too, whose labels meet all of these;
// with none, of every namespace. Affinity and anti-affinity alone have it.
func InNamespacesOf(exprs ...requirements.Selector) TieOption {
	return tieFunc(func(t *tie) { t.everywhere = selecting(nil, exprs) })
}

// choose returns the tie's selector, to be added to.
func (t *tie) choose() *metav1.LabelSelector {
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

// labelExpressions is the form in which selectors of labels write conditions. What
// they have no operator for they get as it is, as a selector that is not valid.
func labelExpressions(exprs []requirements.Selector) []metav1.LabelSelectorRequirement {
	var out []metav1.LabelSelectorRequirement
	for _, e := range exprs {
		out = append(out, metav1.LabelSelectorRequirement{
			Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: slices.Clone(e.Values),
		})
	}
	return out
}
