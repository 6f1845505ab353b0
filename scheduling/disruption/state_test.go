package disruption

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

func stateOf(t *testing.T, change ...func(*Cluster)) *state {
	t.Helper()
	c := &Cluster{Problem: scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool()}, Catalog: testCatalog(t), Now: noon(),
		Nodes:   []*corev1.Node{machine(t, "one", "m.large", offerings.OnDemand), machine(t, "two", "m.large", offerings.OnDemand)},
		Running: []*corev1.Pod{pod("web", "one", "500m"), pod("db", "two", "1"), pod("api", "two", "800m")},
	}}
	for _, f := range change {
		f(c)
	}
	s, err := openState(context.Background(), Planner{}, c, &provisioning.Session{})
	require.NoError(t, err)
	return s
}

// D46, D47, D48: what becomes of pods when nodes go.
func TestAsk(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Cluster)
		ask    whatIf
		to     map[string]string
		stuck  int
	}{
		"into free room":                 {nil, whatIf{nodes: []string{"one"}}, nil, 1},
		"onto a machine that is bought":  {nil, whatIf{nodes: []string{"one"}, launch: true}, map[string]string{"shop/web": "default-1"}, 0},
		"not where room is closed":       {func(c *Cluster) { c.Running = c.Running[:2] }, whatIf{nodes: []string{"one"}, closed: []string{"two"}}, nil, 1},
		"where room is":                  {func(c *Cluster) { c.Running = c.Running[:2] }, whatIf{nodes: []string{"one"}}, map[string]string{"shop/web": "two"}, 0},
		"not onto a node that starts up": {func(c *Cluster) { c.Running = c.Running[:2]; delete(c.Nodes[1].Labels, scheduling.InitializedLabel) }, whatIf{nodes: []string{"one"}}, nil, 1},
		"not onto a node that is interrupted": {func(c *Cluster) {
			c.Running = c.Running[:2]
			c.Machines = []Machine{{Node: "two", Interruption: &Interruption{}}}
		}, whatIf{nodes: []string{"one"}}, nil, 1},
		"not onto a node that is shut down": {func(c *Cluster) {
			c.Running = c.Running[:2]
			c.Machines = []Machine{{Node: "two", Terminating: true}}
		}, whatIf{nodes: []string{"one"}}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*Cluster) {}
			}
			s := stateOf(t, change)
			tt.ask.effort = scheduling.EffortFast
			o, err := simulate(context.Background(), s, &tt.ask)
			require.NoError(t, err)
			assert.Len(t, o.unschedulable, tt.stuck)
			got := map[string]string{}
			for _, e := range o.moves {
				assert.Equal(t, "one", e.From)
				got[e.Pod] = e.To
			}
			if tt.to != nil {
				assert.Equal(t, tt.to, got)
			}
			assert.NotNil(t, s.existing("one"), "the state stays as it is")
		})
	}
	_, err := simulate(context.Background(), stateOf(t), &whatIf{nodes: []string{"none"}})
	require.ErrorContains(t, err, `no node "none"`)
}

// The state moves on by steps: nodes go, launches stand under their names, pods have moved.
func TestTake(t *testing.T) {
	s := stateOf(t)
	ctx := context.Background()
	before := s.fork()
	o, err := simulateDrain(ctx, s, []string{"one"})
	require.NoError(t, err)
	require.Len(t, o.launches, 1)
	require.NoError(t, s.take(&Step{Drain: o.nodes, Launches: o.launches, Evictions: evictionsOf(o.moves)}))
	assert.Equal(t, []string{"default-1", "two"}, s.names())
	assert.Equal(t, []*corev1.Pod{s.pods["shop/web"]}, s.byName["default-1"].pods)
	for _, session := range []*provisioning.Session{s.sessions.Launch, s.sessions.Place} {
		held := session.Problem()
		require.Len(t, held.Running, len(s.pods))
		for _, pod := range held.Running {
			assert.Contains(t, s.byName[pod.Spec.NodeName].pods, s.pods[podspec.PodName(pod)], "sessions have pods where they are")
		}
	}
	assert.Equal(t, []string{"one", "two"}, before.names(), "a fork goes its own way")
	o, err = simulateDrain(ctx, s, []string{"default-1"})
	require.NoError(t, err)
	require.Len(t, o.launches, 1)
	assert.Equal(t, "default-2", o.launches[0].Name, "no name comes twice")
	require.ErrorContains(t, s.take(&Step{Drain: []string{"one"}}), "no node")
}

