package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSet is the pods that a rule between pods means: those of some namespaces that
// have some labels.
type podSet struct {
	// nobody is set for a rule without a selector, and for spread with an empty one.
	nobody bool
	// living says that pods which are being deleted do not count any more.
	living bool
	// spaces are namespaces by name. If byLabel is set, those with spaceLabels count too.
	spaces      []string
	byLabel     bool
	spaceLabels []expression
	labels      []expression
	// text is equal for equal sets.
	text string
}

// face is what rules see of a pod.
type face struct {
	space       string
	spaceLabels map[string]string
	labels      map[string]string
	going       bool // it is being deleted
}

// has reports whether a pod belongs to the set.
func (s *podSet) has(f *face) bool {
	if s.nobody || s.living && f.going {
		return false
	}
	there := slices.Contains(s.spaces, f.space) || s.byLabel && allOn(s.spaceLabels, f.spaceLabels)
	return there && allOn(s.labels, f.labels)
}

// allOn reports whether a set of labels meets every expression.
func allOn(exprs []expression, labels map[string]string) bool {
	return !slices.ContainsFunc(exprs, func(e expression) bool {
		value, present := labels[e.key]
		return !e.holds(value, present)
	})
}

// finish writes the text of the set.
func (s *podSet) finish() *podSet {
	var b strings.Builder
	switch {
	case s.byLabel && len(s.spaceLabels) == 0:
		b.WriteString("any namespace")
	case s.byLabel:
		fmt.Fprintf(&b, "namespaces %q and those with %s", s.spaces, s.spaceLabels)
	default:
		fmt.Fprintf(&b, "namespaces %q", s.spaces)
	}
	if s.nobody {
		b.WriteString(", nobody")
	}
	fmt.Fprintf(&b, ", labels %s", s.labels)
	if s.living {
		b.WriteString(", not being deleted")
	}
	s.text = b.String()
	return s
}

// selected reads a label selector: matching on labels, then expressions. Nothing is
// selected without one (second result).
func selected(s *metav1.LabelSelector) ([]expression, bool) {
	if s == nil {
		return nil, false
	}
	exprs := sameLabels(s.MatchLabels)
	for _, e := range s.MatchExpressions {
		exprs = append(exprs, expression{key: e.Key, op: corev1.NodeSelectorOperator(e.Operator), values: e.Values})
	}
	return exprs, true
}

// sameLabels asks for each of the labels with its value, in order of the keys.
func sameLabels(labels map[string]string) []expression {
	var exprs []expression
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		exprs = append(exprs, expression{key: key, op: corev1.NodeSelectorOpIn, values: []string{labels[key]}})
	}
	return exprs
}

// compared adds what matchLabelKeys and mismatchLabelKeys stand for: the same value of
// a label as the pod itself has, or another one. Keys that it lacks say nothing.
func compared(exprs []expression, pod *corev1.Pod, keys []string, op corev1.NodeSelectorOperator) []expression {
	for _, key := range keys {
		if value, ok := pod.Labels[key]; ok {
			exprs = append(exprs, expression{key: key, op: op, values: []string{value}})
		}
	}
	return exprs
}

// spreadSet is what a spread constraint of the pod counts. With a selector that asks for
// nothing kube-scheduler counts no pods there (podtopologyspread: countPodsMatchSelector);
// the pod itself it does count, which alone exceeds no skew.
func spreadSet(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) *podSet {
	exprs, ok := selected(c.LabelSelector)
	exprs = compared(exprs, pod, c.MatchLabelKeys, corev1.NodeSelectorOpIn)
	s := &podSet{nobody: !ok || len(exprs) == 0, living: true, spaces: []string{namespaceOf(pod)}, labels: exprs}
	return s.finish()
}

// termSet is what a term of pod affinity or anti-affinity of the pod means.
func termSet(pod *corev1.Pod, t *corev1.PodAffinityTerm) *podSet {
	exprs, ok := selected(t.LabelSelector)
	s := &podSet{nobody: !ok, spaces: slices.Sorted(slices.Values(t.Namespaces))}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		s.spaces = []string{namespaceOf(pod)}
	}
	s.spaceLabels, s.byLabel = selected(t.NamespaceSelector)
	exprs = compared(exprs, pod, t.MatchLabelKeys, corev1.NodeSelectorOpIn)
	s.labels = compared(exprs, pod, t.MismatchLabelKeys, corev1.NodeSelectorOpNotIn)
	return s.finish()
}

// faceOf is what rules see of the pod; pods that look the same have the same.
func (w *world) faceOf(pod *corev1.Pod) *face {
	space := namespaceOf(pod)
	key := fmt.Sprintf("%q %v %s", space, pod.DeletionTimestamp != nil, labelText(pod.Labels))
	f := w.faces[key]
	if f == nil {
		f = &face{space: space, spaceLabels: w.spaceLabels(space), labels: pod.Labels, going: pod.DeletionTimestamp != nil}
		w.faces[key] = f
	}
	return f
}

// spaceLabels are the labels of a namespace. Every namespace carries its own name;
// of one that the problem does not list nothing else is known.
func (w *world) spaceLabels(name string) map[string]string {
	labels := map[string]string{corev1.LabelMetadataName: name}
	for _, ns := range w.problem.Namespaces {
		if ns != nil && ns.Name == name {
			maps.Copy(labels, ns.Labels)
		}
	}
	return labels
}
