package snapshot

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/requirements"
)

func expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// required is a pod with a required node affinity of these terms.
func required(terms ...corev1.NodeSelectorTerm) *corev1.PodSpec {
	return &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}}
}

func all(exprs ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: exprs}
}

func field(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{expr(key, op, values...)}}
}

func TestAdmits(t *testing.T) {
	seen := Node{Name: "n1", Labels: map[string]string{"zone": "a", "cpu": "8", "empty": "", corev1.LabelTopologyZone: "z"}}
	planned := Node{Labels: seen.Labels, planned: true}
	selecting := func(spec *corev1.PodSpec, key, value string) *corev1.PodSpec {
		spec.NodeSelector = map[string]string{key: value}
		return spec
	}
	for _, tc := range []struct {
		name          string
		spec          *corev1.PodSpec
		node, planned bool
	}{
		{"asks for nothing", &corev1.PodSpec{}, true, true},
		{"empty affinity", &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}}, true, true},
		{"selector", selecting(&corev1.PodSpec{}, "zone", "a"), true, true},
		{"selector on an empty value", selecting(&corev1.PodSpec{}, "empty", ""), true, true},
		{"selector that does not match", selecting(&corev1.PodSpec{}, "zone", "b"), false, false},
		{"selector on a missing label", selecting(&corev1.PodSpec{}, "none", ""), false, false},
		{"no terms", required(), false, false},
		{"an empty term", required(all()), false, false},
		{"an empty term beside another", required(all(), all(expr("zone", "Exists"))), true, true},
		{"In", required(all(expr("zone", "In", "b", "a"))), true, true},
		{"NotIn", required(all(expr("zone", "NotIn", "a"))), false, false},
		{"NotIn without the label", required(all(expr("none", "NotIn", "a"))), true, true},
		{"DoesNotExist", required(all(expr("none", "DoesNotExist"))), true, true},
		{"DoesNotExist with the label", required(all(expr("empty", "DoesNotExist"))), false, false},
		{"Gt", required(all(expr("cpu", "Gt", "7"))), true, true},
		{"Gt itself", required(all(expr("cpu", "Gt", "8"))), false, false},
		{"Lt", required(all(expr("cpu", "Lt", "9"))), true, true},
		{"Lt of no number", required(all(expr("zone", "Lt", "9"))), false, false},
		{"Gt without the label", required(all(expr("none", "Gt", "0"))), false, false},
		{"all expressions of a term", required(all(expr("zone", "In", "a"), expr("cpu", "In", "4"))), false, false},
		{"one of the terms", required(all(expr("zone", "In", "b")), all(expr("cpu", "In", "8"))), true, true},
		{"selector and affinity", selecting(required(all(expr("cpu", "In", "8"))), "zone", "b"), false, false},
		{"malformed: In without values", required(all(expr("none", "In"))), false, false},
		{"malformed: NotIn without values", required(all(expr("none", "NotIn"))), false, false},
		{"malformed: Exists with values", required(all(expr("zone", "Exists", "a"))), false, false},
		{"malformed: Gt with two values", required(all(expr("cpu", "Gt", "1", "2"))), false, false},
		{"malformed: Gt of no number", required(all(expr("cpu", "Gt", "x"))), false, false},
		{"malformed: Gte is no operator of pods", required(all(expr("cpu", requirements.Gte, "1"))), false, false},
		{"malformed: a key", required(all(expr("a b", "DoesNotExist"))), false, false},
		{"malformed: a value", required(all(expr("zone", "NotIn", "a b"))), false, false},
		{"malformed terms do not spoil others", required(all(expr("a b", "Exists")), all(expr("zone", "Exists"))), true, true},
		{"the node's name", required(field("metadata.name", "In", "n1")), true, false},
		{"another name", required(field("metadata.name", "In", "n2")), false, false},
		{"not that name", required(field("metadata.name", "NotIn", "n1")), false, true},
		{"two names", required(field("metadata.name", "In", "n1", "n2")), false, false},
		{"another field", required(field("metadata.uid", "NotIn", "n1")), false, false},
		{"another operator on a field", required(field("metadata.name", "Exists", "n1")), false, false},
		{"an alias, which only planned machines know", selecting(&corev1.PodSpec{}, corev1.LabelFailureDomainBetaZone, "z"), false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.node, seen.Matches(selectorOf(tc.spec)), "on a node")
			assert.Equal(t, tc.planned, planned.Matches(selectorOf(tc.spec)), "on a planned machine")
		})
	}
}

