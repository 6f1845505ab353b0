package provisioning

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// shopPod is a pod of one container in namespace shop.
func shopPod(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func need(key string, op requirements.Operator, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: op, Values: values}
}

// Faults of the policy are reported like faults of the problem, and together with them.
func TestFaultsOfSettingsComeWithTheOthers(t *testing.T) {
	p := scheduling.Problem{Pods: []*corev1.Pod{{}}}
	s := scheduling.Policy{Effort: -1, MinValues: "Never", WorkloadShare: 101}
	s.Ranking.Strategy = "luck"
	s.Size.Largest = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	want := []string{
		`pods[0].metadata.name: is missing`,
		`solver.effort: is negative: "-1"`,
		`solver.minValues: is none of Strict, BestEffort: "Never"`,
		`solver.size.largest[nvidia.com/gpu]: only cpu and memory can be bounded: "1"`,
		`solver.workloadShare: must be a percentage from 1 to 100, or 0 for no bound: "101"`,
	}
	_, solve := Planner{Policy: s}.Plan(t.Context(), p)
	_, explain := Planner{Policy: s}.Explain(p, &scheduling.Plan{})
	_, session := NewSession(s, p)
	for _, err := range []error{solve, explain, session} {
		have := faultsOf(t, err)
		require.Subset(t, have, want)
		require.Len(t, have, len(want)+1, have)
		require.Contains(t, strings.Join(have, "\n"), "solver.ranking.strategy: ")
	}
}
