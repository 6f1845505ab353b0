package kubescheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// node is a node of some cores.
func node(name string, cores int64, opts ...st.NodeOption) *corev1.Node {
	return st.Node(name, append(opts, st.Allocatable(st.Cores(cores), st.GiB(32)))...)
}

// pod asks for some cores.
func pod(name string, cores int64, opts ...st.PodOption) *corev1.Pod {
	return st.Pod(name, append(opts, st.Requests(st.Cores(cores)))...)
}

// shop is a plan in which two small pods fill the small node, so that the large one is free for the large pod.
func shop() *scheduling.Plan {
	return &scheduling.Plan{Launches: []scheduling.Launch{
		{Name: "default-1", Pods: []string{"default/web-1", "default/web-2"}},
		{Name: "default-2", Pods: []string{"default/batch"}},
	}}
}

// planned is a source with a plan.
func planned(plan *scheduling.Plan, at time.Time) *kubescheduler.Plan {
	p := &kubescheduler.Plan{}
	p.Set(plan, at)
	return p
}

// Pods are bound where the plan says, in every mode.
func TestPodsAreBoundAsPlanned(t *testing.T) {
	for _, mode := range []kubescheduler.Mode{kubescheduler.Pinned, kubescheduler.Nominated, kubescheduler.Score} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			c := start(t, fmt.Sprintf("{mode: %s}", mode), planned(shop(), time.Now()))
			c.join(node("small", 2, st.Label(kubescheduler.LaunchLabel, "default-1")), node("large", 8, st.Label(kubescheduler.LaunchLabel, "default-2")))
			c.create(pod("web-1", 1), pod("web-2", 1), pod("batch", 8))
			c.bound(map[string]string{"web-1": "small", "web-2": "small", "batch": "large"})
			c.counts(map[string]int{"planned": 3})
		})
	}
}

// Without a plan kube-scheduler does as ever, and the large pod has no node.
func TestWithoutAPlan(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Pinned}", &kubescheduler.Plan{})
	c.join(node("small", 2), node("large", 8))
	c.create(pod("web-1", 1), pod("web-2", 1))
	c.bound(map[string]string{"web-1": "large", "web-2": "large"})
	c.create(pod("batch", 8))
	c.pending("batch", "Insufficient cpu")
	c.counts(map[string]int{"fallback/no_plan": 2})
}

// With Pinned, a pod waits for the node of its launch, and is bound when that joins or gets its label.
func TestPinnedPodsWaitForTheirNode(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Pinned}", planned(shop(), time.Now()))
	c.join(node("other", 8))
	c.create(pod("web-1", 1), pod("batch", 1), pod("stranger", 1))
	c.pending("web-1", "the node of launch default-1, which the plan chose, has not joined the cluster")
	c.pending("batch", "has not joined")
	c.bound(map[string]string{"stranger": "other"})
	c.join(node("small", 2, st.Label(kubescheduler.LaunchLabel, "default-1")))
	c.bound(map[string]string{"web-1": "small"})
	n := node("other", 8, st.Label(kubescheduler.LaunchLabel, "default-2"))
	_, err := c.client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.bound(map[string]string{"batch": "other"})
	c.counts(map[string]int{"planned": 2, "fallback/not_planned": 1})
}

// With Pinned, pods that wait are scheduled as ever once the plan is old.
func TestOldPlanIsNotFollowed(t *testing.T) {
	t.Parallel()
	plan := &kubescheduler.Plan{}
	c := start(t, "{mode: Pinned, maxAge: 10m}", plan)
	plan.Set(shop(), c.clock.read())
	c.join(node("other", 8), node("small", 1, st.Label(kubescheduler.LaunchLabel, "default-1")))
	c.create(pod("web-1", 1))
	c.bound(map[string]string{"web-1": "small"})
	c.create(pod("web-2", 1), pod("batch", 1))
	c.pending("batch", "has not joined")
	c.pending("web-2", "Insufficient cpu") // its node is full
	c.clock.pass(11 * time.Minute)
	c.bound(map[string]string{"batch": "other", "web-2": "other"})
	c.counts(map[string]int{"planned": 1, "fallback/old_plan": 2})
}

// With Pinned, a pod that waits follows the next plan at once.
func TestNextPlanIsFollowed(t *testing.T) {
	t.Parallel()
	plan := planned(shop(), time.Now())
	c := start(t, "{mode: Pinned}", plan)
	c.join(node("a", 8), node("b", 8))
	c.create(pod("batch", 1), pod("web-1", 1))
	c.pending("batch", "has not joined")
	c.pending("web-1", "has not joined")
	plan.Set(&scheduling.Plan{Existing: []scheduling.Assignment{{Node: "b", Pods: []string{"default/batch"}}, {Node: "gone", Pods: []string{"default/web-1"}}}}, time.Now())
	c.bound(map[string]string{"batch": "b"})
	c.counts(map[string]int{"planned": 1, "fallback/node_missing": 1})
}

// With Nominated, a pod that its planned node does not admit goes to another one, and evicts no pod.
func TestNominatedPodGoesElsewhereWhereItDoesNotFit(t *testing.T) {
	t.Parallel()
	plan := planned(&scheduling.Plan{Existing: []scheduling.Assignment{{Node: "full", Pods: []string{"default/first", "default/second"}}}}, time.Now())
	c := start(t, "{}", plan)
	c.join(node("full", 1), node("free", 8))
	c.create(pod("first", 1))
	c.bound(map[string]string{"first": "full"})
	c.create(pod("second", 1, st.Priority(1000)))
	c.bound(map[string]string{"first": "full", "second": "free"})
	c.counts(map[string]int{"planned": 1, "elsewhere/does_not_fit": 1})
}

