package duel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestNarrow(t *testing.T) {
	web := []st.PodOption{st.Requests(st.Cores(1)), st.Label("app", "web")}
	spread := append([]st.PodOption{st.Spread(corev1.LabelTopologyZone)}, web...)
	byHost := append([]st.PodOption{st.Spread(corev1.LabelHostname)}, web...)
	two := func(zones ...int) func(scheduling.Problem) []peer.Machine {
		return func(p scheduling.Problem) (out []peer.Machine) {
			for i, zone := range zones {
				out = append(out, machine(p, "heavy", zone, 2*i, 2*i+1))
			}
			return out
		}
	}
	for name, tc := range map[string]struct {
		pods     []*corev1.Pod
		machines func(scheduling.Problem) []peer.Machine
		change   func(*scheduling.Problem)
		narrow   bool
	}{
		"a third zone could hold them":    {st.Pods(4, "a", spread...), two(0, 1), nil, true},
		"all zones have some":             {st.Pods(6, "a", spread...), two(0, 1, 2), nil, false},
		"no pod spreads":                  {st.Pods(4, "a", web...), two(0, 1), nil, false},
		"hosts are not opened for nobody": {st.Pods(4, "a", append(byHost, st.Priority(1))...), two(0, 1), nil, false},
		"pools do not buy in the third zone": {st.Pods(4, "a", spread...), two(0, 1), func(p *scheduling.Problem) {
			p.NodePools = []*scheduling.NodePool{st.NodePool("heavy", st.Where(st.In(corev1.LabelTopologyZone, "z1", "z2")))}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := fixture(tc.pods...)
			plan := peer.Outcome{Machines: tc.machines(p)}.Plan(p)
			if tc.change != nil {
				tc.change(&p)
			}
			before := len(p.Nodes)
			got := unlucky(withEmptyDomains(p), plan, Settings{}.solver())
			assert.Equal(t, tc.narrow, got != "", got)
			assert.Len(t, p.Nodes, before, "the problem keeps its nodes")
		})
	}
}
