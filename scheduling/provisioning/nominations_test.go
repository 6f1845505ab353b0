package provisioning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// placesOf is where a plan puts each pod, "" for nowhere.
func placesOf(plan *scheduling.Plan) map[string]string {
	out := map[string]string{}
	for pod, at := range plan.Placements() {
		out[pod.Name] = at.Name()
	}
	return out
}

// promised names nodes for pods of the default namespace.
func promised(to map[string]string) map[types.NamespacedName]string {
	out := map[types.NamespacedName]string{}
	for pod, node := range to {
		out[types.NamespacedName{Namespace: "default", Name: pod}] = node
	}
	return out
}

// twoNodes is a pod that fits either of two nodes, and one that fits either as long as it is alone.
func twoNodes() scheduling.Problem {
	return scheduling.Problem{
		Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.Cores(2))), st.Pod("b", st.Requests(st.Cores(3)))},
		Nodes: []*corev1.Node{
			st.Node("n1", st.Allocatable(st.Cores(4), st.GiB(8))),
			st.Node("n2", st.Allocatable(st.Cores(4), st.GiB(8))),
		},
	}
}

func TestNominatedPodsStay(t *testing.T) {
	for _, node := range []string{"n1", "n2"} {
		p := twoNodes()
		p.Nominated = promised(map[string]string{"a": node})
		plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
		require.NoError(t, err)
		assert.Equal(t, node, placesOf(plan)["a"])
		assert.Len(t, plan.Existing, 2, "the other pod has the other node")

		p = twoNodes()
		p.Pods[0].Status.NominatedNodeName = node
		plan, err = st.Audit(t.Context(), scheduling.Policy{}, p)
		require.NoError(t, err)
		assert.Equal(t, node, placesOf(plan)["a"])
	}
}

// Where a nomination cannot be kept, the pod is planned like any other, and the plan says why.
func TestNominationsThatCannotBeKept(t *testing.T) {
	other := st.Pod("r", st.Requests(st.Cores(3)), st.OnNode("n1"))
	for name, tt := range map[string]struct {
		change func(p *scheduling.Problem)
		says   string
	}{
		"no such node": {func(p *scheduling.Problem) { p.Nodes = p.Nodes[1:] }, "is not among the nodes"},
		"a node that goes": {func(p *scheduling.Problem) {
			p.Nodes[0].Spec.Taints = []corev1.Taint{{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}}
		}, "is being removed"},
		"no room":       {func(p *scheduling.Problem) { p.Running = []*corev1.Pod{other} }, "has no place for it beside the running and the other nominated pods"},
		"another label": {func(p *scheduling.Problem) { p.Pods[0].Spec.NodeSelector = map[string]string{"disk": "ssd"} }, "has no place"},
		"a port taken": {func(p *scheduling.Problem) {
			st.HostPort(80).Apply(p.Pods[0])
			p.Running = []*corev1.Pod{st.Pod("r", st.HostPort(80), st.OnNode("n1"))}
		}, "has no place"},
		"one that keeps it away": {func(p *scheduling.Problem) {
			p.Pods[0].Labels = map[string]string{"app": "a"}
			p.Running = []*corev1.Pod{st.Pod("r", st.Apart(corev1.LabelHostname, st.Of("app", "a")), st.OnNode("n1"))}
		}, "has no place"},
		"another that is nominated": {func(p *scheduling.Problem) {
			p.Pods = append(p.Pods, st.Pod("0", st.Requests(st.Cores(3))))
			p.Nominated[types.NamespacedName{Name: "0"}] = "n1"
		}, "the other nominated pods"},
	} {
		t.Run(name, func(t *testing.T) {
			p := scheduling.Problem{
				Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.Cores(2)))},
				Nodes: []*corev1.Node{
					st.Node("n1", st.Allocatable(st.Cores(4), st.GiB(8))),
					st.Node("n2", st.Allocatable(st.Cores(4), st.GiB(8)), st.Label("disk", "ssd")),
				},
				Nominated: map[types.NamespacedName]string{{Name: "a"}: "n1"},
			}
			tt.change(&p)
			plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
			require.NoError(t, err)
			assert.Equal(t, "n2", placesOf(plan)["a"])
			assert.Contains(t, warningsOf(plan, "default/a"), tt.says)
		})
	}
}

