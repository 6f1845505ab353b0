package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeWith(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// compilerOf is a compiler that knows of nodes, those in flight last in its list.
func compilerOf(memory *memory, nodes ...*corev1.Node) *compiler {
	c := &compiler{facts: &facts{problem: &Problem{Nodes: nodes}, memory: memory}}
	for _, node := range nodes {
		c.nodes = append(c.nodes, &existingNode{node: node})
	}
	return c
}

func TestCountryKnowsLabels(t *testing.T) {
	m := newMemory()
	b, a, c := nodeWith("b", map[string]string{"rack": "r2"}), nodeWith("a", map[string]string{"rack": "r7"}), nodeWith("c", nil)
	k := compilerOf(m, b, a, c).country()
	require.Len(t, k.places, 3)
	assert.Equal(t, []*corev1.Node{a, b, c}, []*corev1.Node{k.places[0].node, k.places[1].node, k.places[2].node})
	rack := k.column("rack")
	assert.Equal(t, []string{"r2", "r7"}, rack.values)
	assert.Equal(t, []int32{1, 0, -1}, rack.numbers)
	assert.Same(t, rack, k.column("rack"))
	assert.Same(t, k, compilerOf(m, b, a, c).country(), "nothing has changed")

	fork := m.fork()
	fork.country.column("zone")
	assert.NotContains(t, m.country.columns, "zone", "forks learn for themselves")
	assert.NotSame(t, k, compilerOf(m, b, a).country(), "a node has gone")
	changed := nodeWith("b", map[string]string{"rack": "r1"})
	assert.Equal(t, []string{"r1", "r7"}, compilerOf(m, changed, a, c).country().column("rack").values)
}

// Bins stand in the order of places, those in flight after all others, and some places are
// none.
func TestLandKnowsWhichBinIsWhere(t *testing.T) {
	a, b, c, d := nodeWith("a", nil), nodeWith("b", map[string]string{"rack": "r"}), nodeWith("c", nil), nodeWith("d", nil)
	k := compilerOf(newMemory(), a, b, c, d)
	k.nodes = []*existingNode{{node: a}, {node: d}, {node: b, flying: true}}
	l := &land{compiler: k, country: k.country(), places: k.country().places}
	l.settle()
	assert.Equal(t, []int32{0, 2, -1, 1}, l.binOf)
	assert.Equal(t, []int32{0, 3, 1}, l.placeOf)
	with := l.binsWith("rack")
	assert.Equal(t, 1, with.Count())
	assert.True(t, with.Has(2))
}

func TestGuardsStandInTheOrderOfKeepers(t *testing.T) {
	guarding := func(name string, keys ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
		terms := []corev1.PodAffinityTerm{}
		for _, key := range keys {
			terms = append(terms, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name[:1]}}})
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		return p
	}
	one := &host{name: "n2", guards: append(guardsOf(guarding("b1", "zone", "host")), guardsOf(guarding("a1", "zone"))...)}
	two := &host{name: "n1", guards: guardsOf(guarding("a2", "zone"))}
	w := newWatch([]*host{one, two})
	require.Len(t, w.names, 2, "terms that select the same are one")
	var got []string
	for _, p := range w.posts {
		got = append(got, p.key+" "+p.node+" "+p.pod)
	}
	assert.Equal(t, []string{"host n2 default/b1", "zone n1 default/a2", "zone n2 default/a1", "zone n2 default/b1"}, got)
	assert.Empty(t, guardsOf(&corev1.Pod{}))

	k := compilerOf(newMemory(), nodeWith("n2", nil)).country()
	assert.Equal(t, []int32{0, -1, 0, 0}, k.posts(w), "n1 is no node")
}