// Nodes that are shunned keep their pods and take in nobody, until they are readmitted as
// often.
func TestShun(t *testing.T) {
	s := stateOf(t, func(c *Cluster) { c.Running = c.Running[:2] })
	ask := func() int {
		o, err := simulate(context.Background(), s, &whatIf{nodes: []string{"one"}, effort: scheduling.EffortFast})
		require.NoError(t, err)
		return len(o.unschedulable)
	}
	assert.Zero(t, ask())
	require.NoError(t, s.closeNodes([]string{"two", "none"}))
	require.NoError(t, s.closeNodes([]string{"two"}))
	assert.Equal(t, 1, ask())
	require.NoError(t, s.reopenNodes([]string{"two"}))
	assert.Equal(t, 1, ask())
	require.NoError(t, s.reopenNodes([]string{"two"}))
	assert.Zero(t, ask())
}

// D46: pods that wait keep the places that they find; the others wait on.
func TestExpects(t *testing.T) {
	s := stateOf(t, func(c *Cluster) {
		c.Running = c.Running[:2]
		c.Pods = []*corev1.Pod{pod("soon", "", "900m"), pod("never", "", "100")}
	})
	assert.Len(t, slices.Concat(s.byName["one"].expected, s.byName["two"].expected), 1)
	assert.Len(t, s.awaitingLaunch, 1)
	o, err := simulateDrain(context.Background(), s, []string{"one"})
	require.NoError(t, err)
	assert.Empty(t, o.unschedulable)
	for i := range o.launches {
		assert.NotContains(t, o.launches[i].Pods, "shop/never")
	}
}

// Pods that are expected on a node that goes wait again, for another place: they count for
// rules, and take part in what-ifs that may buy.
func TestExpectedPodsWaitAgain(t *testing.T) {
	ctx := context.Background()
	s := stateOf(t, func(c *Cluster) {
		c.Running = []*corev1.Pod{pod("db", "two", "1500m")}
		c.Pods = []*corev1.Pod{pod("soon", "", "900m")}
	})
	require.NotEmpty(t, s.byName["one"].expected)
	require.Empty(t, s.awaitingLaunch)
	before := s.fork()
	o, err := simulateDrain(ctx, s, []string{"one", "two"})
	require.NoError(t, err)
	require.Len(t, o.launches, 1, "not the one that is bought for the pod that waits")
	assert.Equal(t, []string{"shop/db"}, o.launches[0].Pods)

	require.NoError(t, s.take(&Step{Drain: []string{"one"}}))
	assert.Contains(t, s.awaitingLaunch, "shop/soon")
	assert.NotContains(t, s.pods, "shop/soon")
	assert.Empty(t, before.awaitingLaunch, "a fork goes its own way")
	held := s.sessions.Launch.Problem()
	require.Len(t, held.Pods, 1)
	assert.Empty(t, held.Pods[0].Spec.NodeName)
	assert.Len(t, s.sessions.Place.Problem().Running, 1)
	assert.Empty(t, s.sessions.Place.Problem().Pods)
}

// As long as pods wait that rules may count, the options of a launch do not differ in what
// those rules read.
func TestOptionsAgreeWhilePodsWait(t *testing.T) {
	apart := func(p *corev1.Pod) *corev1.Pod {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone}},
		}}
		return p
	}
	for name, tt := range map[string]struct {
		change func(c *Cluster)
		zones  int
	}{
		"nobody waits":         {func(*Cluster) {}, 2},
		"one waits, untied":    {func(c *Cluster) { c.Pods = []*corev1.Pod{pod("never", "", "100")} }, 2},
		"one waits with a tie": {func(c *Cluster) { c.Pods = []*corev1.Pod{apart(pod("never", "", "100"))} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := simulateDrain(context.Background(), stateOf(t, tt.change), []string{"one"})
			require.NoError(t, err)
			require.Len(t, o.launches, 1)
			zones := map[string]bool{}
			for _, x := range o.launches[0].Options {
				zones[x.Zone] = true
			}
			assert.Len(t, zones, tt.zones)
		})
	}
}
