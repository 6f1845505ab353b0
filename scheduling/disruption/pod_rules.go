package disruption

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// podRules says which pods break a rule where they are that kube-scheduler would hold them
// to if it placed them there now. Where it cannot be sure it says none: the cluster's
// default spread constraints and taints of the moment, as of nodes that are going, are
// left out.
type podRules struct {
	state *state
	// namespaces are the labels of those that are known.
	namespaces map[string]map[string]string
	// domainCounts are the numbers of pods that a selector matches, by the value that a node label
	// has; they hold as long as no pod moves.
	domainCounts map[string]*domainCounts
}

// domainCounts counts pods by domain.
type domainCounts struct {
	pods  map[string]int // of each domain that counts, also those without pods
	total int
}

func newPodRules(s *state) *podRules {
	b := rulesOf(s.problem)
	b.state = s
	b.moved()
	return b
}

// rulesOf is a podRules that reads rules, and counts nobody.
func rulesOf(p *scheduling.Problem) *podRules {
	b := &podRules{namespaces: map[string]map[string]string{}}
	for _, ns := range p.Namespaces {
		b.namespaces[ns.Name] = ns.Labels
	}
	return b
}

// moved forgets what was counted.
func (b *podRules) moved() { b.domainCounts = map[string]*domainCounts{} }

// broken names the first rule that a pod breaks on its node, "" for none.
func (b *podRules) broken(pod *corev1.Pod, node *corev1.Node) string {
	switch {
	case !selects(pod, node):
		return "its node selector or required node affinity"
	case !tolerates(pod, lasting(node)):
		return "a taint of its node"
	}
	away := awayFrom(pod)
	for i := range away {
		if b.meets(pod, node, &away[i]) > 0 {
			return "its required anti-affinity"
		}
	}
	if b.alone(pod, node, nearTo(pod)) {
		return "its required affinity"
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		if c := &pod.Spec.TopologySpreadConstraints[i]; c.WhenUnsatisfiable == corev1.DoNotSchedule && b.skewed(pod, node, c) {
			return "its topology spread over " + c.TopologyKey
		}
	}
	return ""
}

