package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func newScheduler(t *testing.T) *oracle.Scheduler {
	t.Helper()
	s, err := oracle.NewScheduler(t.Context())
	require.NoError(t, err)
	return s
}

// mustAdmit asks about a pod, and fails the test if the scheduler returns an error.
func mustAdmit(t *testing.T, s *oracle.Scheduler, pod *corev1.Pod, node string) *oracle.Refusal {
	t.Helper()
	refusal, err := s.Admit(t.Context(), pod, node)
	require.NoError(t, err)
	return refusal
}

// Every default filter that looks at one node can refuse a pod.
func TestAdmit(t *testing.T) {
	room := st.Allocatable(st.Cores(4), st.GiB(8))
	tests := []struct {
		name    string
		node    *corev1.Node
		running []*corev1.Pod
		pod     *corev1.Pod
		plugin  string // that refuses; "" if none does
	}{
		{name: "fits", node: st.Node("a", room), pod: st.Pod("p", st.Requests(st.Cores(4), st.GiB(8)))},
		{name: "too much cpu", node: st.Node("a", room), pod: st.Pod("p", st.Requests(st.MilliCPU(4001))), plugin: "NodeResourcesFit"},
		{
			name: "too much cpu beside another", node: st.Node("a", room), plugin: "NodeResourcesFit",
			running: []*corev1.Pod{st.Pod("q", st.OnNode("a"), st.Requests(st.MilliCPU(1)))},
			pod:     st.Pod("p", st.Requests(st.Cores(4))),
		},
		{
			name: "no pod slot", node: st.Node("a", st.Allocatable(st.Cores(4), st.Count(corev1.ResourcePods, 1))), plugin: "NodeResourcesFit",
			running: []*corev1.Pod{st.Pod("q", st.OnNode("a"))}, pod: st.Pod("p"),
		},
		{name: "taint", node: st.Node("a", room, st.Taint("k", "v", corev1.TaintEffectNoSchedule)), pod: st.Pod("p"), plugin: "TaintToleration"},
		{
			name: "tolerated taint", node: st.Node("a", room, st.Taint("k", "v", corev1.TaintEffectNoSchedule)),
			pod: st.Pod("p", st.Tolerate("k", "v", "")),
		},
		{
			name: "taint tolerated as a number", node: st.Node("a", room, st.Taint("k", "7", corev1.TaintEffectNoSchedule)),
			pod: st.Pod("p", st.Toleration(corev1.Toleration{Key: "k", Operator: corev1.TolerationOpLt, Value: "8"})),
		},
		{name: "taint that prefers", node: st.Node("a", room, st.Taint("k", "v", corev1.TaintEffectPreferNoSchedule)), pod: st.Pod("p")},
		{name: "selector", node: st.Node("a", room), pod: st.Pod("p", st.Select("k", "v")), plugin: "NodeAffinity"},
		{name: "affinity", node: st.Node("a", room), pod: st.Pod("p", st.Where(st.In(corev1.LabelHostname, "b"))), plugin: "NodeAffinity"},
		{name: "another node by name", node: st.Node("a", room), pod: named(st.Pod("p"), "b"), plugin: "PreFilter"},
		{
			name: "port", node: st.Node("a", room), plugin: "NodePorts",
			running: []*corev1.Pod{st.Pod("q", st.OnNode("a"), st.HostPort(80))}, pod: st.Pod("p", st.HostPort(80)),
		},
		{name: "cordoned", node: st.Node("a", room, st.Cordoned()), pod: st.Pod("p"), plugin: "NodeUnschedulable"},
	}
	s := newScheduler(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, s.Reset())
			require.NoError(t, s.AddNode(tt.node))
			for _, pod := range tt.running {
				require.NoError(t, s.Bind(pod, "a"))
			}
			refusal := mustAdmit(t, s, tt.pod, "a")
			if tt.plugin == "" {
				require.Nil(t, refusal)
				return
			}
			require.NotNil(t, refusal)
			assert.Equal(t, tt.plugin, refusal.Plugin)
			assert.NotEmpty(t, refusal.Reason)
			assert.False(t, refusal.Failed)
		})
	}
}

// named lets a pod go to the node of one name only.
func named(pod *corev1.Pod, node string) *corev1.Pod {
	addTerms(&pod.Spec, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
		Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
	}}})
	return pod
}

// Pods and nodes that were removed no longer count.
func TestUnbindAndRemove(t *testing.T) {
	s := newScheduler(t)
	full := st.Pod("full", st.Requests(st.Cores(4)))
	require.NoError(t, s.AddNode(st.Node("a", st.Allocatable(st.Cores(4)))))
	require.NoError(t, s.Bind(full, "a"))
	require.Empty(t, full.Spec.NodeName, "the caller's pod is left alone")
	require.NotNil(t, mustAdmit(t, s, st.Pod("p", st.Requests(st.Cores(1))), "a"))

	require.NoError(t, s.Unbind(full))
	require.Nil(t, mustAdmit(t, s, st.Pod("p", st.Requests(st.Cores(1))), "a"))

	require.NoError(t, s.Bind(full, "a"))
	require.NoError(t, s.RemoveNode("a"))
	require.NoError(t, s.AddNode(st.Node("a", st.Allocatable(st.Cores(4)))))
	require.Nil(t, mustAdmit(t, s, full, "a"))

	require.NoError(t, s.Reset())
	_, err := s.Admit(t.Context(), full, "a")
	require.ErrorContains(t, err, "node a")
}