// warningsOf are the warnings about an object.
func warningsOf(plan *scheduling.Plan, object string) string {
	var out []string
	for _, w := range plan.Warnings {
		if w.Object == object {
			out = append(out, w.Message)
		}
	}
	return strings.Join(out, "\n")
}

// A nomination keeps room from pods of the same and of lower priority, as kube-scheduler has it.
func TestNominationsAndPriority(t *testing.T) {
	for _, tt := range []struct {
		priority int32
		stays    bool
	}{{-1, true}, {0, true}, {1, false}} {
		p := scheduling.Problem{
			Pods: []*corev1.Pod{
				st.Pod("a", st.Requests(st.Cores(2))), st.Pod("small", st.Requests(st.Cores(1))),
				st.Pod("z", st.Requests(st.Cores(3)), st.Priority(tt.priority)),
			},
			Nodes:     []*corev1.Node{st.Node("n1", st.Allocatable(st.Cores(4), st.GiB(8)))},
			Nominated: promised(map[string]string{"a": "n1", "small": "n1"}),
		}
		plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
		require.NoError(t, err)
		if places := placesOf(plan); tt.stays {
			assert.Equal(t, map[string]string{"a": "n1", "small": "n1"}, places, "priority %d", tt.priority)
			assert.NotContains(t, warningsOf(plan, "default/a"), "nominated")
		} else {
			assert.Equal(t, map[string]string{"z": "n1", "small": "n1"}, places, "only those go that have to")
			assert.Contains(t, warningsOf(plan, "default/a"), "room that pods of higher priority need")
		}
	}
}

// A nomination of the problem takes precedence over the pod's status, and an empty name cancels it.
func TestNominationsOfTheProblemGoFirst(t *testing.T) {
	p := twoNodes()
	p.Pods[0].Status.NominatedNodeName = "n1"
	p.Nominated = map[types.NamespacedName]string{{Name: "a"}: "n2"}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Equal(t, "n2", placesOf(plan)["a"])

	p.Pods[0].Status.NominatedNodeName = "nowhere"
	p.Nominated = promised(map[string]string{"a": "", "nobody": "n1"})
	plan, err = st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.NotContains(t, warningsOf(plan, "default/a"), "nominated")

	p.Nominated = map[types.NamespacedName]string{{Namespace: "default"}: "n1"}
	_, err = provisioning.Planner{}.Plan(t.Context(), p)
	require.EqualError(t, err, `nominated[0]: names no pod: "n1"`)
}

// Sessions forget the nomination of a pod that was bound or deleted.
func TestSessionsAndNominations(t *testing.T) {
	x, err := provisioning.NewSession(scheduling.Policy{}, twoNodes())
	require.NoError(t, err)
	for _, node := range []string{"n2", "n1"} {
		require.NoError(t, x.Apply(scheduling.Delta{Nominated: map[types.NamespacedName]string{{Name: "a"}: node}}))
		plan, err := x.Plan(t.Context())
		require.NoError(t, err)
		assert.Equal(t, node, placesOf(plan)["a"])
		fork := x.Fork()
		require.NoError(t, fork.Apply(scheduling.Delta{Pods: []*corev1.Pod{st.Pod("a", st.OnNode("n2"))}}))
		assert.Empty(t, fork.Problem().Nominated)
	}
	assert.Equal(t, promised(map[string]string{"a": "n1"}), x.Problem().Nominated)
	require.NoError(t, x.Apply(scheduling.Delta{Removed: scheduling.Removed{Pods: []types.NamespacedName{{Name: "a"}}}}))
	assert.Empty(t, x.Problem().Nominated)
	require.ErrorContains(t, x.Apply(scheduling.Delta{Nominated: map[types.NamespacedName]string{{}: "n1"}}), "names no pod")
}

