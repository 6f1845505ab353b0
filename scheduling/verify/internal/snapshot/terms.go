package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TopologyTerms are the terms by which a pod's place depends on other pods: topology spread, pod affinity and
// anti-affinity. Preferences are not among them, because they keep no pod off.
type TopologyTerms struct {
	Spread []SpreadConstraint
	// Affinity are the required terms of pod affinity, AntiAffinity those of anti-affinity.
	Affinity, AntiAffinity []AffinityTerm
	// Text is equal for pods with equal terms.
	Text string
}

// SpreadConstraint is a topology spread constraint that must hold.
type SpreadConstraint struct {
	Pods       *PodSelector
	Key        string
	MaxSkew    int
	MinDomains int
	Nodes      NodeFilter
	Text       string // equal for constraints that say the same
}

// NodeFilter is the nodes that a spread constraint counts: nodes with every key that the pod spreads over, which the
// pod's node selector and affinity admit, and whose taints it tolerates, as its policies say.
type NodeFilter struct {
	Keys          []string
	HonorAffinity bool // only nodes that selector admits
	selector      Selector
	HonorTaints   bool // only nodes whose taints are tolerated
	tolerations   []corev1.Toleration
	Text          string
}

// AffinityTerm is a term of required pod affinity or anti-affinity.
type AffinityTerm struct {
	Pods *PodSelector
	Key  string
	Text string
}

// None reports whether the pod has no terms.
func (t *TopologyTerms) None() bool {
	return len(t.Spread) == 0 && len(t.Affinity) == 0 && len(t.AntiAffinity) == 0
}

func readTerms(pod *corev1.Pod, list []corev1.PodAffinityTerm) []AffinityTerm {
	terms := make([]AffinityTerm, len(list))
	for i := range list {
		pods := termSet(pod, &list[i])
		terms[i] = AffinityTerm{Pods: pods, Key: list[i].TopologyKey, Text: fmt.Sprintf("%q (%s)", list[i].TopologyKey, pods.Text)}
	}
	return terms
}

func readSpread(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, keys []string) SpreadConstraint {
	f := NodeFilter{Keys: keys}
	if ValueOr(c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor {
		f.HonorAffinity, f.selector = true, selectorOf(&pod.Spec)
	}
	if ValueOr(c.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor {
		f.HonorTaints, f.tolerations = true, pod.Spec.Tolerations
	}
	f.Text = fmt.Sprintf("%q %v %q %v%s", keys, f.HonorAffinity, f.selector, f.HonorTaints, tolerationText(f.tolerations))
	r := SpreadConstraint{Pods: spreadSet(pod, c), Key: c.TopologyKey, MaxSkew: int(c.MaxSkew), MinDomains: int(ValueOr(c.MinDomains, 1)), Nodes: f}
	r.Text = fmt.Sprintf("spread %q %d %d (%s) (%s)", r.Key, r.MaxSkew, r.MinDomains, r.Pods.Text, f.Text)
	return r
}

// Passes reports whether the spread constraint counts the node.
func (f *NodeFilter) Passes(n *Node) bool {
	return !slices.ContainsFunc(f.Keys, func(key string) bool { _, ok := n.Value(key); return !ok }) &&
		(!f.HonorAffinity || n.Matches(f.selector)) && (!f.HonorTaints || len(untolerated(n.Taints, f.tolerations)) == 0)
}

func tolerationText(tolerations []corev1.Toleration) string {
	var b strings.Builder
	for _, o := range tolerations {
		fmt.Fprintf(&b, " %q %q %q %q", o.Key, o.Operator, o.Value, o.Effect)
	}
	return b.String()
}

// PodSelector is the pods that a topology term selects, by namespace and labels.
type PodSelector struct {
	// skipsDeleting says that pods which are being deleted do not count any more.
	skipsDeleting bool
	// namespaces are namespaces by name; namespaces that namespaceLabels selects count, too.
	namespaces      []string
	namespaceLabels labels.Selector
	Labels          labels.Selector
	// Text is equal for equal sets.
	Text string
}

// Identity is the properties of a pod that topology terms select by: its namespace, its labels, and whether it is
// being deleted.
type Identity struct {
	namespace       string
	namespaceLabels labels.Set
	Labels          labels.Set
	deleting        bool // it is being deleted
}

// Has reports whether a pod belongs to the set.
func (s *PodSelector) Has(f *Identity) bool {
	return (!s.skipsDeleting || !f.deleting) && s.Labels.Matches(f.Labels) && (slices.Contains(s.namespaces, f.namespace) || s.namespaceLabels.Matches(f.namespaceLabels))
}

// finish writes the text of the set.
func (s *PodSelector) finish() *PodSelector {
	var b strings.Builder
	switch {
	case nothing(s.namespaceLabels):
		fmt.Fprintf(&b, "namespaces %q", s.namespaces)
	case s.namespaceLabels.Empty():
		b.WriteString("any namespace")
	default:
		fmt.Fprintf(&b, "namespaces %q and those with %s", s.namespaces, s.namespaceLabels)
	}
	switch {
	case nothing(s.Labels):
		b.WriteString(", none of them")
	case !s.Labels.Empty():
		fmt.Fprintf(&b, ", labels %s", s.Labels)
	}
	if s.skipsDeleting {
		b.WriteString(", not being deleted")
	}
	s.Text = b.String()
	return s
}

// nothing reports whether a selector selects no pod at all.
func nothing(s labels.Selector) bool {
	_, selectable := s.Requirements()
	return !selectable
}

// Selecting returns the selector with more requirements. It selects nothing where there is no selector, or one that
// no API server accepts.
func Selecting(s *metav1.LabelSelector, more ...metav1.LabelSelectorRequirement) labels.Selector {
	if s == nil {
		return labels.Nothing()
	}
	all := metav1.LabelSelector{MatchExpressions: slices.Concat(same(s.MatchLabels), s.MatchExpressions, more)}
	out, err := metav1.LabelSelectorAsSelector(&all)
	if err != nil {
		return labels.Nothing()
	}
	return out
}

// same asks for each of the labels with its value, in order of the keys.
func same(values map[string]string) []metav1.LabelSelectorRequirement {
	return compared(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: values}}, slices.Sorted(maps.Keys(values)), metav1.LabelSelectorOpIn)
}

