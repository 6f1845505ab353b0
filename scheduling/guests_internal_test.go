package scheduling

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
)

// spreadPod is a pod that is spread over zones with those of the same app in all
// namespaces of a team.
func spreadPod(name, app, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{NodeName: node, Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:       corev1.LabelTopologyZone,
				LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "sales"}},
			}},
		}}},
	}
}

func guestSession(t *testing.T) *Session {
	t.Helper()
	catalog, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	p := Problem{
		Catalog: catalog, NodePools: []*NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}},
		Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "sales"}}}},
		Pods:       []*corev1.Pod{spreadPod("new", "web", "")},
	}
	for i := range 3 {
		name := fmt.Sprintf("node-%d", i)
		p.Nodes = append(p.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1a", corev1.LabelHostname: name}},
		})
		p.Running = append(p.Running, spreadPod("web-"+name, "web", name), spreadPod("db-"+name, "db", name))
	}
	s, err := NewSession(Solver{Effort: EffortFast}, p)
	require.NoError(t, err)
	return s
}

// booked are the names of the pods in the book, by node.
func booked(s *Session) map[string][]string {
	out := map[string][]string{}
	g := s.memory.guests
	for _, i := range g.booked {
		for _, x := range g.guests[i] {
			out[g.hosts[i].name] = append(out[g.hosts[i].name], x.pod.Name)
		}
	}
	return out
}

func TestGuestsAreAskedOnce(t *testing.T) {
	t.Parallel()
	s := guestSession(t)
	solve := func() *guestBook {
		s.memory.atlas = nil // what is counted there need not be asked for
		_, err := s.Solve(t.Context())
		require.NoError(t, err)
		return s.memory.guests
	}
	first := solve()
	all := map[string][]string{"node-0": {"web-node-0"}, "node-1": {"web-node-1"}, "node-2": {"web-node-2"}}
	assert.Equal(t, all, booked(s), "the others are not what ties are about")

	again := solve()
	assert.NotSame(t, first.targets, again.targets, "targets are read anew")
	assert.Same(t, &first.guests[0], &again.guests[0], "guests are not")

	require.NoError(t, s.Apply(Delta{Pods: []*corev1.Pod{spreadPod("web-more", "web", "node-1")}}))
	more := solve()
	all["node-1"] = []string{"web-more", "web-node-1"}
	got := booked(s)
	assert.ElementsMatch(t, all["node-1"], got["node-1"])
	assert.Len(t, got, 3)
	assert.Same(t, &first.guests[0][0], &more.guests[0][0], "a node that has not changed")
	assert.Same(t, &first.guests[2][0], &more.guests[2][0])

	require.NoError(t, s.Apply(Delta{Removed: Removed{Pods: []types.NamespacedName{{Namespace: "shop", Name: "web-node-0"}}, Nodes: []string{"node-2"}}}))
	solve()
	assert.NotContains(t, booked(s), "node-0")

	require.NoError(t, s.Apply(Delta{Pods: []*corev1.Pod{spreadPod("other", "db", "")}}))
	solve()
	assert.Contains(t, booked(s)["node-0"], "db-node-0", "other ties are about others")
}

// What a namespace's labels say decides who is meant, though ties look the same.
func TestGuestsFollowNamespaces(t *testing.T) {
	t.Parallel()
	s := guestSession(t)
	_, err := s.Solve(t.Context())
	require.NoError(t, err)
	assert.Len(t, booked(s), 3)
	require.NoError(t, s.Apply(Delta{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}}}))
	_, err = s.Solve(t.Context())
	require.NoError(t, err)
	assert.Empty(t, booked(s))
}

// Where more than labels decides, nothing is kept for another plan.
func TestGuestsOfWorkloads(t *testing.T) {
	t.Parallel()
	s := guestSession(t)
	s.solver.WorkloadShare = 50
	_, err := s.Solve(t.Context())
	require.NoError(t, err)
	assert.Empty(t, s.memory.guests.key)
}

// Where other ties come up, those who run are asked about those alone, once.
func TestGuestsOfOtherTies(t *testing.T) {
	t.Parallel()
	s := guestSession(t)
	plans, last := 0, []types.NamespacedName{{Namespace: "shop", Name: "new"}}
	plan := func(apps ...string) *guestLists {
		d := Delta{Removed: Removed{Pods: last}}
		plans, last = plans+1, nil
		for _, app := range apps {
			name := fmt.Sprintf("new-%s-%d", app, plans)
			d.Pods, last = append(d.Pods, spreadPod(name, app, "")), append(last, types.NamespacedName{Namespace: "shop", Name: name})
		}
		require.NoError(t, s.Apply(d))
		s.memory.atlas = nil // what is counted there need not be asked for
		_, err := s.Solve(t.Context())
		require.NoError(t, err)
		anew, err := NewSession(s.solver, s.Problem())
		require.NoError(t, err)
		_, err = anew.Solve(t.Context())
		require.NoError(t, err)
		want, got := booked(anew), booked(s)
		for node := range want {
			slices.Sort(want[node])
			slices.Sort(got[node])
		}
		assert.Equal(t, want, got)
		return s.memory.guestLists
	}
	assert.Nil(t, plan("web"), "one plan alone would not gain by it")
	first := plan("db")
	require.Len(t, first.lists, 1)
	assert.Equal(t, 3, first.stays)
	fork := s.Fork()
	second := plan("web")
	require.Len(t, second.lists, 2)
	assert.Equal(t, 6, second.stays)
	assert.Len(t, fork.memory.guestLists.lists, 1, "a fork goes its own way")
	for key, list := range first.lists {
		assert.Same(t, &list.stays[0], &second.lists[key].stays[0], "nobody is asked again")
	}

	// One more runs, one leaves, a node goes.
	require.NoError(t, s.Apply(Delta{
		Pods:    []*corev1.Pod{spreadPod("web-more", "web", "node-1")},
		Removed: Removed{Pods: []types.NamespacedName{{Namespace: "shop", Name: "db-node-0"}}, Nodes: []string{"node-2"}},
	}))
	third := plan("db")
	assert.Len(t, third.lists, 2)
	plan("web")
	plan("web", "db")
	assert.Equal(t, 6, s.memory.guestLists.stays, "pods on a node that is gone run there all the same")

	facts, err := s.facts()
	require.NoError(t, err)
	c := facts.compile(false)
	for range guestsIdle + 1 {
		third = third.renewed(c, third.hosts[:2])
	}
	assert.Empty(t, third.lists, "nobody asks for them any more")
	assert.Zero(t, third.stays)
}
