package disruption_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// begun is the cluster in which the launches of steps are on their way, and nothing else has been
// done of them.
func begun(t *testing.T, c disruption.Cluster, steps ...disruption.Step) disruption.Cluster {
	t.Helper()
	c.Nodes, c.Machines = slices.Clone(c.Nodes), slices.Clone(c.Machines)
	for _, s := range steps {
		for i := range s.Launches {
			l := &s.Launches[i]
			node, err := l.Node(l.Name, &l.Options[0], c.CatalogOf(l.NodePool))
			require.NoError(t, err)
			delete(node.Labels, scheduling.InitializedLabel)
			delete(node.Labels, scheduling.RegisteredLabel)
			c.Nodes = append(c.Nodes, node)
			c.Machines = append(c.Machines, disruption.Machine{Node: l.Name, Created: c.Now})
		}
	}
	return c
}

// overfull names a node whose pods request more than it has.
func overfull(c *disruption.Cluster) string {
	used := map[string]corev1.ResourceList{}
	for _, pod := range c.Running {
		node := pod.Spec.NodeName
		if used[node] == nil {
			used[node] = corev1.ResourceList{}
		}
		for i := range pod.Spec.Containers {
			for name, q := range pod.Spec.Containers[i].Resources.Requests {
				sum := used[node][name]
				sum.Add(q)
				used[node][name] = sum
			}
		}
	}
	for _, node := range c.Nodes {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, has := used[node.Name][name], node.Status.Allocatable[name]; has.Cmp(q) < 0 {
				return node.Name
			}
		}
	}
	return ""
}

// Plans that are made while steps are under way, for other steps and for pods that come, leave
// their room to these.
func TestStepsUnderwayKeepTheirRoom(t *testing.T) {
	t.Parallel()
	planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
	clashes := 0
	for seed := range soak.Cases(8) {
		c := st.Cluster(seed, st.ClusterOptions{Nodes: 12, PodsPerNode: 6, PDBs: true, Spread: seed%2 == 0})
		first, err := planner.Plan(t.Context(), c)
		require.NoError(t, err)
		steps := first.Steps[:min(len(first.Steps), 2)]
		now := begun(t, c, steps...)
		now.Underway = steps
		second, err := planner.Plan(t.Context(), now)
		require.NoError(t, err)
		require.NoError(t, verify.StepsChecker{Planner: planner}.Steps(now, second), "seed %d", seed)

		done := slices.Clone(steps)
		for i := range done {
			done[i].Launches = nil // they are among the nodes
		}
		for k := range second.Steps {
			after := st.Apply(now, 0, slices.Concat(done, second.Steps[:k+1])...)
			require.Empty(t, overfull(&after), "seed %d, step %d", seed, k)
		}
		for _, told := range []bool{true, false} {
			p := now.Problem
			if told {
				p = now.Current().Problem
			}
			p.Pods = slices.Concat(p.Pods, st.Pods(20, "late", st.Requests(st.MilliCPU(500), st.GiB(1))))
			plan, err := provisioning.Planner{Policy: planner.Policy}.Plan(t.Context(), p)
			require.NoError(t, err)
			require.NoError(t, verify.Plan(p, plan), "seed %d", seed)
			after := st.Apply(now, 0, done...)
			for _, a := range plan.Existing {
				for range a.Pods {
					after.Running = append(after.Running, st.Pod("late", st.Requests(st.MilliCPU(500), st.GiB(1)), st.OnNode(a.Node)))
				}
			}
			if full := overfull(&after); told {
				require.Empty(t, full, "seed %d", seed)
			} else if full != "" {
				clashes++
			}
		}
	}
	assert.Positive(t, clashes, "who is not told plans pods into the room of others")
}

