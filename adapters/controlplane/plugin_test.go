package controlplane

import (
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
)

// bindsAsPlanned plans new nodes for pods of the Deployments, launches them, and creates the pods with the annotations of the
// plan and [PlannedScheduler] as their scheduler: each is bound to its planned node, though all nodes have room for others.
func (x *cluster) bindsAsPlanned(deployments ...string) {
	ctx := x.t.Context()
	pods := map[string]*corev1.Pod{}
	for _, name := range deployments {
		d, err := x.Client.AppsV1().Deployments("default").Get(ctx, name, metav1.GetOptions{})
		require.NoError(x.t, err)
		for _, pod := range podsOf(d, 5) {
			// Not the labels of the Deployment, whose controller would take the pod over.
			pod.Labels, pod.Spec.TopologySpreadConstraints = nil, nil
			pods[pod.Namespace+"/"+pod.Name] = pod
		}
	}
	want := map[string]string{}
	plan := x.plan(slices.Collect(maps.Values(pods)))
	require.Greater(x.t, len(plan.Launches), 1)
	for _, l := range plan.Launches {
		l.StartupTaints = nil // no controller would remove it
		node, err := x.cloud.Launch(ctx, controller.Order{ID: "planned-" + l.Name, Option: l.Options[0], Launch: l})
		require.NoError(x.t, err)
		for _, pod := range l.Pods {
			want[pod] = node
		}
	}
	x.eventually("kube-scheduler knows the nodes", func() bool { return x.daemonsRunOn(len(plan.Launches)) })
	at := time.Now().UTC().Format(time.RFC3339)
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := pods[name]
		pod.Spec.SchedulerName = PlannedScheduler
		pod.Annotations = map[string]string{controller.PlannedNodeAnnotation: want[name], controller.PlannedAtAnnotation: at}
		_, err := x.Client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		require.NoError(x.t, err)
	}
	got := map[string]string{}
	x.eventually("all pods have a node", func() bool {
		for _, pod := range x.pods() {
			got[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName
		}
		return !slices.Contains(slices.Collect(maps.Values(got)), "")
	})
	require.Equal(x.t, want, got)
}

// daemonsRunOn reports whether pods of DaemonSets run on so many nodes. kube-scheduler has bound them, so that it knows the nodes.
func (x *cluster) daemonsRunOn(nodes int) bool {
	list, err := x.Client.CoreV1().Pods(metav1.NamespaceSystem).List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	on := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].Status.Phase == corev1.PodRunning {
			on[list.Items[i].Spec.NodeName] = true
		}
	}
	return len(on) >= nodes
}