// awayFrom are the terms of a pod's required anti-affinity.
func awayFrom(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// nearTo are the terms of a pod's required affinity.
func nearTo(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// meets counts the other pods of a term in the pod's domain.
func (b *podRules) meets(pod *corev1.Pod, node *corev1.Node, term *corev1.PodAffinityTerm) int {
	value, ok := node.Labels[term.TopologyKey]
	match := b.term(pod, term)
	if !ok || match == nil {
		return 0
	}
	n := b.count("term", pod, term, term.TopologyKey, match, everyNode).pods[value]
	if match(pod) {
		n--
	}
	return n
}

// alone reports whether a pod has nobody in its domain for one of the terms. The first of
// pods that want to be together is no exception where others of them are somewhere.
func (b *podRules) alone(pod *corev1.Pod, node *corev1.Node, terms []corev1.PodAffinityTerm) bool {
	for i := range terms {
		match := b.term(pod, &terms[i])
		if match == nil || b.meets(pod, node, &terms[i]) > 0 {
			continue
		}
		all := b.count("term", pod, &terms[i], terms[i].TopologyKey, match, everyNode).total
		if !match(pod) || all > 1 {
			return true
		}
	}
	return false
}

// term returns what tells the pods of an affinity term; nil if that is not clear.
func (b *podRules) term(pod *corev1.Pod, term *corev1.PodAffinityTerm) func(*corev1.Pod) bool {
	selector := selectorOf(pod, term.LabelSelector, term.MatchLabelKeys)
	if selector == nil || len(term.MismatchLabelKeys) > 0 {
		return nil
	}
	var spaces labels.Selector
	if term.NamespaceSelector != nil {
		var err error
		if spaces, err = metav1.LabelSelectorAsSelector(term.NamespaceSelector); err != nil {
			return nil
		}
	}
	own := namespaceOf(pod.Namespace)
	return func(other *corev1.Pod) bool {
		namespace := namespaceOf(other.Namespace)
		in := slices.Contains(term.Namespaces, namespace) || spaces != nil && spaces.Matches(b.spaceLabels(namespace)) ||
			len(term.Namespaces) == 0 && spaces == nil && namespace == own
		return in && selector.Matches(labels.Set(other.Labels))
	}
}

// spaceLabels are the labels of a namespace.
func (b *podRules) spaceLabels(name string) labels.Set {
	if known, ok := b.namespaces[name]; ok {
		return known
	}
	return labels.Set{corev1.LabelMetadataName: name}
}

// skewed reports whether a pod's domain is too full for a constraint.
func (b *podRules) skewed(pod *corev1.Pod, node *corev1.Node, c *corev1.TopologySpreadConstraint) bool {
	value, ok := node.Labels[c.TopologyKey]
	match, counts := spreadMatch(pod, c), spreadNodes(pod, c)
	if match == nil || !ok || !counts(node) || !match(pod) {
		return false
	}
	found := b.count("spread", pod, spreadRule(pod, c), c.TopologyKey, match, counts)
	least := found.pods[value] - 1 // without the pod itself
	for domain, n := range found.pods {
		if domain != value {
			least = min(least, n)
		}
	}
	if c.MinDomains != nil && len(found.pods) < int(*c.MinDomains) {
		least = 0
	}
	return found.pods[value]-least > int(c.MaxSkew)
}

func everyNode(*corev1.Node) bool { return true }

// count counts pods by the value that a label of their nodes has. The rule and the pod's
// namespace say what is counted.
func (b *podRules) count(kind string, pod *corev1.Pod, rule any, key string, match func(*corev1.Pod) bool, counts func(*corev1.Node) bool) *domainCounts {
	text, err := json.Marshal(rule)
	name := strings.Join([]string{kind, namespaceOf(pod.Namespace), string(text)}, "\x00")
	for _, label := range matchKeys(rule) {
		name += "\x00" + pod.Labels[label]
	}
	if found := b.domainCounts[name]; found != nil && err == nil {
		return found
	}
	out := &domainCounts{pods: map[string]int{}}
	for _, at := range b.state.nodes {
		value, ok := at.node.Labels[key]
		if !ok || !counts(at.node) {
			continue
		}
		out.pods[value] += 0
		for _, p := range at.pods {
			if match(p) {
				out.pods[value]++
				out.total++
			}
		}
	}
	b.domainCounts[name] = out
	return out
}

// matchKeys are the keys by which a rule reads the labels of the pod itself.
func matchKeys(rule any) []string {
	switch x := rule.(type) {
	case *corev1.PodAffinityTerm:
		return x.MatchLabelKeys
	case []any:
		return x[0].(*corev1.TopologySpreadConstraint).MatchLabelKeys //nolint:forcetypeassert // made above
	}
	return nil
}

// selectorOf is a label selector narrowed to the pod's own values of some keys; nil if it is
// not valid, or selects nothing.
func selectorOf(pod *corev1.Pod, s *metav1.LabelSelector, keys []string) labels.Selector {
	if s == nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil
	}
	for _, key := range keys {
		value, ok := pod.Labels[key]
		if !ok {
			continue
		}
		r, err := labels.NewRequirement(key, selection.In, []string{value})
		if err != nil {
			return nil
		}
		selector = selector.Add(*r)
	}
	return selector
}

// selects reports whether a pod's node selector and required node affinity allow a node.
func selects(pod *corev1.Pod, node *corev1.Node) bool {
	for key, value := range pod.Spec.NodeSelector {
		if node.Labels[key] != value {
			return false
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			return false
		}
		return meetsAll(t.MatchExpressions, node.Labels) && meetsAll(t.MatchFields, labels.Set{"metadata.name": node.Name})
	})
}

// meetsAll reports whether labels meet all expressions. One that is not understood counts as
// met, so that it moves nobody.
func meetsAll(expressions []corev1.NodeSelectorRequirement, set labels.Set) bool {
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
		corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
	}
	for i := range expressions {
		r, err := labels.NewRequirement(expressions[i].Key, operators[expressions[i].Operator], expressions[i].Values)
		if err == nil && !r.Matches(set) {
			return false
		}
	}
	return true
}

// lasting are the taints of a node that keep pods away for good: not those by which
// Kubernetes, Karpenter, an autoscaler or a termination handler tell of its state.
func lasting(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		domain, _, _ := strings.Cut(t.Key, "/")
		return t.Effect != corev1.TaintEffectNoSchedule || strings.HasSuffix(domain, "kubernetes.io") || domain == "karpenter.sh" ||
			domain == "aws-node-termination-handler" || strings.HasPrefix(domain, "remediator.") || domain == "cloud.google.com" ||
			strings.HasSuffix(t.Key, "ClusterAutoscaler") || t.Key == scheduling.DisruptedTaint
	})
}

// tolerates reports whether a pod tolerates all taints that keep pods away.
func tolerates(pod *corev1.Pod, taints []corev1.Taint) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			return false
		}
		return !slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return covers(&x, &t) })
	})
}

// covers reports whether a toleration covers a taint. Comparing numbers is left out, so that
// nobody is moved for it.
func covers(x *corev1.Toleration, t *corev1.Taint) bool {
	switch {
	case x.Effect != "" && x.Effect != t.Effect, x.Key != "" && x.Key != t.Key:
		return false
	case x.Operator == corev1.TolerationOpEqual || x.Operator == "":
		return x.Value == t.Value
	}
	return true
}
