package schedulingtest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// SpotPolicies returns one or two random policies for the pods of a problem: of all pods, of those with a label that some pod
// has, or of a namespace. The same seed and pods give the same policies.
func SpotPolicies(p scheduling.Problem, seed uint64) []*scheduling.SpotPolicy {
	rng := rand.New(rand.NewPCG(seed, 60)) //nolint:gosec // tests need no secret
	pods := slices.Concat(p.Pods, p.Running)
	out := make([]*scheduling.SpotPolicy, 1+rng.IntN(2))
	for i := range out {
		policy := &scheduling.SpotPolicy{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
		policy.Spec.PodSelector = &metav1.LabelSelector{}
		if len(pods) > 0 {
			narrow(&policy.Spec, pods[rng.IntN(len(pods))], rng)
		}
		if rng.IntN(3) > 0 {
			policy.Spec.MaxSpotPercent = lo.ToPtr(int32(rng.IntN(101))) //nolint:gosec // at most 100
		}
		if policy.Spec.MaxSpotPercent == nil || rng.IntN(3) == 0 {
			policy.Spec.MinOnDemand = int32(1 + rng.IntN(6)) //nolint:gosec // at most 6
		}
		out[i] = policy
	}
	return out
}

// narrow makes a policy select, half of the time, only pods with a label or in the namespace of one pod.
func narrow(s *scheduling.SpotPolicySpec, pod *corev1.Pod, rng *rand.Rand) {
	switch keys := slices.Sorted(maps.Keys(pod.Labels)); rng.IntN(4) {
	case 0:
		s.Namespaces = []string{namespaceOr(pod.Namespace)}
	case 1:
		if len(keys) > 0 {
			key := keys[rng.IntN(len(keys))]
			s.PodSelector.MatchLabels = map[string]string{key: pod.Labels[key]}
		}
	}
}