// Pods that depend on later ones of kube-scheduler's queue come in a later wave.
func TestNominationsComeInWaves(t *testing.T) {
	at := func(pod *corev1.Pod, second int64) *corev1.Pod {
		pod.CreationTimestamp = metav1.NewTime(time.Unix(second, 0))
		return pod
	}
	near := func(app string) st.PodOption { return st.Near(corev1.LabelHostname, st.Of("app", app)) }
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(10)))),
		Pods: []*corev1.Pod{
			at(st.Pod("third", near("b"), st.Requests(st.Cores(1))), 1),
			at(st.Pod("second", st.Label("app", "b"), near("a"), st.Requests(st.Cores(1))), 2),
			at(st.Pod("first", st.Label("app", "a"), st.Requests(st.Cores(1))), 3),
			at(st.Pod("plain", st.Requests(st.Cores(3))), 4),
			at(st.Pod("urgent", st.Requests(st.Cores(1)), st.Priority(1)), 5),
			at(st.Pod("huge", st.Requests(st.Cores(9))), 5),
		},
		Nodes: []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(3), st.GiB(16)))},
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	nominations, err := provisioning.Nominations(p, plan)
	require.NoError(t, err)
	places := placesOf(plan)
	var got []string
	for _, n := range nominations {
		got = append(got, fmt.Sprintf("%s %d", n.Pod.Name, n.Wave))
		assert.Equal(t, places[n.Pod.Name], n.Name())
	}
	assert.Equal(t, []string{"urgent 1", "first 1", "plain 1", "second 2", "third 3"}, got)

	plan.Launches[0].NodePool = "another"
	_, err = provisioning.Nominations(p, plan)
	require.ErrorContains(t, err, "launch default-1: the problem has no such NodePool or offering")
}

// A running pod that is to move counts where it is expected, too.
func TestSuccessorsHaveTheirRoom(t *testing.T) {
	p := scheduling.Problem{
		Pods:    []*corev1.Pod{st.Pod("a", st.Requests(st.Cores(2)))},
		Running: []*corev1.Pod{st.Pod("r", st.Requests(st.Cores(3)), st.OnNode("n3"))},
		Nodes: []*corev1.Node{
			st.Node("n1", st.Allocatable(st.Cores(4), st.GiB(8))), st.Node("n2", st.Allocatable(st.Cores(4), st.GiB(8))),
			st.Node("n3", st.Allocatable(st.Cores(4), st.GiB(8))),
		},
	}
	for _, node := range []string{"n1", "n2"} {
		p.Nominated = promised(map[string]string{"r": node})
		plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"n1": "n2", "n2": "n1"}[node], placesOf(plan)["a"])
		x, err := provisioning.NewSession(scheduling.Policy{}, p)
		require.NoError(t, err)
		assert.Equal(t, p.Nominated, x.Problem().Nominated)
		require.NoError(t, x.Apply(scheduling.Delta{Moved: []scheduling.Move{{Pod: types.NamespacedName{Name: "r"}, Node: node}}}))
		assert.Empty(t, x.Problem().Nominated)
	}
	p.Nominated = promised(map[string]string{"r": "n9"})
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Contains(t, warningsOf(plan, "default/r"), "node n9, where it is to move, is not among the nodes")
}

// A pod of higher priority does not count on binding before the nominated pods that stay.
func TestUrgentPodsComeAfterThoseThatStay(t *testing.T) {
	p := scheduling.Problem{
		Nodes: []*corev1.Node{st.Node("n1", st.Allocatable(st.Cores(4), st.GiB(8)), st.Label("x", "y")), st.Node("n2", st.Allocatable(st.Cores(4), st.GiB(8)))},
		Pods: []*corev1.Pod{
			st.Pod("stays"), st.Pod("urgent", st.Select("x", "y"), st.Near(corev1.LabelHostname, st.OfAll()), st.Priority(1)),
		},
		Nominated: promised(map[string]string{"stays": "n2"}),
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"stays": "n2"}, placesOf(plan))
}

// Equal pods that are spread over zones are named in the order of kube-scheduler's queue, so that all bind at their turn.
func TestEqualPodsBindInOneWave(t *testing.T) {
	var sold []*instancetypes.InstanceType
	for i, cores := range []int64{2, 4, 8} {
		kind := st.Type(fmt.Sprint("m-", i), st.Capacity(st.Cores(cores), st.GiB(4*cores)))
		for j, zone := range []string{"zone-a", "zone-b", "zone-c"} {
			st.OnDemand(zone, st.Cents(cores*5+int64(j))).Apply(kind)
		}
		sold = append(sold, kind)
	}
	p := scheduling.Problem{
		Catalog: st.MustCatalog(sold...), NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods: st.Pods(90, "web", st.Label("app", "web"), st.Requests(st.MilliCPU(900), st.GiB(2)), st.Spread(corev1.LabelTopologyZone)),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	turns, err := provisioning.Nominations(p, plan)
	require.NoError(t, err)
	require.Len(t, turns, 90)
	for _, turn := range turns {
		assert.Equal(t, 1, turn.Wave)
	}
}