// Who plans for pending pods while steps are under way keeps to the limits of NodePools with the nodes that
// are still there: those that steps drain count until they are gone, whether or not they are being deleted.
func TestNodesOfStepsUnderwayCountForLimits(t *testing.T) {
	eight := st.Type("eight", st.Capacity(st.Cores(8), st.GiB(32), st.Count(corev1.ResourcePods, 110)), st.OnDemand("a", 40))
	node := func(name string, opts ...st.NodeOption) *corev1.Node {
		return st.Node(name, append([]st.NodeOption{st.OfType(eight, eight.Offerings[0]), st.OfPool("default")}, opts...)...)
	}
	for name, from := range map[string]*corev1.Node{
		"seen by Current alone": node("from"), "marked": node("from", st.Disrupted()), "deleted": node("from", st.Deleting()),
		"marked and deleted": node("from", st.Disrupted(), st.Deleting()),
	} {
		t.Run(name, func(t *testing.T) {
			c := disruption.Cluster{
				Problem: scheduling.Problem{
					Now: time.Unix(1_000_000_000, 0), Catalog: st.MustCatalog(eight), NodePools: []*scheduling.NodePool{st.NodePool("default", st.Limit(st.Cores(24)))},
					Pods:    st.Pods(3, "new", st.Requests(st.Cores(6))),
					Nodes:   []*corev1.Node{from, node("to")},
					Running: []*corev1.Pod{st.Pod("a", st.OnNode("from"), st.Requests(st.Cores(4))), st.Pod("b", st.OnNode("to"), st.Requests(st.Cores(4)))},
				},
				Underway: []disruption.Step{{Drain: []string{"from"}, Evictions: []disruption.Eviction{{Pod: "default/a", From: "from", To: "to", Wave: 1}}}},
			}
			now := c.Current()
			assert.Equal(t, now, now.Current())
			plan, err := provisioning.Planner{}.Plan(t.Context(), now.Problem)
			require.NoError(t, err)
			require.NoError(t, verify.Plan(now.Problem, plan))
			assert.Len(t, plan.Launches, 1, "16 of 24 cores are there")

			steps, err := disruption.Planner{}.Plan(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, verify.Steps(c, steps))

			c.Nodes, c.Underway, c.Running = c.Nodes[1:], nil, c.Running[1:]
			plan, err = provisioning.Planner{}.Plan(t.Context(), c.Current().Problem)
			require.NoError(t, err)
			assert.Len(t, plan.Launches, 2, "once the node is gone")
		})
	}
}

// While a step is under way its nodes count as going, the pods that it has still to evict have
// their room where they are expected, and budgets have less for others.
func TestClusterUnderway(t *testing.T) {
	four := st.Allocatable(st.Cores(4), st.GiB(8), st.Count(corev1.ResourcePods, 10))
	web := func(name, node string) *corev1.Pod {
		return st.Pod(name, st.Label("app", "web"), st.OwnedBy("ReplicaSet", "web"), st.OnNode(node), st.Requests(st.Cores(2)))
	}
	c := disruption.Cluster{
		Problem: scheduling.Problem{
			Now:     time.Unix(1_000_000_000, 0),
			Pods:    []*corev1.Pod{st.Pod("new", st.Requests(st.Cores(3)))},
			Nodes:   []*corev1.Node{st.Node("from", four), st.Node("to", four), st.Node("other", four)},
			Running: []*corev1.Pod{web("a", "from"), web("b", "from"), web("gone", "other")},
		},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{st.DisruptionBudget("web", map[string]string{"app": "web"}, intstr.FromInt(2))},
		Underway: []disruption.Step{{Drain: []string{"from"}, Evictions: []disruption.Eviction{
			{Pod: "default/gone", From: "from", To: "other", Wave: 1}, {Pod: "default/a", From: "from", To: "to", Wave: 2},
			{Pod: "default/b", From: "from", To: "to", Wave: 3},
		}}},
	}
	now := c.Current()
	assert.Equal(t, map[types.NamespacedName]string{{Namespace: "default", Name: "a"}: "to", {Namespace: "default", Name: "b"}: "to"}, now.Nominated)
	assert.Equal(t, scheduling.DisruptedTaint, now.Nodes[0].Spec.Taints[0].Key)
	assert.Empty(t, c.Nodes[0].Spec.Taints, "what was given is as it was")
	assert.Equal(t, now, now.Current())
	plan, err := provisioning.Planner{}.Plan(t.Context(), now.Problem)
	require.NoError(t, err)
	assert.Empty(t, plan.Existing, "3 cores are free nowhere, with a and b on the way to one node")
}
