package karpenter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// fleet is nodes of one pool that sells large, medium and small machines.
func fleet(t *testing.T, budget string, types ...string) disruption.Cluster {
	t.Helper()
	pool := st.NodePool("default", st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")))
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: budget}}
	c := disruption.Cluster{Problem: scheduling.Problem{
		Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), NodePools: []*scheduling.NodePool{pool},
		Catalog: st.MustCatalog(
			st.Type("large", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("z1", st.Cents(40))),
			st.Type("medium", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z1", st.Cents(20))),
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("z1", st.Cents(10))),
		),
	}}
	for i, name := range types {
		launch := scheduling.Launch{Name: name, NodePool: "default"}
		node, err := launch.Node(fmt.Sprintf("n%d", i), &scheduling.LaunchOption{InstanceType: name, Zone: "z1", CapacityType: offerings.OnDemand}, c.Catalog)
		require.NoError(t, err)
		c.Nodes = append(c.Nodes, node)
	}
	return c
}

// put adds pods to a node.
func put(c *disruption.Cluster, node string, n int, name string, opts ...st.PodOption) {
	for i, pod := range st.Pods(n, name, opts...) {
		pod.Name = fmt.Sprintf("%s%d", name, i)
		pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
		c.Running = append(c.Running, pod)
	}
}

// consolidated returns the changes of each round, and the nodes of the cluster in the end.
func consolidated(t *testing.T, c disruption.Cluster) (rounds, end []string) {
	t.Helper()
	k, err := NewConsolidation(t.Context(), c)
	require.NoError(t, err)
	for len(rounds) < 20 {
		commands, err := k.Decide(t.Context())
		require.NoError(t, err)
		if len(commands) == 0 {
			break
		}
		require.Len(t, commands, 1)
		moved, err := k.Do(t.Context(), commands[0])
		require.NoError(t, err)
		rounds = append(rounds, fmt.Sprintf("%s moves %d", commands[0].Method, moved))
	}
	for _, m := range k.Outcome().Machines {
		var names []string
		for _, pod := range m.Pods {
			names = append(names, pod.Name)
		}
		slices.Sort(names)
		end = append(end, strings.TrimSpace(m.InstanceType+" "+strings.Join(names, " ")))
	}
	return rounds, end
}

func TestConsolidation(t *testing.T) {
	core := st.Requests(st.Cores(1), st.GiB(1))
	for name, tc := range map[string]struct {
		cluster     func(t *testing.T) disruption.Cluster
		rounds, end []string
	}{
		"empty nodes go": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "small", "small", "small")
			put(&c, "n1", 1, "a", st.Requests(st.MilliCPU(1900), st.GiB(1)))
			return c
		}, []string{"empty moves 0"}, []string{"small a0"}},
		"pods of a daemon do not count": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "small", "small")
			c.DaemonSets = append(c.DaemonSets, st.DaemonSet("agent", st.Requests(st.MilliCPU(50))))
			put(&c, "n0", 1, "agent", st.OwnedByDaemonSet("agent"), st.Requests(st.MilliCPU(50)))
			put(&c, "n1", 1, "a", st.Requests(st.MilliCPU(1900), st.GiB(1)))
			return c
		}, []string{"empty moves 0"}, []string{"small a0"}},
		"a node that others have room for goes": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "small", "small")
			put(&c, "n0", 1, "a", core)
			put(&c, "n1", 1, "b", st.Requests(st.MilliCPU(500), st.GiB(1)))
			return c
		}, []string{"single moves 1"}, []string{"small a0 b0"}},
		"a node is replaced by a cheaper one": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "large")
			put(&c, "n0", 1, "a", core)
			return c
		}, []string{"single moves 1"}, []string{"small a0"}},
		"several nodes become one": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "medium", "medium", "medium")
			for i := range 3 {
				put(&c, fmt.Sprintf("n%d", i), 1, fmt.Sprintf("a%d", i), st.Requests(st.MilliCPU(600), st.GiB(1)))
			}
			return c
		}, []string{"multi moves 3"}, []string{"small a00 a10 a20"}},
		"budgets are kept": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "0", "large", "small")
			put(&c, "n0", 1, "a", core)
			return c
		}, nil, []string{"large a0", "small"}},
		"disruption budgets of pods are kept": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "large")
			put(&c, "n0", 1, "a", core, st.Label("app", "web"))
			none := intstr.FromInt32(0)
			c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			}}
			return c
		}, nil, []string{"large a0"}},
		"pods that keep apart stay apart": {func(t *testing.T) disruption.Cluster {
			t.Helper()
			c := fleet(t, "100%", "small", "small")
			put(&c, "n0", 1, "a", st.Requests(st.MilliCPU(500)), st.Label("app", "web"), st.Apart(corev1.LabelHostname, st.Of("app", "web")))
			put(&c, "n1", 1, "b", st.Requests(st.MilliCPU(500)), st.Label("app", "web"), st.Apart(corev1.LabelHostname, st.Of("app", "web")))
			return c
		}, nil, []string{"small a0", "small b0"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.cluster(t)
			nodes, pods := copiesOf(c.Nodes), copiesOf(c.Running)
			rounds, end := consolidated(t, c)
			assert.Equal(t, tc.rounds, rounds)
			assert.Equal(t, tc.end, end)
			assert.Equal(t, nodes, c.Nodes, "inputs stay as they were")
			assert.Equal(t, pods, c.Running, "inputs stay as they were")
		})
	}
}

func copiesOf[T interface{ DeepCopy() T }](list []T) []T {
	var out []T
	for _, o := range list {
		out = append(out, o.DeepCopy())
	}
	return out
}

func TestConsolidationTranslates(t *testing.T) {
	c := fleet(t, "100%", "small")
	c.Pods = st.Pods(1, "waits")
	_, err := NewConsolidation(t.Context(), c)
	require.ErrorContains(t, err, "1 pods wait")
	c = fleet(t, "100%", "small")
	c.Nodes[0].Labels[corev1.LabelTopologyZone] = "z9"
	_, err = NewConsolidation(t.Context(), c)
	require.ErrorContains(t, err, "node n0: the catalog does not sell small there")
	c.Nodes[0].Labels[corev1.LabelInstanceTypeStable] = "huge"
	_, err = NewConsolidation(t.Context(), c)
	require.ErrorContains(t, err, "node n0: the catalog does not sell huge there")
}

func TestConsolidationStops(t *testing.T) {
	c := fleet(t, "100%", "small", "small")
	put(&c, "n0", 1, "a", st.Requests(st.MilliCPU(500)))
	put(&c, "n1", 1, "b", st.Requests(st.MilliCPU(500)))
	k, err := NewConsolidation(t.Context(), c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Decide(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// Nodes do not go while pods are on them, and pods do not move from where they are not.
func TestEstate(t *testing.T) {
	c := fleet(t, "100%", "small", "small")
	put(&c, "n0", 1, "a", st.Requests(st.MilliCPU(500)))
	k, err := NewConsolidation(t.Context(), c)
	require.NoError(t, err)
	require.EqualError(t, k.leave("n0"), "node n0 goes with pod default/a0 on it")
	stray := c.Running[0].DeepCopy()
	stray.Spec.NodeName = "n1"
	require.EqualError(t, k.move(t.Context(), stray, "n0"), "pod default/a0 is not on node n1")
	require.NoError(t, k.leave("n1"))
	require.Len(t, k.Outcome().Machines, 1)
}
