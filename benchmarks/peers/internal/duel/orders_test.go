package duel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestUnlucky(t *testing.T) {
	core := st.Requests(st.Cores(1))
	web := []st.PodOption{core, st.Label("app", "web")}
	spread := append([]st.PodOption{st.Spread(corev1.LabelTopologyZone)}, web...)
	near := append([]st.PodOption{st.Near(corev1.LabelTopologyZone)}, web...)
	a, b, c := st.Pod("a", spread...), st.Pod("b", web...), st.Pod("c", core)
	for name, tc := range map[string]struct {
		pods     []*corev1.Pod
		machines func(p scheduling.Problem) []peer.Machine
		want     string
	}{
		"the pod that spreads has to come first": {[]*corev1.Pod{a, b, c}, func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1), machine(p, "heavy", 1, 2)}
		}, "topology-spread"},
		"it comes first for its priority": {[]*corev1.Pod{st.Pod("a", append(spread, st.Priority(5))...), b, c}, func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1), machine(p, "heavy", 1, 2)}
		}, ""},
		"there is one zone": {[]*corev1.Pod{a, b, c}, func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0, 1), machine(p, "heavy", 0, 2)}
		}, ""},
		"the pod that opens a zone for its kind has to come first": {[]*corev1.Pod{st.Pod("a", near...), b}, func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0), machine(p, "heavy", 1, 1)}
		}, "pod-affinity"},
		"nothing is tied": {[]*corev1.Pod{b, c}, func(p scheduling.Problem) []peer.Machine {
			return []peer.Machine{machine(p, "heavy", 0, 0), machine(p, "heavy", 1, 1)}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := fixture(tc.pods...)
			plan := peer.Outcome{Machines: tc.machines(p)}.Plan(p)
			require.Empty(t, Broken(p, peer.Outcome{Machines: tc.machines(p)}, Settings{}.solver()), "in the order of names all pods bind")
			before := podNames(p)
			got := unlucky(p, plan, Settings{}.solver())
			if tc.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, tc.want)
			}
			assert.Equal(t, before, podNames(p), "the problem keeps its names")
		})
	}
}

func podNames(p scheduling.Problem) (out []string) {
	for _, pod := range p.Pods {
		out = append(out, scheduling.PodName(pod))
	}
	return out
}
