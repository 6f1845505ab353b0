package compile

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ReadTopology reads the topology terms of pods that have to hold, the problem's default spread
// constraints among them: of each pod its terms, never nil, and the sorted numbers of the targets
// of these terms that the pod is among.
func ReadTopology(p *scheduling.Problem, pods []*corev1.Pod) (terms []*podspec.TopologyTerms, among [][]int32) {
	r := newBondReader(&Facts{Problem: p, Solver: &scheduling.Policy{Preferences: scheduling.PreferencesIgnore}})
	for _, pod := range pods {
		terms = append(terms, r.List[read(r, pod)])
	}
	for _, pod := range pods {
		among = append(among, r.Targets.Sets[r.Targets.Matched(podspec.NamespaceOf(pod), pod.Labels)])
	}
	return terms, among
}
