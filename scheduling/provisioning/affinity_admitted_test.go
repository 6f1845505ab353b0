package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A term of node affinity that compares with no integer is admitted by the API server and matches nothing: that pod alone
// has no place, and another term may still match.
func TestComparisonWithNoInteger(t *testing.T) {
	term := func(op corev1.NodeSelectorOperator, value string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "example.com/version", Operator: op, Values: []string{value}}}}
	}
	affine := func(name string, terms ...corev1.NodeSelectorTerm) *corev1.Pod {
		pod := st.Pod(name, st.Requests(st.MilliCPU(100)))
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
		return pod
	}
	pool := st.NodePool("default")
	pool.Spec.Template.Metadata.Labels = map[string]string{"example.com/version": "500"}
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("m.large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)))),
		NodePools: []*scheduling.NodePool{pool},
		Pods:      []*corev1.Pod{affine("float", term("Gt", "150.1")), affine("either", term("Lt", "9e9"), term("Gt", "150")), affine("integer", term("Gt", "150"))},
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	require.Equal(t, 2, plan.Summary.Placed)
	require.Equal(t, "default/float", plan.Unschedulable[0].Pod)
	require.Equal(t, `required node affinity does not match: example.com/version Gt "150.1"`, plan.Unschedulable[0].Reasons[0].Detail)
	require.Equal(t, `compare example.com/version with an integer, or select a value such as 500: example.com/version Gt "150.1" matches nothing`, plan.Unschedulable[0].Fixes[0])
}
