package nodegroups_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/nodegroups"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// removed are the nodes that a plan removes, in their order.
func removed(plan *nodegroups.ScaleDown) (out []string) {
	for _, r := range plan.Removals {
		out = append(out, r.Node)
	}
	return out
}

// kept are the nodes that stay, with the reason.
func kept(plan *nodegroups.ScaleDown) map[string]string {
	out := map[string]string{}
	for _, u := range plan.Unremovable {
		out[u.Node] = string(u.Reason)
		if u.PodReason != "" {
			out[u.Node] += " " + string(u.PodReason)
		}
	}
	return out
}

// cheap is a world whose nodes of 4 cores are in a group, with room for all pods on a node outside of it.
func cheap() *world {
	w := newWorld(group("small", 9, template("small", "a", 4, "0.2")))
	big := template("big", "a", 64, "2")
	big.Name = "outside"
	w.Problem.Nodes = append(w.Problem.Nodes, big)
	return w
}

func TestScaleDownRemovesUnneededNodes(t *testing.T) {
	w := cheap()
	w.join(0, 1)        // empty
	w.join(0, 1, 1000)  // a quarter is requested
	w.join(0, 1, 3000)  // three quarters are
	w.Groups[0].Min = 1 // the last one stays anyway
	plan := w.down(t, nodegroups.Planner{})
	assert.Equal(t, []string{"small-0", "small-1"}, removed(plan))
	assert.Equal(t, map[string]string{"outside": "NotAutoscaled", "small-2": "NotUnderutilized"}, kept(plan))
	assert.Equal(t, "utilization 0.75 is not below 0.50", plan.Unremovable[1].Detail)
	assert.Equal(t, []string{"small:3→1"}, sizes(plan.Resizes))
	assert.Equal(t, "removes 2 nodes", plan.Resizes[0].Reason)
	assert.Equal(t, "0.4", plan.SavingPerHour.String())
	assert.InDelta(t, 0.25, plan.Removals[1].Utilization, 1e-9)
	assert.Equal(t, "default/small-1-0", plan.Plan.Steps[plan.Removals[1].Step-1].Evictions[0].Pod)

	plan = w.down(t, nodegroups.Planner{ScaleDownSettings: nodegroups.ScaleDownSettings{UtilizationThreshold: 1}})
	assert.Len(t, plan.Removals, 2, "the minimum size holds")
	assert.Equal(t, nodegroups.NodeGroupMinSizeReached, plan.Unremovable[1].Reason)
}

// Groups cannot exchange nodes, unless the caller allows it.
func TestScaleDownNeverReplacesNodes(t *testing.T) {
	w := newWorld(group("big", 9, template("big", "a", 16, "0.8")), group("small", 9, template("small", "a", 4, "0.2")))
	w.join(0, 1, 3000)
	plan := w.down(t, nodegroups.Planner{})
	assert.Empty(t, plan.Removals)
	assert.Equal(t, map[string]string{"big-0": "NoPlaceToMovePods"}, kept(plan))
	plan = w.down(t, nodegroups.Planner{ScaleDownSettings: nodegroups.ScaleDownSettings{Replace: true}})
	assert.Equal(t, []string{"big-0"}, removed(plan))
	assert.Equal(t, []string{"big:1→0", "small:0→1"}, sizes(plan.Resizes))
	assert.Equal(t, "0.6", plan.SavingPerHour.String())
}

func TestScaleDownKeepsNodes(t *testing.T) {
	type change func(w *world, node *corev1.Node, pod *corev1.Pod)
	annotate := func(key, value string) change {
		return func(_ *world, _ *corev1.Node, pod *corev1.Pod) { pod.Annotations = map[string]string{key: value} }
	}
	volume := func(_ *world, _ *corev1.Node, pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	system := func(_ *world, _ *corev1.Node, pod *corev1.Pod) { pod.Namespace = metav1.NamespaceSystem }
	bare := func(_ *world, _ *corev1.Node, pod *corev1.Pod) { pod.OwnerReferences = nil }
	budget := func(allowed int) change {
		return func(w *world, _ *corev1.Node, pod *corev1.Pod) {
			pod.Labels = map[string]string{"app": "web"}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			most := intstr.FromInt(allowed)
			w.PodDisruptionBudgets = append(w.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: pod.Namespace},
				Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &most, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}},
			})
		}
	}
	all := func(changes ...change) change {
		return func(w *world, node *corev1.Node, pod *corev1.Pod) {
			for _, c := range changes {
				c(w, node, pod)
			}
		}
	}
	const safe, volumes = "cluster-autoscaler.kubernetes.io/safe-to-evict", "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	for _, tc := range []struct {
		name     string
		change   change
		settings nodegroups.ScaleDownSettings
		want     string // "" for a node that goes
	}{
		{name: "idle", change: all()},
		{name: "annotated node", want: "ScaleDownDisabledAnnotation", change: func(_ *world, node *corev1.Node, _ *corev1.Pod) {
			node.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
		}},
		{name: "being removed", want: "CurrentlyBeingDeleted", change: func(_ *world, node *corev1.Node, _ *corev1.Pod) {
			node.Spec.Taints = []corev1.Taint{{Key: "ToBeDeletedByClusterAutoscaler", Effect: corev1.TaintEffectNoSchedule}}
		}},
		{name: "not safe", want: "BlockedByPod NotSafeToEvictAnnotation", change: annotate(safe, "false")},
		{name: "local storage", want: "BlockedByPod LocalStorageRequested", change: volume},
		{name: "local storage, safe", change: all(volume, annotate(safe, "true"))},
		{name: "local storage, volume safe", change: all(volume, annotate(volumes, "data, cache"))},
		{name: "local storage, other volume safe", want: "BlockedByPod LocalStorageRequested", change: all(volume, annotate(volumes, "data"))},
		{name: "local storage allowed", change: volume, settings: nodegroups.ScaleDownSettings{LocalStorage: true}},
		{name: "bare", want: "BlockedByPod NotReplicated", change: bare},
		{name: "bare, safe", change: all(bare, annotate(safe, "true"))},
		{name: "bare allowed", change: bare, settings: nodegroups.ScaleDownSettings{BarePods: true}},
		{name: "system", want: "BlockedByPod UnmovableKubeSystemPod", change: system},
		{name: "system with budget", change: all(system, budget(1))},
		{name: "system allowed", change: system, settings: nodegroups.ScaleDownSettings{SystemPods: true}},
		{name: "budget", want: "BlockedByPod NotEnoughPdb", change: budget(0)},
		{name: "no place", want: "NoPlaceToMovePods", change: func(_ *world, _ *corev1.Node, pod *corev1.Pod) {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "small"}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := cheap()
			w.join(0, 1, 1000)
			tc.change(w, w.Problem.Nodes[1], w.Problem.Running[0])
			plan := w.down(t, nodegroups.Planner{ScaleDownSettings: tc.settings})
			assert.Equal(t, tc.want, kept(plan)["small-0"])
			assert.Len(t, plan.Removals, map[bool]int{true: 1}[tc.want == ""])
		})
	}
}

