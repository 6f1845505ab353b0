package oracle_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The library's model of kube-scheduler's default profile predicts the choice of kube-scheduler for at least 99 of 100
// pods for which one node scores highest, or none is feasible. Where several nodes score highest, kube-scheduler takes
// one of them.
func TestAgreement(t *testing.T) {
	size := st.Size{Pods: 60, Nodes: 16, Zones: 4}
	few := func(seed uint64, _ st.Size) scheduling.Problem { return crowded(seed, 5+int(seed%30)) } //nolint:gosec // it is small
	const device = "example.com/device"
	shaped := func(seed uint64, size st.Size) scheduling.Problem {
		p := few(seed, size)
		p.Scheduler.Scoring = scheduling.ScoringStrategy{
			Type:      scheduling.RequestedToCapacityRatio,
			Resources: []scheduling.ResourceWeight{{Name: corev1.ResourceCPU, Weight: 3}, {Name: corev1.ResourceMemory}, {Name: device, Weight: 5}},
			Shape:     []scheduling.UtilizationShapePoint{{Utilization: 10, Score: int32(seed % 3)}, {Utilization: 60, Score: 10}, {Utilization: 95, Score: 4}}, //nolint:gosec // it is small
		}
		for i, n := range p.Nodes {
			n.Status.Allocatable[device] = *resource.NewQuantity(int64(i%4), resource.DecimalSI)
		}
		for _, pod := range p.Pods[:len(p.Pods)/2] {
			requests := corev1.ResourceList{device: resource.MustParse("1")}
			maps.Copy(requests, pod.Spec.Containers[0].Resources.Requests)
			pod.Spec.Containers[0].Resources.Requests = requests
		}
		return p
	}
	for _, run := range []struct {
		name    string
		problem func(seed uint64, size st.Size) scheduling.Problem
		seeds   uint64
	}{{"plain", st.Random, 60}, {"corners", spiced, 60}, {"ties", tied, 60}, {"ties and corners", spicedTies, 60}, {"crowded", few, 120}, {"shaped", shaped, 60}} {
		if testing.Short() {
			run.seeds /= 6
		}
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			var a agreement
			for seed := range run.seeds {
				a.oneByOne(t, fmt.Sprintf("seed %d", seed), run.problem(seed, size))
			}
			a.judge(t)
		})
	}
}

// The model also agrees on clusters so large that kube-scheduler scores only some of the nodes, and where the model is
// asked once for the whole queue.
func TestAgreementOnManyNodes(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 1
	}
	var a agreement
	for seed := range seeds {
		a.wholeQueue(t, fmt.Sprintf("seed %d", seed), crowded(seed, 110+int(seed%4)*60)) //nolint:gosec // it is small
	}
	a.judge(t)
}

// agreement counts on how many pods the library's model of kube-scheduler and
// kube-scheduler agree.
type agreement struct {
	alike, unlike int // where kube-scheduler has one node to choose, or none
	drawn, missed int // where it has several: the model takes one of them, or another
	found         []string
}

// judge reports the counts, and fails if too many are unlike.
func (a *agreement) judge(t *testing.T) {
	t.Helper()
	t.Logf("%d alike, %d not (%.2f %%); where nodes score alike, one of them %d times, another %d times",
		a.alike, a.unlike, 100*float64(a.alike)/float64(max(a.alike+a.unlike, 1)), a.drawn, a.missed)
	found := strings.Join(a.found[:min(len(a.found), 20)], "\n")
	assert.NotZero(t, a.alike)
	assert.LessOrEqual(t, 99*a.unlike, a.alike, found)
	assert.LessOrEqual(t, 99*a.missed, a.drawn+a.alike, found)
}

// note counts a pod for which kube-scheduler may choose one of several nodes and the model expects b.
func (a *agreement) note(name string, choices []string, b provisioning.Binding) {
	right := b.Node == "" && len(choices) == 0 || slices.Contains(choices, b.Node)
	right = right && b.Drawn == (len(choices) > 1)
	switch {
	case right && b.Drawn:
		a.drawn++
	case right:
		a.alike++
	case len(choices) > 1:
		a.missed++
	default:
		a.unlike++
	}
	if !right {
		a.found = append(a.found, fmt.Sprintf("%s: pod %s: one of %q, and the model says %q (drawn: %v)", name, b.Pod, choices, b.Node, b.Drawn))
	}
}

