package provisioning_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// with is a problem in which a pod is changed.
func with(p scheduling.Problem, name string, change func(*corev1.Pod)) scheduling.Problem {
	p.Pods = slices.Clone(p.Pods)
	for i, pod := range p.Pods {
		if full(pod) == name {
			p.Pods[i] = pod.DeepCopy()
			change(p.Pods[i])
		}
	}
	return p
}

// If a pod's place is explained as forced, kube-scheduler binds the pod there in every simulation; a nominated pod also
// in other simulations, once the plan's nodes are there. Launches and nodes name the pods of which that is said.
func TestPlacesAreForcedProperty(t *testing.T) {
	t.Parallel()
	policy := scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree}
	told := map[scheduling.ChangeKind]int{}
	for seed := range soak.Cases(60) {
		ties := seed%3 == 0
		p := st.Random(seed, st.Size{Pods: 25, TopologyTerms: ties})
		plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
		require.NoError(t, err)
		x, err := provisioning.Planner{Policy: policy}.Explain(p, plan)
		require.NoError(t, err)
		carried := p
		carried.Nodes = slices.Clone(p.Nodes)
		for i := range plan.Launches {
			l := &plan.Launches[i]
			node, err := l.Node(l.Name, &l.Options[0], p.CatalogOf(l.NodePool))
			require.NoError(t, err)
			delete(node.Labels, scheduling.InitializedLabel) // its daemons are still to come
			carried.Nodes = append(carried.Nodes, node)
		}
		unforced := map[string][]string{}
		for pod, at := range plan.Placements() {
			e, err := x.Pod(pod.String())
			require.NoError(t, err)
			require.NotNil(t, e.AfterScheduling, "seed %d", seed)
			counted := e.AfterScheduling.Planned + e.AfterScheduling.Replaced + e.AfterScheduling.Elsewhere + e.AfterScheduling.Pending
			require.Equal(t, e.AfterScheduling.Simulations, counted, "seed %d: each simulation counts once", seed)
			bound := lo.SumBy(e.AfterScheduling.Others, func(o explanation.OtherPlace) int { return o.Simulations })
			require.GreaterOrEqual(t, bound, e.AfterScheduling.Elsewhere, "seed %d: each place that a simulation chooses is listed", seed)
			if e.AfterScheduling.Elsewhere+e.AfterScheduling.Pending > 0 {
				unforced[at.Name()] = append(unforced[at.Name()], e.Pod)
			}
			for _, c := range e.AfterScheduling.Force {
				told[c.Kind]++
				var forced scheduling.Problem
				switch c.Kind {
				case scheduling.ChangeOrder:
					n, err := strconv.Atoi(c.To)
					require.NoError(t, err)
					first := int32(n)
					forced = with(p, e.Pod, func(pod *corev1.Pod) { pod.Spec.Priority = &first })
				case scheduling.ChangeSelector:
					forced = with(p, e.Pod, func(pod *corev1.Pod) {
						pod.Spec.NodeSelector = maps.Clone(pod.Spec.NodeSelector)
						st.Select(c.Key, c.Values[0]).Apply(pod)
					})
				default:
					if ties { // others have to be there first, perhaps
						continue
					}
					next := carried
					next.Nominated = map[types.NamespacedName]string{pod: at.Name()}
					bound, err := provisioning.Bind(next, seed)
					require.NoError(t, err)
					require.Contains(t, bound, provisioning.Binding{Pod: pod, Node: at.Name()}, "seed %d, %s: %s", seed, pod, c.Text)
					continue
				}
				y, err := provisioning.Planner{Policy: policy}.Explain(forced, plan)
				require.NoError(t, err)
				again, err := y.Pod(e.Pod)
				require.NoError(t, err)
				require.Zero(t, again.AfterScheduling.Elsewhere+again.AfterScheduling.Pending, "seed %d, %s: %s", seed, pod, c.Text)
			}
		}
		for i := range plan.Launches {
			l, err := x.Launch(plan.Launches[i].Name)
			require.NoError(t, err)
			require.Equal(t, unforced[l.Launch], l.Unforced, "seed %d, %s", seed, l.Launch)
		}
		for _, a := range plan.Existing {
			n, err := x.Node(a.Node)
			require.NoError(t, err)
			require.Equal(t, unforced[a.Node], n.Unforced, "seed %d, %s", seed, a.Node)
		}
	}
	require.NotEmpty(t, told, "nothing was forced")
}

// A small pod that goes to the larger of two nodes leaves a large one without a place.
func TestPodAfterScheduling(t *testing.T) {
	t.Parallel()
	node := func(name string, cores int64) *corev1.Node {
		n := st.Node(name, st.Allocatable(st.Cores(cores), st.GiB(64), st.Count(corev1.ResourcePods, 100)))
		n.Labels[corev1.LabelHostname] = name
		return n
	}
	p := scheduling.Problem{
		Nodes: []*corev1.Node{node("large", 16), node("small", 4)},
		Pods: []*corev1.Pod{
			st.Pod("a-small", st.Requests(st.Cores(2))), st.Pod("b-large", st.Requests(st.Cores(15))),
			st.Pod("c-bound", st.Requests(st.Cores(1)), st.Select(corev1.LabelHostname, "small")),
		},
	}
	plan := &scheduling.Plan{Existing: []scheduling.Assignment{
		{Node: "large", Pods: []string{"default/b-large"}}, {Node: "small", Pods: []string{"default/a-small", "default/c-bound"}},
	}}
	ask := func(p scheduling.Problem, placement scheduling.PlacementPolicy, pod string) *explanation.PodAfterScheduling {
		x, err := provisioning.Planner{Policy: scheduling.Policy{Placement: placement}}.Explain(p, plan)
		require.NoError(t, err)
		e, err := x.Pod(pod)
		require.NoError(t, err)
		return e.AfterScheduling
	}
	kinds := func(changes []scheduling.Change) (out []scheduling.ChangeKind) {
		for _, c := range changes {
			out = append(out, c.Kind)
		}
		return out
	}
	small := ask(p, scheduling.PlacementFree, "a-small")
	require.Positive(t, small.Elsewhere)
	require.Zero(t, small.Pending)
	require.Equal(t, []explanation.OtherPlace{{Node: "large", Simulations: small.Elsewhere}}, small.Others)
	require.Equal(t, []string{"default/b-large"}, small.Displaced)
	require.Equal(t, []scheduling.ChangeKind{scheduling.ChangeNomination, scheduling.ChangeSelector}, kinds(small.Force))

	large := ask(p, scheduling.PlacementFree, "b-large")
	require.Equal(t, small.Elsewhere, large.Pending)
	require.Empty(t, large.Others)
	require.Equal(t, []scheduling.ChangeKind{scheduling.ChangeNomination, scheduling.ChangeOrder}, kinds(large.Force))

	require.Equal(t, &explanation.PodAfterScheduling{Simulations: small.Simulations, Planned: small.Simulations}, ask(p, scheduling.PlacementFree, "c-bound"), "its place is forced")
	require.Equal(t, &explanation.PodAfterScheduling{Simulations: small.Simulations, Planned: small.Simulations, Nominated: true}, ask(p, scheduling.PlacementNominated, "a-small"))
	require.Nil(t, ask(p, scheduling.PlacementPinned, "a-small"))
	p.Nominated = promised(map[string]string{"a-small": "small"})
	require.Equal(t, &explanation.PodAfterScheduling{Nominated: true}, ask(p, scheduling.PlacementFree, "a-small"))
}
