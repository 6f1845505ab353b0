package verify_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// naive is the state of a second, simple implementation of the rules between pods: it counts all pods again whenever a
// pod tries to bind.
type naive struct {
	nodes []*corev1.Node
	on    map[string][]*corev1.Pod // by node
}

// selects reports whether the selector selects the pod; nil selects no pod, as in the API.
func selects(s *metav1.LabelSelector, pod *corev1.Pod) bool {
	if s == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		panic(err)
	}
	return selector.Matches(labels.Set(pod.Labels))
}

// includes reports whether the term of the pod holder is about the pod.
func includes(t *corev1.PodAffinityTerm, holder, pod *corev1.Pod) bool {
	there := slices.Contains(t.Namespaces, pod.Namespace)
	if t.NamespaceSelector == nil && len(t.Namespaces) == 0 {
		there = holder.Namespace == pod.Namespace
	}
	if t.NamespaceSelector != nil {
		space := &corev1.Pod{}
		space.Labels = map[string]string{corev1.LabelMetadataName: pod.Namespace}
		there = there || selects(t.NamespaceSelector, space)
	}
	return there && selects(t.LabelSelector, pod)
}

func (n *naive) may(pod *corev1.Pod, node *corev1.Node) bool {
	return n.spreads(pod, node) && n.meets(pod, node) && n.avoids(pod, node)
}

func (n *naive) spreads(pod *corev1.Pod, node *corev1.Node) bool {
	constraints := slices.DeleteFunc(slices.Clone(pod.Spec.TopologySpreadConstraints), func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.ScheduleAnyway
	})
	for _, c := range constraints {
		counts := map[string]int{}
		for _, other := range n.nodes {
			lacks := slices.ContainsFunc(constraints, func(c corev1.TopologySpreadConstraint) bool { _, ok := other.Labels[c.TopologyKey]; return !ok })
			if lacks || !labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(other.Labels)) {
				continue
			}
			counts[other.Labels[c.TopologyKey]] += 0
			for _, p := range n.on[other.Name] {
				if p.Namespace == pod.Namespace && p.DeletionTimestamp == nil && !selectsAll(c.LabelSelector) && selects(c.LabelSelector, p) {
					counts[other.Labels[c.TopologyKey]]++
				}
			}
		}
		least := 0
		if c.MinDomains == nil || len(counts) >= int(*c.MinDomains) {
			least = 1 << 30
			for _, count := range counts {
				least = min(least, count)
			}
		}
		value, ok := node.Labels[c.TopologyKey]
		count := counts[value]
		if selects(c.LabelSelector, pod) {
			count++
		}
		if !ok || count-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

// selectsAll reports whether a selector is empty. A spread with such a selector counts no pods.
func selectsAll(s *metav1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

func (n *naive) meets(pod *corev1.Pod, node *corev1.Node) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return true
	}
	terms := pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	all := func(p *corev1.Pod) bool {
		return !slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !includes(&t, pod, p) })
	}
	anywhere, everyTerm := false, true
	for _, t := range terms {
		value, ok := node.Labels[t.TopologyKey]
		if !ok {
			return false
		}
		company := false
		for _, other := range n.nodes {
			if theirs, has := other.Labels[t.TopologyKey]; has && slices.ContainsFunc(n.on[other.Name], all) {
				anywhere = true
				company = company || theirs == value
			}
		}
		everyTerm = everyTerm && company
	}
	return everyTerm || !anywhere && all(pod)
}

func (n *naive) avoids(pod *corev1.Pod, node *corev1.Node) bool {
	anti := func(p *corev1.Pod) []corev1.PodAffinityTerm {
		if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
			return nil
		}
		return p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	for _, other := range n.nodes {
		together := func(key string) bool {
			a, ok := node.Labels[key]
			b, has := other.Labels[key]
			return ok && has && a == b
		}
		for _, p := range n.on[other.Name] {
			for _, t := range anti(pod) {
				if together(t.TopologyKey) && includes(&t, pod, p) {
					return false
				}
			}
			for _, t := range anti(p) {
				if together(t.TopologyKey) && includes(&t, p, pod) {
					return false
				}
			}
		}
	}
	return true
}

// unbound returns the pods that cannot bind, when they try in order of priority and name until none binds.
func (n *naive) unbound(pods []*corev1.Pod, where map[string]*corev1.Node) []string {
	rank := func(p *corev1.Pod) int32 {
		if p.Spec.Priority == nil {
			return 0
		}
		return *p.Spec.Priority
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		if rank(a) != rank(b) {
			return int(rank(b) - rank(a))
		}
		return strings.Compare(a.Namespace+" "+a.Name, b.Namespace+" "+b.Name)
	})
	for again := true; again; {
		again = false
		pods = slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
			node := where[p.Name]
			if !n.may(p, node) {
				return false
			}
			n.on[node.Name] = append(n.on[node.Name], p)
			again = true
			return true
		})
	}
	var names []string
	for _, p := range pods {
		names = append(names, "pod/"+p.Namespace+"/"+p.Name)
	}
	slices.Sort(names)
	return names
}

