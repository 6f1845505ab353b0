package lint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// A PodDisruptionBudget for which the advice was followed is found no more.
func TestBudgetAdviceHolds(t *testing.T) {
	labels := map[string]string{"app": "api"}
	pod := func(name string, ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: "n"},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		}
	}
	seen := map[Code]int{}
	for seed := range soak.Cases(100) {
		r := rand.New(rand.NewPCG(seed, 19)) //nolint:gosec // cases of a test
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		one, always := intstr.FromInt32(1), policyv1.AlwaysAllow
		value := intstr.FromInt32(r.Int32N(8))
		if r.IntN(2) == 0 {
			value = intstr.FromString(fmt.Sprint(r.IntN(101), "%"))
		}
		if r.IntN(2) == 0 {
			b.Spec.MaxUnavailable = &value
		} else {
			b.Spec.MinAvailable = &value
		}
		if r.IntN(3) == 0 {
			b.Spec.UnhealthyPodEvictionPolicy = &always
		}
		var c disruption.Cluster
		c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{b}
		for i := range 1 + r.IntN(6) {
			c.Running = append(c.Running, pod(fmt.Sprint("p-", i), []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[r.IntN(2)]))
		}
		for _, f := range budgets(&c) {
			seen[f.Code]++
			told := fmt.Sprintf("seed %d: %s: %s", seed, f.Message, f.Advice)
			if f.Code == BudgetUnready {
				require.Contains(t, f.Advice, "set spec.unhealthyPodEvictionPolicy to AlwaysAllow", told)
				b.Spec.UnhealthyPodEvictionPolicy = &always
			} else {
				require.Equal(t, len(c.Running) == 1, strings.HasPrefix(f.Advice, "run 2 replicas, and "), told)
				require.Regexp(t, "set spec.maxUnavailable to 1|replace spec.minAvailable by maxUnavailable: 1", f.Advice)
				b.Spec.MaxUnavailable, b.Spec.MinAvailable = &one, nil
				for i, p := range c.Running {
					c.Running[i] = pod(p.Name, corev1.ConditionTrue)
				}
			}
			require.Empty(t, budgets(&c), told)
		}
	}
	require.NotZero(t, seen[BudgetBlocks])
	require.NotZero(t, seen[BudgetUnready])
}