// On labels that are known, expressions mean what Kubernetes's own selectors mean.
func TestExpressionsAgreeWithKubernetes(t *testing.T) {
	operators := map[corev1.NodeSelectorOperator]selection.Operator{
		"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
		"Gt": selection.GreaterThan, "Lt": selection.LessThan,
	}
	for seed := range soak.Cases(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		e := randomExpression(rng, []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
		r, err := labels.NewRequirement(e.Key, operators[e.op], e.values)
		require.NoError(t, err)
		set := labels.Set{}
		if rng.IntN(4) > 0 {
			set[e.Key] = []string{"a", "b", "0", "1", "2", "x7"}[rng.IntN(6)]
		}
		value, present := set[e.Key]
		require.Equal(t, r.Matches(set), e.Holds(value, present), "%v on %v", e, set)
	}
}

// Nodes that run are admitted as kube-scheduler admits them, by its own reading of node selector and node affinity.
func TestAdmitsAgreesWithKubernetes(t *testing.T) {
	operators := []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte"}
	counts := map[bool]int{}
	for seed := range soak.Cases(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		pod := &corev1.Pod{}
		var terms []corev1.NodeSelectorTerm
		for range rng.IntN(3) {
			var term corev1.NodeSelectorTerm
			for range rng.IntN(3) {
				e := randomExpression(rng, operators)
				term.MatchExpressions = append(term.MatchExpressions, expr([]string{"k", "l"}[rng.IntN(2)], e.op, e.values[:max(0, len(e.values)-rng.IntN(8)/7)]...))
			}
			if rng.IntN(4) == 0 {
				term.MatchFields = field("metadata.name", []corev1.NodeSelectorOperator{"In", "NotIn", "Exists"}[rng.IntN(3)], []string{"n1", "n2"}[:1+rng.IntN(2)]...).MatchFields
			}
			terms = append(terms, term)
		}
		if rng.IntN(4) > 0 {
			pod.Spec = *required(terms...)
		}
		if rng.IntN(3) == 0 {
			pod.Spec.NodeSelector = map[string]string{"k": []string{"a", "1"}[rng.IntN(2)]}
		}
		node := &corev1.Node{}
		node.Name, node.Labels = "n1", map[string]string{}
		for _, key := range []string{"k", "l"} {
			if rng.IntN(4) > 0 {
				node.Labels[key] = []string{"a", "b", "0", "1", "2"}[rng.IntN(5)]
			}
		}
		want, _ := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node) // where no term matches, malformed ones are an error
		seen := Node{Name: node.Name, Labels: node.Labels}
		require.Equal(t, want, seen.Matches(selectorOf(&pod.Spec)), "%+v on %v", pod.Spec, node.Labels)
		counts[want]++
	}
	assert.Greater(t, min(counts[true], counts[false]), race.Fewer(100, 20), counts)
}

func randomExpression(rng *rand.Rand, operators []string) Expression {
	e := Expression{Key: "k", op: corev1.NodeSelectorOperator(operators[rng.IntN(len(operators))])}
	switch e.op {
	case "In", "NotIn":
		for range 1 + rng.IntN(3) {
			e.values = append(e.values, []string{"a", "b", "0", "1", "2", "3"}[rng.IntN(6)])
		}
	case "Exists", "DoesNotExist":
	default:
		e.values = []string{strconv.Itoa(rng.IntN(5))}
	}
	return e
}

// What is decided about an open label from a few values that stand for all others is
// what trying many values decides.
func TestOpeningsAgreeWithTryingEverything(t *testing.T) {
	operators := []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}
	universe := []LabelValue{{absent: true}, {Value: "a"}, {Value: "b"}, {Value: "c"}, {Value: "zz"}}
	for n := range 100 {
		universe = append(universe, LabelValue{Value: strconv.Itoa(n)})
	}
	counts := map[string]int{}
	for seed := range soak.Cases(5000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var known, asked []Expression
		for range rng.IntN(4) {
			known = append(known, randomExpression(rng, operators))
		}
		for range 1 + rng.IntN(3) {
			asked = append(asked, randomExpression(rng, operators))
		}
		can, must, found := false, true, false
		for _, c := range universe {
			if AllHold(known, c) {
				found = true
				can = can || AllHold(asked, c)
				must = must && AllHold(asked, c)
			}
		}
		must = must && found
		require.Equal(t, can, Opening{Rule: some, Known: known}.allows(asked), "some of %v: %v", known, asked)
		require.Equal(t, must, Opening{Rule: Every, Known: known}.allows(asked), "every of %v: %v", known, asked)
		counts[fmt.Sprint(can, must)]++
	}
	for _, outcome := range []string{"false false", "true false", "true true"} {
		assert.Greater(t, counts[outcome], race.Fewer(100, 20), outcome)
	}
}

func TestMalformedNumbersSatisfyNothing(t *testing.T) {
	for _, e := range []Expression{{op: "Gt"}, {op: "Gt", values: []string{"x"}}, {op: "Lt", values: []string{"1", "2"}}, {op: "Like", values: []string{"1"}}} {
		assert.False(t, e.Holds("5", true), "%v", e)
		assert.False(t, e.Holds("", false), "%v", e)
	}
}

func TestOpenLabels(t *testing.T) {
	p := Node{Labels: map[string]string{"k": "v"}, planned: true, Open: func(key string) Opening {
		switch key {
		case "free":
			return Opening{Rule: some, Known: []Expression{{Key: key, op: "In", values: []string{"a", "b"}}}}
		case corev1.LabelTopologyZone:
			return Opening{Rule: Every, Known: []Expression{{Key: key, op: "In", values: []string{"a", "b"}}}}
		default:
			return Opening{}
		}
	}}
	for _, tc := range []struct {
		name string
		spec *corev1.PodSpec
		want bool
	}{
		{"one value can be chosen", required(all(expr("free", "In", "b", "c"))), true},
		{"no value can be chosen", required(all(expr("free", "In", "c"))), false},
		{"one value has to do for all expressions", required(all(expr("free", "In", "a"), expr("free", "In", "b"))), false},
		{"another term may choose another value", required(all(expr("free", "In", "c")), all(expr("free", "NotIn", "a"))), true},
		{"the provider may choose another value", required(all(expr(corev1.LabelTopologyZone, "In", "a"))), false},
		{"whatever the provider chooses", required(all(expr(corev1.LabelTopologyZone, "In", "a", "b", "c"))), true},
		{"by an alias", required(all(expr(corev1.LabelFailureDomainBetaZone, "NotIn", "c"))), true},
		{"by an alias, and in vain", required(all(expr(corev1.LabelFailureDomainBetaZone, "NotIn", "a"))), false},
		{"labels that are not open are absent", required(all(expr("shut", "Exists"))), false},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, p.Matches(selectorOf(tc.spec))) })
	}
}
