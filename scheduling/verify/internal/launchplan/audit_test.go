package launchplan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// problem has a node n with 4 cores, a NodePool that may launch two machines of 2 cores, and pods of 1 core.
func problem() scheduling.Problem {
	one := st.Requests(st.Cores(1))
	urgent := st.Pod("urgent", one)
	urgent.Spec.Priority = new(int32)
	*urgent.Spec.Priority = 100
	return scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("two", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))),
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Limit(st.Cores(4)))},
		Nodes:     []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(4), st.GiB(8)))},
		Pods:      []*corev1.Pod{st.Pod("a", one), st.Pod("b", one), urgent},
	}
}

// launch is a launch of the pool at the option, for the pods.
func launch(name, instanceType string, pods ...string) scheduling.Launch {
	n := int64(len(pods))
	return scheduling.Launch{
		Name: name, NodePool: "pool", Price: 10, Pods: pods, Requests: st.Resources(st.Cores(n), st.Count(corev1.ResourcePods, n)),
		Options: []scheduling.LaunchOption{{InstanceType: instanceType, Zone: "a", CapacityType: offerings.OnDemand, Price: 10}},
	}
}

// audit reads a plan, and judges its places.
func audit(plan *scheduling.Plan) (*launchplan.Audit, *rule.Report) {
	report, state := &rule.Report{}, snapshot.New(problem(), scheduling.Policy{})
	a := launchplan.New(report, state, binding.NewTopologyOf(state), plan, nil)
	a.JudgePlaces()
	return a, report
}

// TestBookings: pods come with their nodes in the order in which they bind, i.e. by priority and name, each once; pods of
// nodes that do not exist are left out, and reported.
func TestBookings(t *testing.T) {
	t.Parallel()
	a, report := audit(&scheduling.Plan{
		Launches: []scheduling.Launch{launch("pool-1", "two", "default/a")},
		Existing: []scheduling.Assignment{{Node: "gone", Pods: []string{"default/b"}}, {Node: "n", Pods: []string{"default/a", "default/urgent"}}},
	})
	var got []string
	for _, b := range a.Bookings() {
		got = append(got, b.Pod.Name+" on "+b.Node.Object)
	}
	assert.Equal(t, []string{"default/urgent on node/n", "default/a on launch/pool-1"}, got)
	assert.Equal(t, []rule.Violation{{Code: rule.NodeUnknown, Object: "node/gone", Detail: "is not in the problem"}}, report.Violations)
	assert.False(t, a.AnyTerms())
}

// TestLaunched: each launch has a node at its first option, and an object for it, unless the catalog does not have the option.
func TestLaunched(t *testing.T) {
	t.Parallel()
	a, report := audit(&scheduling.Plan{Launches: []scheduling.Launch{launch("pool-1", "two", "default/a"), launch("pool-2", "three", "default/b")}})
	got := a.Launched()
	require.Len(t, got, 2)
	assert.Equal(t, "pool-1", got[0].Name)
	assert.Equal(t, "two", got[0].Node.Kind.Name)
	assert.Equal(t, "a", got[0].Object.Labels[corev1.LabelTopologyZone])
	assert.Equal(t, launchplan.Launched{Name: "pool-2"}, got[1])
	require.Len(t, report.Violations, 1)
	assert.Equal(t, rule.TypeUnknown, report.Violations[0].Code)
}

// TestCouldLaunch: machines that the plan launches take of the limits of their pool, here two machines.
func TestCouldLaunch(t *testing.T) {
	t.Parallel()
	pod := snapshot.New(problem(), scheduling.Policy{}).Pods["default/urgent"]
	one, report := audit(&scheduling.Plan{Launches: []scheduling.Launch{launch("pool-1", "two", "default/a")}})
	assert.Empty(t, report.Violations)
	assert.True(t, one.CouldLaunch(pod))
	two, report := audit(&scheduling.Plan{Launches: []scheduling.Launch{launch("pool-1", "two", "default/a"), launch("pool-2", "two", "default/b")}})
	assert.Empty(t, report.Violations)
	assert.False(t, two.CouldLaunch(pod))
}
