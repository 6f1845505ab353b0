package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Smallest problems about which plan and kube-scheduler once differed, or might.
func TestRegressions(t *testing.T) {
	const dedicated = "example.com/dedicated"
	small := st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2)))
	tests := []struct {
		name    string
		problem scheduling.Problem
		placed  int
	}{
		{
			// A pod that only prefers other nodes uses the room beside one that does not mind.
			name: "room on a machine with a taint that prefers", placed: 2,
			problem: scheduling.Problem{
				Catalog: st.MustCatalog(st.Type("m8", st.Capacity(st.Cores(4), st.GiB(16)), st.Reserved("zone-b", st.Cents(1), "cr", 1))),
				NodePools: []*scheduling.NodePool{
					st.NodePool("default", st.Taint(dedicated, "batch", corev1.TaintEffectPreferNoSchedule)),
				},
				Pods: []*corev1.Pod{
					st.Pod("minds", st.Requests(st.MilliCPU(100), st.MiB(7000))),
					st.Pod("tolerates", st.Requests(st.Cores(3), st.MiB(256)), st.TolerateKey(dedicated, "")),
				},
			},
		},
		{
			// The kubelet gives every node a host name.
			name: "a daemon on every node with a host name", placed: 4,
			problem: scheduling.Problem{
				Catalog: st.MustCatalog(small), NodePools: []*scheduling.NodePool{st.NodePool("default")},
				DaemonSets: []*daemonSet{st.DaemonSet("agent", st.Requests(st.MilliCPU(20)), st.Where(st.Exists(corev1.LabelHostname)))},
				Pods:       st.Pods(4, "web", st.Requests(st.MilliCPU(500), st.MiB(512))),
			},
		},
		{
			name: "a pod that wants some host name", placed: 1,
			problem: scheduling.Problem{
				Catalog: st.MustCatalog(small), NodePools: []*scheduling.NodePool{st.NodePool("default")},
				Pods: st.Pods(1, "web", st.Where(st.Exists(corev1.LabelHostname), st.NotIn(corev1.LabelHostname, "old"))),
			},
		},
		{
			name: "a pod that wants a certain host name", placed: 0,
			problem: scheduling.Problem{
				Catalog: st.MustCatalog(small), NodePools: []*scheduling.NodePool{st.NodePool("default")},
				Pods: st.Pods(1, "web", st.Select(corev1.LabelHostname, "old")),
			},
		},
		{
			name: "a pod that wants ready nodes", placed: 1,
			problem: scheduling.Problem{
				Catalog: st.MustCatalog(small), NodePools: []*scheduling.NodePool{st.NodePool("default")},
				Pods: st.Pods(1, "web", st.Select(scheduling.InitializedLabel, "true")),
			},
		},
		{
			// The daemon comes to the node in flight once that is ready, and takes its room.
			name: "a daemon that waits for a node in flight", placed: 1,
			problem: scheduling.Problem{
				Nodes: []*corev1.Node{inFlight(st.Node("node-0", st.OfPool("default")), st.Cores(2))},
				DaemonSets: []*daemonSet{
					st.DaemonSet("agent", st.Requests(st.MilliCPU(600)), st.Select(scheduling.InitializedLabel, "true")),
				},
				Pods: st.Pods(2, "web", st.Requests(st.Cores(1))),
			},
		},
		{
			name: "a sidecar that is being resized", placed: 0,
			problem: scheduling.Problem{
				Nodes: []*corev1.Node{st.Node("node-0", st.Allocatable(st.Cores(4), st.GiB(16)))},
				Running: []*corev1.Pod{
					resizedSidecar(st.Pod("old", st.OnNode("node-0"), st.Requests(st.Cores(2)), st.Sidecar(st.MilliCPU(500)))),
					st.Pod("other", st.OnNode("node-0"), st.Requests(st.MilliCPU(750))),
				},
				Pods: st.Pods(1, "web", st.Requests(st.MilliCPU(500))),
			},
		},
		{
			// A status without the resources of the container does not count.
			name: "a resize without its outcome", placed: 1,
			problem: scheduling.Problem{
				Nodes: []*corev1.Node{st.Node("node-0", st.Allocatable(st.Cores(4), st.GiB(16)))},
				Running: []*corev1.Pod{
					resizing(st.Pod("old", st.OnNode("node-0"), st.Requests(st.Cores(3))), corev1.ContainerStatus{
						Name: "main", AllocatedResources: st.Resources(st.MilliCPU(3900)),
					}),
				},
				Pods: st.Pods(1, "web", st.Requests(st.MilliCPU(500))),
			},
		},
		{
			// The node can never give the pod the requests of its spec.
			name: "a resize that is infeasible", placed: 1,
			problem: scheduling.Problem{
				Nodes: []*corev1.Node{st.Node("node-0", st.Allocatable(st.Cores(4), st.GiB(16)))},
				Running: []*corev1.Pod{
					infeasible(resizing(st.Pod("old", st.OnNode("node-0"), st.Requests(st.Cores(8))), corev1.ContainerStatus{
						Name: "main", AllocatedResources: st.Resources(st.Cores(3)),
						Resources: &corev1.ResourceRequirements{Requests: st.Resources(st.Cores(3))},
					})),
				},
				Pods: st.Pods(1, "web", st.Requests(st.MilliCPU(500))),
			},
		},
		{
			// Limits become requests when the daemon's pod is created.
			name: "a daemon with limits alone", placed: 1,
			problem: scheduling.Problem{
				Nodes:      []*corev1.Node{st.Node("node-0", st.Allocatable(st.Cores(2), st.GiB(4)))},
				DaemonSets: []*daemonSet{st.DaemonSet("agent", st.Limits(st.MilliCPU(600)))},
				Pods:       st.Pods(2, "web", st.Requests(st.Cores(1))),
			},
		},
	}
	s := newScheduler(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := solved(t, s, &tt.problem)
			require.Equal(t, tt.placed, plan.Summary.Placed, "%v", plan.Unschedulable)
		})
	}
}

// inFlight is a node that has joined but is not ready for pods yet.
func inFlight(node *corev1.Node, amounts ...st.ResourceAmount) *corev1.Node {
	node.Status.Allocatable = st.Resources(append(amounts, st.Count(corev1.ResourcePods, 110))...)
	node.Status.Capacity = node.Status.Allocatable
	delete(node.Labels, scheduling.InitializedLabel)
	return node
}

// resizing gives a pod's container a status.
func resizing(pod *corev1.Pod, status corev1.ContainerStatus) *corev1.Pod {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	return pod
}

// infeasible says that the kubelet has turned a resize down for good.
func infeasible(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible,
	})
	return pod
}

// resizedSidecar gives a pod's sidecar more than its spec asks for.
func resizedSidecar(pod *corev1.Pod) *corev1.Pod {
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.InitContainers[0].Name, AllocatedResources: st.Resources(st.MilliCPU(900)),
		Resources: &corev1.ResourceRequirements{Requests: st.Resources(st.MilliCPU(800))},
	}}
	return pod
}
