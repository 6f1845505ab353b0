package validate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

func nodeExpressions(e ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: e}
}

func nodeExpr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

func TestValidateNodeAffinity(t *testing.T) {
	required := func(terms ...corev1.NodeSelectorTerm) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.PodSpec)
		want   []string
	}{
		"no affinity":  {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{} }, nil},
		"an empty one": {func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} }, nil},
		"no terms":     {required(), []string{NodeRequired + ": needs at least one term"}},
		"sound terms": {required(corev1.NodeSelectorTerm{}, nodeExpressions(
			nodeExpr("topology.kubernetes.io/zone", "In", "a", "b"), nodeExpr("x", "NotIn", ""), nodeExpr("x", "Exists"), nodeExpr("x", "DoesNotExist"),
			nodeExpr("x", "Gt", "4"), nodeExpr("x", "Lt", "000000000000000000000000000000000005"),
		)), nil},
		"operators": {required(nodeExpressions(nodeExpr("a", "Equals", "b"), nodeExpr("a", "In"), nodeExpr("a", "NotIn"), nodeExpr("a", "Exists", "b"), nodeExpr("a", "Gte", "5"))), []string{
			NodeRequired + `[0].matchExpressions[0].operator: label "a": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Equals"`,
			NodeRequired + `[0].matchExpressions[1].values: label "a": operator In needs at least one value`,
			NodeRequired + `[0].matchExpressions[2].values: label "a": operator NotIn needs at least one value`,
			NodeRequired + `[0].matchExpressions[3].values: label "a": operator Exists takes no values: "b"`,
			NodeRequired + `[0].matchExpressions[4].operator: label "a": is known on NodePools only, not in node affinity: "Gte"`,
		}},
		"no integer": {required(nodeExpressions(), nodeExpressions(nodeExpr("ok", "Exists"), nodeExpr("a.b/cpu", "Gt", "four"))), nil},
		"no label value to compare with": {required(nodeExpressions(nodeExpr("a.b/cpu", "Gt", "four "))), []string{
			NodeRequired + `[0].matchExpressions[0].values[0]: label "a.b/cpu": operator Gt needs an integer of 64 bits: "four "`,
		}},
		"fields": {required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			nodeExpr("metadata.name", "In", "node-1"), nodeExpr("metadata.name", "NotIn", "node-2"), nodeExpr("spec.unschedulable", "Exists"), nodeExpr("metadata.name", "In", "a", "b"),
		}}), []string{
			NodeRequired + `[0].matchFields[2].key: must be metadata.name: "spec.unschedulable"`,
			NodeRequired + `[0].matchFields[2].operator: must be In or NotIn: "Exists"`,
			NodeRequired + `[0].matchFields[2].values: needs exactly one value, not 0`,
			NodeRequired + `[0].matchFields[3].values: needs exactly one value, not 2`,
		}},
		"preferences": {func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: nodeExpressions(nodeExpr("a", "Exists"))}, {Weight: 101, Preference: nodeExpressions(nodeExpr("a", "In"))}, {},
			}}}
		}, []string{
			NodePreferred + `[1].preference.matchExpressions[0].values: label "a": operator In needs at least one value`,
			NodePreferred + `[1].weight: must lie between 1 and 100: "101"`,
			NodePreferred + `[2].weight: must lie between 1 and 100: "0"`,
		}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, faultsOfPod(t, tc.change)) })
	}
}

func TestValidatePodAffinity(t *testing.T) {
	good := corev1.PodAffinityTerm{TopologyKey: "topology.kubernetes.io/zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}
	assert.Equal(t, []string{
		PodPreferred + `[0].podAffinityTerm.topologyKey: is missing`,
		PodPreferred + `[0].weight: must lie between 1 and 100: "-1"`,
		PodRequired + `[1].labelSelector.matchLabels.app: ` + NotALabelValue + `: "?"`,
		PodRequired + `[1].namespaceSelector.matchExpressions[0].values: operator In needs at least one value`,
		PodRequired + `[1].topologyKey: ` + NotALabelKey + `: "a b"`,
		AntiRequired + `[0].topologyKey: is missing`,
	}, faultsOfPod(t, func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{
			PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{good, {
					TopologyKey: "a b", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "?"}},
					NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn}}},
				}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: -1}, {Weight: 100, PodAffinityTerm: good}},
			},
			PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{{}, good},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: good}},
			},
		}
	}))
}

// The fast check passes no expression that package requirements refuses.
func TestPlainExpressionIsNeverTooKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 71))
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	plain := 0
	for range 20_000 {
		e := nodeExpr(pick("a", "a.b/c", "", "-", "A/b", "zone"), corev1.NodeSelectorOperator(pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "", "in")))
		for range rng.IntN(3) {
			e.Values = append(e.Values, pick("", "a", "5", "-5", "+5", "05", "a b", "999999999999999999", "9999999999999999999", "1e3"))
		}
		if PlainExpression(&e) {
			plain++
			_, err := requirements.FromNodeSelector([]corev1.NodeSelectorRequirement{e})
			assert.NoError(t, err, "%+v", e)
		}
	}
	assert.Greater(t, plain, 1000)
}
