package oracle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"
	"k8s.io/component-base/metrics"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A whole scheduler with the plugin binds every planned pod to the node of the plan, and no pod that the plan leaves
// pending.
func TestWholeScheduler(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 5, 6, 13} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := st.Random(seed, st.Size{})
			plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
			require.NoError(t, err)
			require.NotZero(t, plan.Summary.Placed)
			follow(t, &p, plan)
		})
	}
}

// The same holds for pods with topology terms, and for pods with volumes, which are made as soon as their pods have a
// node.
func TestWholeSchedulerWithTies(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := onlyAdmitted(st.Random(seed, st.Size{Pods: 25, TopologyTerms: true}))
			plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
			require.NoError(t, err)
			follow(t, &p, plan)
		})
	}
}

// following is a registry with the plugin, by which kube-scheduler follows a plan.
func following(plan *scheduling.Plan) frameworkruntime.Registry {
	source := &kubescheduler.Plan{}
	source.Set(plan, time.Time{})
	factory := kubescheduler.Factory(kubescheduler.Options{Args: kubescheduler.Args{Mode: kubescheduler.Pinned}, Source: source, Register: metrics.NewKubeRegistry().Register})
	return frameworkruntime.Registry{kubescheduler.Name: factory}
}

// follow runs a whole scheduler with the plugin, and requires it to bind as planned. As in a real cluster the pods are
// there first, and the nodes join later.
func follow(t *testing.T, p *scheduling.Problem, plan *scheduling.Plan) {
	t.Helper()
	c, err := oracle.CarryOut(p, plan, nil)
	require.NoError(t, err)
	for i := range c.Nodes {
		if l := c.Nodes[i].Launch; l != nil {
			c.Nodes[i].Labels[kubescheduler.LaunchLabel] = l.Name
			c.Nodes[i].Late = true
		}
	}
	got, err := oracle.Run(t.Context(), c, following(plan), oracle.Objects(p)...)
	require.NoError(t, err)
	want := map[string]string{}
	for _, x := range c.Placements {
		want[x.Pod.Namespace+"/"+x.Pod.Name] = x.Node
	}
	require.Equal(t, want, got.Bound, "refused: %v", got.Refused)
	require.Len(t, got.Refused, len(plan.Unschedulable))
}

// Without the plugin, kube-scheduler spreads the pods of one planned node over several nodes, and not all fit.
func TestWholeSchedulerWithoutThePlugin(t *testing.T) {
	small := st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.Spot("zone-a", st.Cents(2)))
	large := st.Type("large", st.Capacity(st.Cores(8), st.GiB(32)), st.Spot("zone-a", st.Cents(8)))
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(small, large),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods: append(st.Pods(2, "little", st.Requests(st.Cores(1), st.GiB(1)), st.Priority(10)),
			st.Pod("big", st.Requests(st.Cores(8), st.GiB(1)))),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, plan.Launches, 2)
	follow(t, &p, plan)

	c, err := oracle.CarryOut(&p, plan, nil)
	require.NoError(t, err)
	got, err := oracle.Run(t.Context(), c, nil)
	require.NoError(t, err)
	require.Contains(t, got.Refused, "default/big")
	require.Contains(t, got.Refused["default/big"], "Insufficient cpu")
}