// DaemonSets' pods and ended pods keep no node, and count for utilization as the settings say.
func TestUtilization(t *testing.T) {
	node := template("small", "a", 4, "0.2")
	pods := []*corev1.Pod{
		st.Pod("web", st.Requests(st.Cores(1), st.GiB(8))), st.Pod("agent", st.Requests(st.Cores(2)), st.OwnedByDaemonSet("agent")),
		st.Pod("done", st.Requests(st.Cores(4)), st.PodPhase(corev1.PodSucceeded)), nil,
	}
	assert.InDelta(t, 0.75, nodegroups.Utilization(node, pods, false), 1e-9)
	assert.InDelta(t, 0.5, nodegroups.Utilization(node, pods, true), 1e-9)
	node.Status.Allocatable["nvidia.com/gpu"] = st.Resources(st.Count("nvidia.com/gpu", 4))["nvidia.com/gpu"]
	assert.Zero(t, nodegroups.Utilization(node, pods, false), "nodes with GPUs count by GPUs")
	assert.Zero(t, nodegroups.Utilization(nil, nil, false))
	assert.Zero(t, nodegroups.Utilization(&corev1.Node{}, pods, false))
}

// An atomic group goes as a whole, or stays.
func TestScaleDownOfAtomicGroups(t *testing.T) {
	for want, change := range map[string]func(*world){
		"":                                  func(*world) {},
		"NodeGroupMinSizeReached":           func(w *world) { w.Groups[1].Min = 3 },
		"AtomicScaleDownFailed: not joined": func(w *world) { w.Groups[1].Target++ },
		"AtomicScaleDownFailed: another node": func(w *world) {
			w.Problem.Running[2].Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
		},
		"AtomicScaleDownFailed: do not all fit": func(w *world) { w.run("filler", "outside", 62500) },
		"AtomicScaleDownFailed: budget of the pod": func(w *world) {
			none, pod := intstr.FromInt(0), w.Problem.Running[1]
			pod.Labels = map[string]string{"app": "guarded"}
			w.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{
				ObjectMeta: metav1.ObjectMeta{Name: "guarded", Namespace: pod.Namespace},
				Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}},
			}}
		},
	} {
		w := cheap()
		w.Groups = append(w.Groups, nodegroups.Group{ID: "slice", Max: 3, Template: template("slice", "a", 4, "0.5"), Atomic: true})
		w.join(1, 3, 1000)
		change(w)
		plan := w.down(t, nodegroups.Planner{})
		if want == "" {
			assert.ElementsMatch(t, []string{"slice-0", "slice-1", "slice-2"}, removed(plan))
			assert.Equal(t, []string{"slice:3→0"}, sizes(plan.Resizes))
			assert.True(t, plan.Removals[0].Atomic)
			continue
		}
		assert.Empty(t, plan.Removals, want)
		for _, u := range plan.Unremovable {
			if u.Group == "slice" && u.PodReason == "" {
				assert.Contains(t, want, u.Reason, u.Detail)
			}
		}
	}
}

// Nodes that are under way count for the minimum size.
func TestScaleDownCountsNodesUnderWay(t *testing.T) {
	w := cheap()
	w.join(0, 2)
	w.Groups[0].Min = 2
	assert.Empty(t, w.down(t, nodegroups.Planner{}).Removals)
	w.Groups[0].Target++
	plan := w.down(t, nodegroups.Planner{})
	require.Len(t, plan.Removals, 1)
	assert.Equal(t, []string{"small:3→2"}, sizes(plan.Resizes))
	assert.Equal(t, "NodeGroupMinSizeReached", kept(plan)[fmt.Sprintf("small-%d", map[string]int{"small-0": 1, "small-1": 0}[plan.Removals[0].Node])])
}
