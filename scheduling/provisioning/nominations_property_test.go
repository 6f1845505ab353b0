package provisioning_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ordered is the problem some time after a plan: most of its nodes are on their way and most of its pods nominated,
// some in their status. New pods are pending, some pods have ended, and some of the planned nodes have failed.
func ordered(t *testing.T, seed uint64, p scheduling.Problem, plan *scheduling.Plan, more []*corev1.Pod) scheduling.Problem {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 26))
	oneIn := func(n int) bool { return random.IntN(n) == 0 }
	p.Nodes, p.Nominated = slices.Clone(p.Nodes), map[types.NamespacedName]string{}
	names := map[string]string{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		name := "coming-" + l.Name
		node, err := l.Node(name, &l.Options[random.IntN(len(l.Options))], p.CatalogOf(l.NodePool))
		require.NoError(t, err)
		names[l.Name] = name
		if !oneIn(3) {
			delete(node.Labels, scheduling.InitializedLabel)
			delete(node.Labels, scheduling.RegisteredLabel)
		}
		switch random.IntN(12) {
		case 0:
			continue // it never comes
		case 1:
			node.DeletionTimestamp = &metav1.Time{Time: p.Now}
		}
		p.Nodes = append(p.Nodes, node)
	}
	status := map[types.NamespacedName]string{}
	for pod, at := range plan.Placements() {
		node := at.Node
		if at.Launch != nil {
			node = names[at.Launch.Name]
		}
		switch {
		case oneIn(5):
		case oneIn(3):
			status[pod] = node
		default:
			p.Nominated[pod] = node
		}
	}
	p.Pods = slices.Clone(p.Pods)
	for i, pod := range p.Pods {
		if oneIn(8) {
			pod = pod.DeepCopy()
			pod.Spec.Priority = new(int32)
			*pod.Spec.Priority = int32(random.IntN(5) - 2)
		}
		if node, ok := status[nameOf(pod)]; ok {
			pod = pod.DeepCopy()
			pod.Status.NominatedNodeName = node
		}
		p.Pods[i] = pod
	}
	p.Pods = slices.DeleteFunc(p.Pods, func(*corev1.Pod) bool { return oneIn(6) })
	p.Running = slices.DeleteFunc(slices.Clone(p.Running), func(*corev1.Pod) bool { return oneIn(6) })
	for i, pod := range p.Running {
		if len(p.Nodes) > 0 && oneIn(6) {
			p.Nominated[nameOf(pod)] = p.Nodes[random.IntN(len(p.Nodes))].Name
			if oneIn(3) {
				pod = pod.DeepCopy()
				pod.DeletionTimestamp = &metav1.Time{Time: p.Now}
				p.Running[i] = pod
			}
		}
	}
	for i, pod := range more {
		pod = pod.DeepCopy()
		pod.Name = fmt.Sprintf("late-%02d", i)
		if len(p.Nodes) > 0 && oneIn(4) {
			pod.Status.NominatedNodeName = p.Nodes[random.IntN(len(p.Nodes))].Name
		}
		p.Pods = append(p.Pods, pod)
	}
	return p
}

// Plans keep every rule where pods are nominated, and no pod loses a nominated place that it could keep.
func TestNominatedPodsProperty(t *testing.T) {
	t.Parallel()
	for seed := range soak.Cases(60) {
		size := schedulingtest.Size{Pods: 20, Types: 6, Pools: 3, TopologyTerms: seed%3 > 0}
		p := schedulingtest.Random(seed, size)
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		if seed%7 == 0 {
			solver.WorkloadShare = 40
		}
		plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		if err != nil {
			continue // nothing is on sale
		}
		next := ordered(t, seed, p, plan, schedulingtest.Random(seed+1_000_003, size).Pods[:1])
		// That a search finds no place for a pod that depends on others is for other tests.
		plan, err = provisioning.Planner{Policy: solver}.Plan(t.Context(), next)
		require.NoError(t, err)
		require.NoError(t, verify.Checker{Policy: solver, SkipRefusals: size.TopologyTerms}.Plan(next, plan), "seed %d: nominated %v", seed, next.Nominated)
		again, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), schedulingtest.Shuffle(next, seed))
		require.NoError(t, err)
		require.Equal(t, plan, again, "seed %d, in another order", seed)
		if free := (provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree}}); seed%3 == 0 {
			plan, err = schedulingtest.Audit(t.Context(), free.Policy, next)
			require.NoError(t, err, "seed %d", seed)
			played, err := free.Realise(t.Context(), next, plan)
			require.NoError(t, err)
			if !slices.ContainsFunc(plan.Warnings, func(w scheduling.Warning) bool { return strings.Contains(w.Message, "higher priority") }) {
				require.Equal(t, plan.Summary.AfterScheduling, played, "seed %d", seed)
			}
		}
		nominations, err := provisioning.Nominations(next, plan)
		require.NoError(t, err)
		require.Len(t, nominations, plan.Summary.Placed)
		for i, n := range nominations {
			require.True(t, i == 0 || n.Wave == nominations[i-1].Wave || n.Wave == nominations[i-1].Wave+1)
		}
	}
}
