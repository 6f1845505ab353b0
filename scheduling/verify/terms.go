package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ties are the rules by which a pod's place depends on other pods. Wishes are not
// among them: they keep no pod from its place.
type ties struct {
	spread []spreadRule
	// near are the required terms of pod affinity, apart those of anti-affinity.
	near, apart []podTerm
	// text is equal for pods with equal rules.
	text string
}

// spreadRule is a topology spread constraint that must hold.
type spreadRule struct {
	pods       *podSet
	key        string
	maxSkew    int
	minDomains int
	nodes      nodeFilter
	text       string // equal for constraints that say the same
}

// nodeFilter says which nodes a spread constraint looks at: those that have every key
// that the pod spreads over, that the pod's own node selector and affinity allow, and
// whose taints it tolerates, unless its policies say otherwise.
type nodeFilter struct {
	keys        []string
	choosy      bool // only nodes that wants allows
	wants       selector
	shy         bool // only nodes whose taints are tolerated
	tolerations []corev1.Toleration
	text        string
}

// podTerm is a term of required pod affinity or anti-affinity.
type podTerm struct {
	pods *podSet
	key  string
}

func (t *ties) none() bool { return len(t.spread) == 0 && len(t.near) == 0 && len(t.apart) == 0 }

// tiesOf reads the rules of a pod.
func (w *world) tiesOf(pod *corev1.Pod) *ties {
	t := &ties{}
	constraints := slices.DeleteFunc(slices.Clone(w.spreadOf(pod)), func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.ScheduleAnyway
	})
	keys := make([]string, 0, len(constraints))
	for i := range constraints {
		keys = append(keys, constraints[i].TopologyKey)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i := range constraints {
		t.spread = append(t.spread, readSpread(pod, &constraints[i], keys))
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		t.near = readTerms(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	t.apart = apartOf(pod)
	t.write()
	return t
}

// runningTies are the rules of a pod that runs already: those that keep others away.
func runningTies(pod *corev1.Pod) *ties {
	t := &ties{apart: apartOf(pod)}
	t.write()
	return t
}

// apartOf reads the required anti-affinity of a pod, which keeps others away, too.
func apartOf(pod *corev1.Pod) []podTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return readTerms(pod, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return nil
}

func readTerms(pod *corev1.Pod, list []corev1.PodAffinityTerm) []podTerm {
	terms := make([]podTerm, 0, len(list))
	for i := range list {
		terms = append(terms, podTerm{pods: termSet(pod, &list[i]), key: list[i].TopologyKey})
	}
	return terms
}

func readSpread(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, keys []string) spreadRule {
	r := spreadRule{pods: spreadSet(pod, c), key: c.TopologyKey, maxSkew: int(c.MaxSkew), minDomains: 1}
	if c.MinDomains != nil {
		r.minDomains = int(*c.MinDomains)
	}
	f := nodeFilter{keys: keys}
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		f.choosy, f.wants = true, selectorOf(&pod.Spec)
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		f.shy, f.tolerations = true, pod.Spec.Tolerations
	}
	f.text = fmt.Sprintf("%q %v %q %v%s", keys, f.choosy, f.wants, f.shy, tolerationText(f.tolerations))
	r.nodes = f
	r.text = fmt.Sprintf("spread %q %d %d (%s) (%s)", r.key, r.maxSkew, r.minDomains, r.pods.text, r.nodes.text)
	return r
}

// passes reports whether a spread constraint looks at the place.
func (f *nodeFilter) passes(p *place) bool {
	for _, key := range f.keys {
		if _, ok := p.value(key); !ok {
			return false
		}
	}
	if f.choosy && !p.admits(f.wants) {
		return false
	}
	return !f.shy || len(untolerated(p.taints, f.tolerations)) == 0
}

func (t *ties) write() {
	var b strings.Builder
	for i := range t.spread {
		fmt.Fprintln(&b, t.spread[i].text)
	}
	for _, n := range t.near {
		fmt.Fprintf(&b, "near %s\n", n.text())
	}
	for _, n := range t.apart {
		fmt.Fprintf(&b, "apart %s\n", n.text())
	}
	t.text = b.String()
}

func (t podTerm) text() string { return fmt.Sprintf("%q (%s)", t.key, t.pods.text) }

func tolerationText(tolerations []corev1.Toleration) string {
	var b strings.Builder
	for _, o := range tolerations {
		fmt.Fprintf(&b, " %q %q %q %q", o.Key, o.Operator, o.Value, o.Effect)
	}
	return b.String()
}

func namespaceOf(pod *corev1.Pod) string { return cmp.Or(pod.Namespace, metav1.NamespaceDefault) }

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

// spreadOf returns the spread constraints of a pod: its own, or if it states none at
// all, the defaults of the cluster with a selector that is deduced.
func (w *world) spreadOf(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || len(w.problem.DefaultSpread) == 0 {
		return pod.Spec.TopologySpreadConstraints
	}
	key := fmt.Sprintf("%q %s %v", namespaceOf(pod), labelText(pod.Labels), metav1.GetControllerOfNoCopy(pod))
	s := w.deduced[key]
	if s == nil {
		s = w.deducedSelector(pod)
		w.deduced[key] = s
	}
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return nil // nobody knows who belongs together
	}
	constraints := slices.Clone(w.problem.DefaultSpread)
	for i := range constraints {
		constraints[i].LabelSelector = s
	}
	return constraints
}

// deducedSelector says which pods belong with this one: those that the same Services
// of its namespace select and that the selector of its controller selects. Labels
// that a ReplicationController asks for replace those of the Services; what
// ReplicaSets and StatefulSets ask for comes on top of them.
func (w *world) deducedSelector(pod *corev1.Pod) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	space := namespaceOf(pod)
	for _, service := range w.problem.Services {
		if service != nil && service.Spec.Selector != nil && inSpace(service, space) && allOn(sameLabels(service.Spec.Selector), pod.Labels) {
			maps.Copy(s.MatchLabels, service.Spec.Selector)
		}
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return s
	}
	owners := &w.problem.Owners
	switch ref.APIVersion + " " + ref.Kind {
	case "v1 ReplicationController":
		for _, o := range owners.ReplicationControllers {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				maps.Copy(s.MatchLabels, o.Spec.Selector)
			}
		}
	case "apps/v1 ReplicaSet":
		for _, o := range owners.ReplicaSets {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				addSelector(s, o.Spec.Selector)
			}
		}
	case "apps/v1 StatefulSet":
		for _, o := range owners.StatefulSets {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				addSelector(s, o.Spec.Selector)
			}
		}
	}
	return s
}

func inSpace(o metav1.Object, space string) bool {
	return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault) == space
}

// addSelector adds what another selector asks for; one that is missing adds nothing.
func addSelector(s, more *metav1.LabelSelector) {
	if more == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(more.MatchLabels)) {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{more.MatchLabels[key]},
		})
	}
	s.MatchExpressions = append(s.MatchExpressions, more.MatchExpressions...)
}
