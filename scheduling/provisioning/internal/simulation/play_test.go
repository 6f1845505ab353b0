package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// somePods are pods of workloads of some sizes and priorities, some of which spread over zones, and
// nodes with room for a few of them.
func somePods(seed uint64) (p scheduling.Problem) {
	dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	list := func(cpu, memory int) corev1.ResourceList {
		return corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(cpu), resource.DecimalSI), "memory": *resource.NewQuantity(int64(memory)<<28, resource.BinarySI)}
	}
	for w := range 8 {
		requests, priority := list(100+50*dice.IntN(60), 1+dice.IntN(40)), int32(dice.IntN(6)/5)
		for i := range 1 + dice.IntN(8) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(w, "-", i), Labels: map[string]string{"app": fmt.Sprint(w)}}}
			pod.Spec.Priority, pod.Spec.Containers = &priority, []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}
			if w == 0 {
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}}}
			}
			p.Pods = append(p.Pods, pod)
		}
	}
	for i := range dice.IntN(3) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1a"}}}
		node.Status.Allocatable = list(2000, 32)
		node.Status.Allocatable["pods"] = resource.MustParse("20")
		p.Nodes = append(p.Nodes, node)
	}
	p.NodePools, p.Catalog = []*scheduling.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}, ec2.MustCatalog("us-east-1")
	return p
}

// Plans are played through in the very courses of events that their summaries come from.
func TestPlansArePlayedAsTheyAreRealised(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range soak.Cases(6) {
		p := somePods(seed)
		planner := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.Effort(1 + seed%2), Placement: scheduling.PlacementFree}}
		plan, err := planner.Plan(t.Context(), p)
		require.NoError(t, err)
		realised, err := planner.Realise(t.Context(), p, plan)
		require.NoError(t, err)
		facts, err := compile.NewFacts(&p, &planner.Policy)
		require.NoError(t, err)
		s, err := simulation.New(facts.Compile(false), plan)
		require.NoError(t, err)
		most := 0
		type group struct{ class, place int32 }
		for _, c := range s.Play(simulation.Asked{Pod: -1, Brief: seed%2 == 0}) {
			planned, elsewhere := map[group]int{}, 0
			for i, q := range s.Queue {
				planned[group{q.Class, s.Home[i]}]++
			}
			for i, q := range s.Queue {
				if g := (group{q.Class, c.To[i]}); planned[g] > 0 {
					planned[g]--
				} else {
					elsewhere++
				}
			}
			if c.Batches == 1 {
				most = max(most, elsewhere)
			}
		}
		require.Equal(t, realised.PodsElsewhere, most, "seed %d", seed)
		some += most
	}
	require.Positive(t, some)
}