// compared returns the requirements of matchLabelKeys and mismatchLabelKeys: the pod's own value of each label, or
// another one. A key that the pod lacks requires nothing.
func compared(pod *corev1.Pod, keys []string, op metav1.LabelSelectorOperator) []metav1.LabelSelectorRequirement {
	var out []metav1.LabelSelectorRequirement
	for _, key := range keys {
		if value, ok := pod.Labels[key]; ok {
			out = append(out, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
	return out
}

// spreadSet returns the pods that a spread constraint of the pod counts. An empty selector selects no pods there, as
// in kube-scheduler (podtopologyspread: countPodsMatchSelector); it counts the pod itself, which alone exceeds no
// skew.
func spreadSet(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) *PodSelector {
	selector := Selecting(c.LabelSelector, compared(pod, c.MatchLabelKeys, metav1.LabelSelectorOpIn)...)
	if selector.Empty() {
		selector = labels.Nothing()
	}
	s := &PodSelector{skipsDeleting: true, namespaces: []string{NamespaceOf(pod)}, namespaceLabels: labels.Nothing(), Labels: selector}
	return s.finish()
}

// termSet returns the pods that a term of pod affinity or anti-affinity of the pod selects.
func termSet(pod *corev1.Pod, t *corev1.PodAffinityTerm) *PodSelector {
	s := &PodSelector{
		namespaces: slices.Sorted(slices.Values(t.Namespaces)), namespaceLabels: Selecting(t.NamespaceSelector),
		Labels: Selecting(t.LabelSelector, slices.Concat(
			compared(pod, t.MatchLabelKeys, metav1.LabelSelectorOpIn), compared(pod, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn))...),
	}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		s.namespaces = []string{NamespaceOf(pod)}
	}
	return s.finish()
}

// LabelText identifies a set of labels.
func LabelText(set map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(&b, "%q=%q ", key, set[key])
	}
	return b.String()
}

// NamespaceOf returns the namespace of an object, "default" where it names none.
func NamespaceOf(o metav1.Object) string { return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault) }

// ObjectName is namespace/name.
func ObjectName(o metav1.Object) string { return NamespaceOf(o) + "/" + o.GetName() }