// oneByOne has kube-scheduler bind the pods one after the other, and asks the model about each with the bindings so
// far.
func (a *agreement) oneByOne(t *testing.T, name string, p scheduling.Problem) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := oracle.NewSchedulerFor(ctx, &p)
	require.NoError(t, err)
	q, pods := standing(t, s, p)
	for _, pod := range pods {
		choices, err := s.Choices(ctx, pod)
		require.NoError(t, err)
		a.note(name, choices, expected(t, q, pod)[0])
		if len(choices) > 0 {
			require.NoError(t, s.Bind(pod, choices[0]))
			running := pod.DeepCopy()
			running.Spec.NodeName = choices[0]
			q.Running = append(q.Running, running)
		}
	}
}

// wholeQueue asks the model about the whole queue, and about the rest of it again, with a new scheduler, whenever the
// two bind a pod to different nodes.
func (a *agreement) wholeQueue(t *testing.T, name string, p scheduling.Problem) {
	t.Helper()
	for len(p.Pods) > 0 {
		p = a.untilApart(t, name, p)
	}
}

// untilApart binds pods until kube-scheduler and the model bind one to different nodes, and returns the problem with
// the pods that are still pending.
func (a *agreement) untilApart(t *testing.T, name string, p scheduling.Problem) scheduling.Problem {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := oracle.NewSchedulerFor(ctx, &p)
	require.NoError(t, err)
	q, pods := standing(t, s, p)
	byName := map[string]*corev1.Pod{}
	for _, pod := range pods {
		byName[scheduling.PodName(pod)] = pod
	}
	q.Pods = nil
	apart := false
	for _, b := range expected(t, q, pods...) {
		pod := byName[b.Pod.String()]
		if apart {
			q.Pods = append(q.Pods, pod)
			continue
		}
		node, _, err := s.Schedule(ctx, pod)
		require.NoError(t, err)
		if b.Drawn {
			a.drawn++
		} else {
			a.note(name, slices.DeleteFunc([]string{node}, func(name string) bool { return name == "" }), b)
		}
		apart = node != b.Node
		if node != "" {
			running := pod.DeepCopy()
			running.Spec.NodeName = node
			q.Running = append(q.Running, running)
		}
	}
	return q
}

// expected returns the bindings that the model expects for pods.
func expected(t *testing.T, p scheduling.Problem, pods ...*corev1.Pod) []provisioning.Binding {
	t.Helper()
	p.Pods = pods
	bound, err := provisioning.Bind(p, 1)
	require.NoError(t, err)
	require.Len(t, bound, len(pods))
	return bound
}

// standing puts a problem's nodes into a scheduler, ready and with their DaemonSet pods, and returns the problem with
// these and the pods as an API server has them. Left out are objects that the model does not cover: nodes that are
// being removed but admit pods, pods with scheduling gates, and pods with claims.
func standing(t *testing.T, s *oracle.Scheduler, p scheduling.Problem) (scheduling.Problem, []*corev1.Pod) {
	t.Helper()
	p.Nodes = slices.DeleteFunc(slices.Clone(p.Nodes), func(n *corev1.Node) bool {
		return n.DeletionTimestamp != nil || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == scheduling.DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
		})
	})
	p.Pods = slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		})
	})
	var none scheduling.Plan
	for _, pod := range p.Pods {
		none.Unschedulable = append(none.Unschedulable, scheduling.Unschedulable{Pod: scheduling.PodName(pod)})
	}
	c, err := oracle.CarryOut(&p, &none, nil)
	require.NoError(t, err)
	p.Nodes, p.Running = nil, nil
	for i := range c.Nodes {
		n := &c.Nodes[i]
		require.NoError(t, s.AddNode(n.Node))
		p.Nodes = append(p.Nodes, n.Node)
		for _, pod := range slices.Concat(n.Running, n.Daemons) {
			require.NoError(t, s.Bind(pod, n.Name))
			p.Running = append(p.Running, pod)
		}
	}
	return p, c.Left
}
