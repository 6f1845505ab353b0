package disruption

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// census counts for a rule, once for all pods that have the same.
func (s *stage) census(pod *corev1.Pod, rule any, key string, match func(*corev1.Pod) bool, counts func(*corev1.Node) bool) *census {
	text, err := json.Marshal([]any{namespaceOf(pod.Namespace), pod.Labels, rule})
	if known := s.rules[string(text)]; known != nil && err == nil {
		return known
	}
	c := &census{key: key, match: match, counts: counts, pods: map[string]int{}, nodes: map[string]int{}, held: map[string]bool{}}
	nodes := func(node *corev1.Node) {
		if node == nil {
			return
		}
		if value, ok := node.Labels[key]; ok && c.holds(node) {
			c.nodes[value]++
		}
	}
	for _, x := range s.frame.subjects {
		if !x.gone {
			nodes(x.node)
		}
	}
	for _, node := range s.nodes {
		nodes(node)
	}
	for _, b := range s.frame.brands.of(s.frame) {
		if !match(b.sample) {
			continue
		}
		for _, name := range b.names {
			s.enroll(c, name)
		}
	}
	s.rules[string(text)] = c
	return c
}

// enroll counts a pod where it is.
func (s *stage) enroll(c *census, name string) {
	pod := s.frame.pods[name]
	if pod == nil || !c.match(pod) {
		return
	}
	x := s.frame.at[s.frame.home(pod)]
	if x == nil || x.gone || x.node == nil {
		return
	}
	if value, ok := x.node.Labels[c.key]; ok && c.holds(x.node) {
		c.pods[value]++
		c.total++
	}
}

// spreadMatch tells the pods that a spread constraint of a pod counts; nil if it is about
// none.
func spreadMatch(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) func(*corev1.Pod) bool {
	selector := selectorOf(pod, c.LabelSelector, c.MatchLabelKeys)
	if selector == nil {
		return nil
	}
	own := namespaceOf(pod.Namespace)
	return func(other *corev1.Pod) bool {
		return namespaceOf(other.Namespace) == own && other.DeletionTimestamp == nil && selector.Matches(labels.Set(other.Labels))
	}
}

// spreadRule is all that a spread constraint's count depends on, beside the namespace of its
// pod and the values of matchLabelKeys. The constraint comes first.
func spreadRule(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) []any {
	return []any{c, pod.Spec.TopologySpreadConstraints, pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations}
}

// spreadNodes tells the nodes that a spread constraint of a pod counts.
func spreadNodes(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) func(*corev1.Node) bool {
	return func(n *corev1.Node) bool {
		for i := range pod.Spec.TopologySpreadConstraints {
			x := &pod.Spec.TopologySpreadConstraints[i]
			if _, ok := n.Labels[x.TopologyKey]; !ok && x.WhenUnsatisfiable == corev1.DoNotSchedule {
				return false
			}
		}
		if p := c.NodeAffinityPolicy; (p == nil || *p == corev1.NodeInclusionPolicyHonor) && !selects(pod, n) {
			return false
		}
		return c.NodeTaintsPolicy == nil || *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyIgnore || tolerates(pod, n.Spec.Taints)
	}
}

// brands are the running pods of a cluster by namespace and labels, for those who count
// pods by selectors. They are sorted out when somebody first asks.
type brands struct {
	once sync.Once
	list []*brand
}

// brand is the pods of a namespace with the same labels, by name.
type brand struct {
	sample *corev1.Pod
	names  []string
}

// of returns the brands of a frame's pods.
func (b *brands) of(f *frame) []*brand {
	b.once.Do(func() {
		at := map[string]*brand{}
		for _, list := range [][]*corev1.Pod{f.cluster.Running, f.cluster.Pods} {
			for _, pod := range list {
				if pod.Spec.NodeName == "" || ended(pod) {
					continue
				}
				key := brandKey(pod)
				if at[key] == nil {
					sample := *pod
					sample.DeletionTimestamp = nil
					at[key] = &brand{sample: &sample}
					b.list = append(b.list, at[key])
				}
				at[key].names = append(at[key].names, podName(pod))
			}
		}
	})
	return b.list
}

// brandKey is the namespace and the labels of a pod.
func brandKey(pod *corev1.Pod) string {
	pairs := make([]string, 0, len(pod.Labels)+1)
	for key, value := range pod.Labels {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return namespaceOf(pod.Namespace) + "\x00" + strings.Join(pairs, "\x00")
}