// With Nominated, the planned node is found among many, of which kube-scheduler looks at a sample only, and equal pods are
// not bound to each other's nodes.
func TestNominatedNodeIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	plan := &scheduling.Plan{}
	var pods []*corev1.Pod
	want := map[string]string{}
	for i := range 12 {
		name, at := fmt.Sprintf("web-%d", i), fmt.Sprintf("node-%d", 311-23*i)
		plan.Existing = append(plan.Existing, scheduling.Assignment{Node: at, Pods: []string{"default/" + name}})
		pods, want[name] = append(pods, pod(name, 1)), at
	}
	c := start(t, "{mode: Nominated}", planned(plan, time.Now()))
	var nodes []*corev1.Node
	for i := range 312 {
		nodes = append(nodes, node(fmt.Sprintf("node-%d", i), 4))
	}
	c.join(nodes...)
	c.create(pods...)
	c.bound(want)
	c.counts(map[string]int{"planned": 12})
}

// With Score, the planned node is one score among others, and does not keep a pod from a node.
func TestScoredPodGoesElsewhere(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Score}", planned(&scheduling.Plan{Existing: []scheduling.Assignment{{Node: "full", Pods: []string{"default/web"}}}}, time.Now()))
	c.join(node("full", 1), node("free", 8))
	c.create(pod("web", 2))
	c.bound(map[string]string{"web": "free"})
	c.counts(map[string]int{"elsewhere/outscored": 1})
}

// annotated is a pod that is planned on a node.
func annotated(p *corev1.Pod, node string) *corev1.Pod {
	p.Annotations = map[string]string{controller.PlannedNodeAnnotation: node, controller.PlannedAtAnnotation: time.Now().UTC().Format(time.RFC3339)}
	return p
}

// With Pinned, pods whose node joins late do not take the room of the pods that are planned on a node which is up, though they have
// waited for longer.
func TestPodsOfALateNodeLeaveRoomToThoseOfOthers(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Pinned}", nil)
	up := node("up", 4, st.Taint(controller.StartupTaint().Key, "", corev1.TaintEffectNoSchedule))
	c.join(up)
	c.create(pod("late-1", 2), pod("late-2", 2), annotated(pod("web-1", 2), "up"), annotated(pod("web-2", 2), "up"))
	for _, name := range []string{"late-1", "late-2", "web-1", "web-2"} {
		c.pending(name, "untolerated taint")
	}
	open := up.DeepCopy()
	open.Spec.Taints = nil
	_, err := c.client.CoreV1().Nodes().Update(t.Context(), open, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.bound(map[string]string{"web-1": "up", "web-2": "up"})
	c.join(node("slow", 4))
	c.bound(map[string]string{"web-1": "up", "web-2": "up", "late-1": "slow", "late-2": "slow"})
	c.counts(map[string]int{"planned": 2, "fallback/not_planned": 2})
}

// With Pinned, a pod without a plan gets the room that planned pods leave over or give back. Pods of DaemonSets and pods of a higher
// priority take their room.
func TestRoomOfPlannedPodsIsKept(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Pinned}", nil)
	ssd := st.Select("disk", "ssd")
	c.join(node("up", 4))
	c.create(annotated(pod("web", 3, ssd), "up"))
	c.pending("web", "didn't match Pod's node affinity/selector")
	c.create(pod("late", 2))
	c.pending("late", "pending pods that are planned on the node need its room")
	c.create(pod("small", 1))
	c.bound(map[string]string{"small": "up"})
	require.NoError(t, c.client.CoreV1().Pods("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	c.bound(map[string]string{"late": "up"})

	c.create(annotated(pod("api", 1, ssd), "up"))
	c.pending("api", "didn't match Pod's node affinity/selector")
	c.create(pod("agent", 1, st.OwnedByDaemonSet("agent")))
	c.bound(map[string]string{"agent": "up"})

	c.join(node("other", 2))
	c.create(annotated(pod("cache", 2, ssd), "other"))
	c.pending("cache", "didn't match Pod's node affinity/selector")
	c.create(pod("urgent", 2, st.Priority(1)))
	c.bound(map[string]string{"urgent": "other"})
}

// Annotations of pods are a plan, also those that are written while the pod is pending.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	c := start(t, "{mode: Pinned}", nil)
	c.join(node("a", 1), node("b", 8), node("c", 8))
	on := func(p *corev1.Pod, node, at string) *corev1.Pod {
		p.Annotations = map[string]string{controller.PlannedNodeAnnotation: node, controller.PlannedAtAnnotation: at}
		return p
	}
	now := c.clock.read()
	c.create(on(pod("first", 1), "a", now.Format(time.RFC3339)))
	c.bound(map[string]string{"first": "a"})
	c.create(on(pod("second", 1), "a", now.Format(time.RFC3339)))
	c.pending("second", "Insufficient cpu")
	second := on(c.pod("second"), "c", now.Add(time.Minute).Format(time.RFC3339))
	_, err := c.client.CoreV1().Pods("default").Update(t.Context(), second, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.bound(map[string]string{"second": "c"})
	c.create(on(pod("old", 1), "a", now.Add(-time.Hour).Format(time.RFC3339)), on(pod("odd", 1), "a", "yesterday"), pod("none", 1))
	c.counts(map[string]int{"planned": 2, "fallback/old_plan": 1, "fallback/unreadable": 1, "fallback/not_planned": 1})
}
