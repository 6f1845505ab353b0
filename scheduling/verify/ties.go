package verify

import (
	"cmp"
	"fmt"
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
		r := &t.spread[i]
		fmt.Fprintf(&b, "spread %q %d %d (%s) (%s)\n", r.key, r.maxSkew, r.minDomains, r.pods.text, r.nodes.text)
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
