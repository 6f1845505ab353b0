package steer_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/steer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// newPlugin makes the plugin as a scheduler would.
func newPlugin(t *testing.T, p steer.Placements) *steer.Plugin {
	t.Helper()
	plugin, err := steer.New(p)(t.Context(), nil, nil)
	require.NoError(t, err)
	require.IsType(t, &steer.Plugin{}, plugin)
	require.Equal(t, steer.Name, plugin.Name())
	return plugin.(*steer.Plugin)
}

// infos are nodes as the scheduler hands them to plugins.
func infos(nodes ...*corev1.Node) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for _, node := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(node)
		out = append(out, info)
	}
	return out
}

// launched is the node of a launch, which the provider has given a name of its own.
func launched(name, launch string) *corev1.Node {
	return st.Node(name, st.Label(steer.LaunchLabel, launch))
}

func TestPreFilter(t *testing.T) {
	placements := steer.Placements{"default/a": "node-0", "default/b": "default-1", "shop/c": "default-2"}
	tests := []struct {
		name  string
		pod   *corev1.Pod
		nodes []*corev1.Node
		code  fwk.Code
		want  []string
	}{
		{"a running node", st.Pod("a"), []*corev1.Node{st.Node("node-0"), st.Node("node-1")}, fwk.Success, []string{"node-0"}},
		{"the node of a launch", st.Pod("b"), []*corev1.Node{st.Node("node-0"), launched("ip-10-0-0-7", "default-1")}, fwk.Success, []string{"ip-10-0-0-7"}},
		{"a node that is named like its launch", st.Pod("b"), []*corev1.Node{st.Node("default-1")}, fwk.Success, []string{"default-1"}},
		{"a launch that was bought twice", st.Pod("b"), []*corev1.Node{launched("x", "default-1"), launched("y", "default-1")}, fwk.Success, []string{"x", "y"}},
		{"another namespace", st.Pod("c", st.Namespace("shop")), []*corev1.Node{launched("x", "default-2")}, fwk.Success, []string{"x"}},
		{"not planned", st.Pod("c"), []*corev1.Node{launched("x", "default-2")}, fwk.Skip, nil},
		{"not joined yet", st.Pod("b"), []*corev1.Node{st.Node("node-0"), launched("x", "default-2")}, fwk.UnschedulableAndUnresolvable, nil},
		{"no nodes at all", st.Pod("a"), nil, fwk.UnschedulableAndUnresolvable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, status := newPlugin(t, placements).PreFilter(t.Context(), framework.NewCycleState(), tt.pod, infos(tt.nodes...))
			require.Equal(t, tt.code, status.Code())
			if tt.want == nil {
				require.Nil(t, result)
				return
			}
			require.ElementsMatch(t, tt.want, result.NodeNames.UnsortedList())
		})
	}
}

// A waiting pod is woken by its own machine and by no other.
func TestQueueingHint(t *testing.T) {
	events, err := newPlugin(t, steer.Placements{"default/a": "default-1"}).EventsToRegister(t.Context())
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, fwk.Node, events[0].Event.Resource)
	require.Equal(t, fwk.Add|fwk.UpdateNodeLabel, events[0].Event.ActionType)

	tests := []struct {
		name string
		pod  *corev1.Pod
		node any
		want fwk.QueueingHint
	}{
		{"its machine joins", st.Pod("a"), launched("x", "default-1"), fwk.Queue},
		{"another machine joins", st.Pod("a"), launched("x", "default-2"), fwk.QueueSkip},
		{"a pod that is not planned", st.Pod("b"), launched("x", "default-2"), fwk.Queue},
	}
	for _, tt := range tests {
		hint, err := events[0].QueueingHintFn(klog.Background(), tt.pod, nil, tt.node)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, hint, tt.name)
	}
	hint, err := events[0].QueueingHintFn(klog.Background(), st.Pod("a"), nil, st.Pod("b"))
	require.EqualError(t, err, "expected a node, got *v1.Pod")
	require.Equal(t, fwk.Queue, hint, "rather once too often than never")
}

func TestFromPlan(t *testing.T) {
	plan := &scheduling.Plan{
		Launches: []scheduling.Launch{
			{Name: "default-1", Pods: []string{"default/a", "default/b"}}, {Name: "default-2", Pods: []string{"shop/a"}},
		},
		Existing:      []scheduling.Assignment{{Node: "node-0", Pods: []string{"default/c"}}},
		Unschedulable: []scheduling.Unschedulable{{Pod: "default/d"}},
	}
	require.Equal(t, steer.Placements{
		"default/a": "default-1", "default/b": "default-1", "shop/a": "default-2", "default/c": "node-0",
	}, steer.FromPlan(plan))
	require.Empty(t, steer.FromPlan(&scheduling.Plan{}))
}