// randomTerms draws nodes and pods with topology terms, and the node of each pod.
func randomTerms(rng *rand.Rand) (p scheduling.Problem, where map[string]*corev1.Node) {
	pick := func(options ...string) string { return options[rng.IntN(len(options))] }
	for i := range 2 + rng.IntN(4) {
		n := zoned(fmt.Sprintf("n%d", i), pick("a", "b", "c", ""))
		if rack := pick("1", "2", ""); rack != "" {
			n.Labels["rack"] = rack
		}
		p.Nodes = append(p.Nodes, n)
	}
	someone := func() *metav1.LabelSelector {
		switch rng.IntN(6) {
		case 0:
			return &metav1.LabelSelector{}
		case 1:
			return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{pick("x", "y")}}}}
		default:
			return of(pick("x", "y", "z"))
		}
	}
	spaces := func(t *corev1.PodAffinityTerm) {
		switch rng.IntN(5) {
		case 0:
			t.Namespaces = []string{pick("default", "other")}
		case 1:
			t.NamespaceSelector = &metav1.LabelSelector{}
		case 2:
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "other"}}
		}
	}
	where = map[string]*corev1.Node{}
	for i := range 3 + rng.IntN(8) {
		pod := st.Pod(fmt.Sprintf("p%02d", i), st.Label("app", pick("x", "y", "z")), st.Namespace(pick("default", "default", "other")))
		for range rng.IntN(3) {
			key := pick(zoneOf, zoneOf, hostOf, "rack")
			switch rng.IntN(4) {
			case 0, 1:
				c := spread(key, int32(1+rng.IntN(2)), someone(), func(c *corev1.TopologySpreadConstraint) {
					if rng.IntN(3) == 0 {
						c.MinDomains = new(int32(1 + rng.IntN(3)))
					}
				})
				c(pod)
			case 2:
				near(key, someone(), spaces)(pod)
			default:
				apart(key, someone(), spaces)(pod)
			}
		}
		node := p.Nodes[rng.IntN(len(p.Nodes))]
		if rng.IntN(4) == 0 {
			pod.Spec.NodeName = node.Name
			if rng.IntN(4) == 0 {
				terminating(pod)
			}
			p.Running = append(p.Running, pod)
			continue
		}
		if rng.IntN(5) == 0 && node.Labels[zoneOf] != "" {
			inZone(node.Labels[zoneOf])(pod)
		}
		if rng.IntN(4) == 0 {
			priority(int32(rng.IntN(3)))(pod)
		}
		p.Pods = append(p.Pods, pod)
		where[pod.Name] = node
	}
	return p, where
}

// TestBindingAgreesWithTheNaiveRules: the checker reports exactly the pods that cannot bind by the naive rules.
func TestBindingAgreesWithTheNaiveRules(t *testing.T) {
	fine, blamed := 0, map[verify.Code]int{}
	for seed := range soak.Cases(2000) {
		p, where := randomTerms(rand.New(rand.NewPCG(seed, 9)))
		require.NoError(t, provisioning.Validate(&p), "seed %d", seed)
		d := &draft{p: p, nodes: map[string]string{}}
		for name, node := range where {
			d.nodes[node.Name] += " " + name
		}
		f := d.plan()
		f.plan.Summary.PodsWithoutRequests = len(p.Pods)
		f.skip = true
		var got []string
		for _, v := range f.violations(t) {
			got = append(got, v.Object)
			blamed[v.Code]++
		}
		slices.Sort(got)
		n := &naive{nodes: p.Nodes, on: map[string][]*corev1.Pod{}}
		for _, pod := range p.Running {
			n.on[pod.Spec.NodeName] = append(n.on[pod.Spec.NodeName], pod)
		}
		require.Equal(t, n.unbound(slices.Clone(p.Pods), where), got, "seed %d", seed)
		if len(got) == 0 {
			fine++
		}
	}
	assert.Greater(t, fine, race.Fewer(100, 20))
	for _, c := range slices.Sorted(maps.Keys(blamed)) {
		assert.Greater(t, blamed[c], 100, "%s", c)
	}
	assert.Len(t, blamed, 3)
}

// TestBindSimulationAgreesWithTheNaiveRules: each pod that the checker reports as refused for nothing can bind by the
// naive rules.
func TestBindSimulationAgreesWithTheNaiveRules(t *testing.T) {
	t.Parallel()
	accused, spared := 0, 0
	for seed := range soak.Cases(1500) {
		rng := rand.New(rand.NewPCG(seed, 10))
		p, where := randomTerms(rng)
		binds := func(where map[string]*corev1.Node) bool {
			n := &naive{nodes: p.Nodes, on: map[string][]*corev1.Pod{}}
			for _, pod := range p.Running {
				n.on[pod.Spec.NodeName] = append(n.on[pod.Spec.NodeName], pod)
			}
			placed := slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool { return where[pod.Name] == nil })
			return len(n.unbound(placed, where)) == 0
		}
		for len(where) > 0 && !binds(where) { // leave pods out until the others bind
			delete(where, slices.Sorted(maps.Keys(where))[rng.IntN(len(where))])
		}
		d := &draft{p: p, nodes: map[string]string{}}
		for name, node := range where {
			d.nodes[node.Name] += " " + name
		}
		f := d.plan()
		f.plan.Summary.PodsWithoutRequests = len(p.Pods)
		blamed := map[string]bool{}
		for _, v := range f.violations(t) {
			require.Equal(t, verify.CodeRefusedForNothing, v.Code, "seed %d: %s", seed, v)
			blamed[v.Object] = true
		}
		for _, pod := range p.Pods {
			if where[pod.Name] != nil {
				continue
			}
			found := slices.ContainsFunc(p.Nodes, func(n *corev1.Node) bool {
				if !labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(n.Labels)) {
					return false
				}
				more := maps.Clone(where)
				more[pod.Name] = n
				return binds(more)
			})
			if blamed["pod/"+pod.Namespace+"/"+pod.Name] {
				accused++
				require.True(t, found, "seed %d: %s has no place", seed, pod.Name)
			} else if !found {
				spared++
			}
		}
	}
	assert.Greater(t, accused, 150)
	assert.Greater(t, spared, 150)
}
