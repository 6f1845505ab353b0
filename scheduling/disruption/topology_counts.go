package disruption

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// topologyCounts counts the pods that a rule is about, by domain.
type topologyCounts struct {
	key   string
	match func(*corev1.Pod) bool
	pods  map[string]int
	total int
	// domains are those of a spread constraint, nil for other rules: all nodes count to them.
	domains *domains
	keepers []*movingPod // those of the step that keep others away by it
}

// holds reports whether pods on a node count.
func (c *topologyCounts) holds(node *corev1.Node) bool {
	return c.domains == nil || c.domains.holds(node)
}

// domains counts the nodes that count to spread constraints of one kind, by domain.
type domains struct {
	key    string
	counts func(*corev1.Node) bool
	nodes  map[string]int
	held   map[string]bool // by node, whether it counts
}

// holds reports whether a node counts.
func (d *domains) holds(node *corev1.Node) bool {
	known, ok := d.held[node.Name]
	if !ok {
		known = d.counts(node)
		d.held[node.Name] = known
	}
	return known
}

// countsFor counts for a rule, once for all pods that have the same. hint is a label of all pods
// that it matches.
func (s *drainSimulation) countsFor(pod *corev1.Pod, rule any, key, hint string, match func(*corev1.Pod) bool) *topologyCounts {
	text, err := json.Marshal([]any{namespaceOf(pod.Namespace), pod.Labels, rule})
	if known := s.rules[string(text)]; known != nil && err == nil {
		return known
	}
	c := &topologyCounts{key: key, match: match, pods: map[string]int{}}
	if spread, ok := rule.([]any); ok {
		c.domains = s.domainsOf(pod, spread[0].(*corev1.TopologySpreadConstraint)) //nolint:forcetypeassert // as spreadRule makes them
	}
	for _, b := range s.constraints.podIndex.of(s.constraints, hint) {
		if !match(b.sample) {
			continue
		}
		for _, name := range b.names {
			s.enroll(c, name)
		}
	}
	s.rules[string(text)], s.index[hint] = c, append(s.index[hint], c)
	return c
}

// domainsOf are the domains of a pod's spread constraint, once for all that count the same
// nodes.
func (s *drainSimulation) domainsOf(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) *domains {
	var keys []string
	for i := range pod.Spec.TopologySpreadConstraints {
		if x := &pod.Spec.TopologySpreadConstraints[i]; x.WhenUnsatisfiable == corev1.DoNotSchedule {
			keys = append(keys, x.TopologyKey)
		}
	}
	text, err := json.Marshal([]any{c.TopologyKey, c.NodeAffinityPolicy, c.NodeTaintsPolicy, keys, pod.Spec.NodeSelector, nodeAffinity(pod), pod.Spec.Tolerations})
	if known := s.domains[string(text)]; known != nil && err == nil {
		return known
	}
	d := &domains{key: c.TopologyKey, counts: spreadNodes(pod, c), nodes: map[string]int{}, held: map[string]bool{}}
	add := func(node *corev1.Node) {
		if node == nil {
			return
		}
		if value, ok := node.Labels[d.key]; ok && d.holds(node) {
			d.nodes[value]++
		}
	}
	for _, x := range s.constraints.nodes {
		if !x.gone {
			add(x.node)
		}
	}
	for _, node := range s.nodes {
		add(node)
	}
	s.domains[string(text)] = d
	return d
}

// look is which rules count a pod.
func (s *drainSimulation) look(pod *corev1.Pod) []*topologyCounts {
	var out []*topologyCounts
	add := func(list []*topologyCounts) {
		for _, c := range list {
			if c.match(pod) {
				out = append(out, c)
			}
		}
	}
	add(s.index[""])
	for key, value := range pod.Labels {
		add(s.index[key+"="+value])
	}
	return out
}

// hintOf is a label that all pods have which a selector matches, "" if it does not name one.
func hintOf(selector labels.Selector) string {
	if selector == nil {
		return ""
	}
	list, _ := selector.Requirements()
	for _, r := range list {
		if op := r.Operator(); (op == selection.In || op == selection.Equals || op == selection.DoubleEquals) && r.Values().Len() == 1 {
			return r.Key() + "=" + r.Values().List()[0]
		}
	}
	return ""
}

// enroll counts a pod where it is.
func (s *drainSimulation) enroll(c *topologyCounts, name string) {
	pod := s.constraints.pods[name]
	if pod == nil || !c.match(pod) {
		return
	}
	x := s.constraints.at[s.constraints.home(pod)]
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

// podIndex are the running pods of a cluster by namespace and labels, for those who count
// pods by selectors. They are sorted out when somebody first asks.
type podIndex struct {
	once sync.Once
	list []*podGroup
	// labelled are those that have a label.
	labelled map[string][]*podGroup
}

// podGroup is the pods of a namespace with the same labels, by name.
type podGroup struct {
	sample *corev1.Pod
	names  []string
}

// of returns the groups of the pods that run, only those with a label unless it is "".
func (b *podIndex) of(f *planConstraints, label string) []*podGroup {
	b.once.Do(func() {
		b.labelled = map[string][]*podGroup{}
		at := map[string]*podGroup{}
		for _, list := range [][]*corev1.Pod{f.cluster.Running, f.cluster.Pods} {
			for _, pod := range list {
				if pod.Spec.NodeName == "" || ended(pod) {
					continue
				}
				key := labelsKey(pod)
				if at[key] == nil {
					sample := *pod
					sample.DeletionTimestamp = nil
					at[key] = &podGroup{sample: &sample}
					b.list = append(b.list, at[key])
					for name, value := range pod.Labels {
						b.labelled[name+"="+value] = append(b.labelled[name+"="+value], at[key])
					}
				}
				at[key].names = append(at[key].names, podName(pod))
			}
		}
	})
	if label != "" {
		return b.labelled[label]
	}
	return b.list
}

// labelsKey is the namespace and the labels of a pod.
func labelsKey(pod *corev1.Pod) string {
	pairs := make([]string, 0, len(pod.Labels)+1)
	for key, value := range pod.Labels {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return namespaceOf(pod.Namespace) + "\x00" + strings.Join(pairs, "\x00")
}
