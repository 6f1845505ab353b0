package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// shop is a problem whose plan has two nodes of a pool with a taint and an open label, an existing node that takes a
// pod, a DaemonSet pod, and a pod without a place.
func shop() scheduling.Problem {
	const dedicated = "example.com/dedicated"
	return scheduling.Problem{
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("zone-a", st.Cents(5)), st.Spot("zone-b", st.Cents(2))),
			st.Type("large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("zone-a", st.Cents(10)), st.Spot("zone-b", st.Cents(4))),
		),
		NodePools: []*scheduling.NodePool{
			st.NodePool("general", st.Where(st.Exists("example.com/team")), st.Taint(dedicated, "shop", corev1.TaintEffectNoSchedule)),
		},
		Nodes:      []*corev1.Node{st.Node("node-0", st.Allocatable(st.Cores(1), st.GiB(2)))},
		DaemonSets: []*daemonSet{st.DaemonSet("agent", st.Requests(st.MilliCPU(100)), st.TolerateAll())},
		Pods: slices.Concat(
			st.Pods(2, "red", st.Requests(st.MilliCPU(3500), st.GiB(1)), st.TolerateKey(dedicated, ""), st.Select("example.com/team", "red")),
			st.Pods(1, "tiny", st.Requests(st.MilliCPU(900))),
			st.Pods(1, "huge", st.Requests(st.Cores(64)), st.TolerateKey(dedicated, "")),
		),
	}
}

// solved returns the plan for a problem. The oracle must agree with it.
func solved(t *testing.T, s *oracle.Scheduler, p *scheduling.Problem) *scheduling.Plan {
	t.Helper()
	plan, err := provisioning.Planner{}.Plan(t.Context(), *p)
	require.NoError(t, err)
	found, err := oracle.Check(t.Context(), s, p, plan, oracle.Config{Samples: 3})
	require.NoError(t, err)
	require.Empty(t, found)
	return plan
}

// The oracle notices every fault of a plan for which kube-scheduler would not bind the pods so.
func TestCheckNoticesMistakes(t *testing.T) {
	tests := []struct {
		name   string
		spoil  func(*scheduling.Plan)
		kind   oracle.Kind
		pod    string
		plugin string
	}{
		{
			name: "two pods where one fits", kind: oracle.Refused, pod: "default/red-2", plugin: "NodeResourcesFit",
			spoil: func(p *scheduling.Plan) {
				p.Launches[0].Pods = []string{"default/red-1", "default/red-2"}
				p.Launches = p.Launches[:1]
			},
		},
		{
			name: "too small a type", kind: oracle.Refused, pod: "default/red-1", plugin: "NodeResourcesFit",
			spoil: func(p *scheduling.Plan) {
				p.Launches[0].Options[0] = scheduling.LaunchOption{InstanceType: "small", Zone: "zone-a", CapacityType: "on-demand"}
			},
		},
		{
			name: "too small a type as an alternative", kind: oracle.Refused, pod: "default/red-1", plugin: "NodeResourcesFit",
			spoil: func(p *scheduling.Plan) {
				p.Launches[0].Options = append(p.Launches[0].Options[:1], scheduling.LaunchOption{InstanceType: "small", Zone: "zone-a", CapacityType: "on-demand"})
			},
		},
		{
			name: "a taint", kind: oracle.Refused, pod: "default/red-1", plugin: "TaintToleration",
			spoil: func(p *scheduling.Plan) {
				p.Launches[0].Taints = append(p.Launches[0].Taints, corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute})
			},
		},
		{
			name: "another value of the open label", kind: oracle.Refused, pod: "default/red-1", plugin: "NodeAffinity",
			spoil: func(p *scheduling.Plan) { p.Launches[0].Labels = map[string]string{"example.com/team": "blue"} },
		},
		{
			name: "the wrong node", kind: oracle.Refused, pod: "default/tiny-1", plugin: "TaintToleration",
			spoil: func(p *scheduling.Plan) {
				p.Existing = nil
				p.Launches[0].Pods = append(p.Launches[0].Pods, "default/tiny-1")
			},
		},
		{
			name: "a running node overlooked", kind: oracle.Overlooked, pod: "default/tiny-1",
			spoil: func(p *scheduling.Plan) {
				p.Existing = nil
				p.Unschedulable = append(p.Unschedulable, scheduling.Unschedulable{Pod: "default/tiny-1"})
			},
		},
		{
			name: "a machine overlooked", kind: oracle.Overlooked, pod: "default/red-1",
			spoil: func(p *scheduling.Plan) {
				p.Launches = p.Launches[1:]
				p.Unschedulable = append(p.Unschedulable, scheduling.Unschedulable{Pod: "default/red-1"})
			},
		},
		{
			name: "limits that are none", kind: oracle.Overlooked, pod: "default/red-1",
			spoil: func(p *scheduling.Plan) {
				p.Launches = p.Launches[1:]
				p.Unschedulable = append(p.Unschedulable, scheduling.Unschedulable{
					Pod: "default/red-1", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonLimits, Count: 1}},
				})
			},
		},
	}
	s := newScheduler(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := shop()
			plan := solved(t, s, &p)
			require.Len(t, plan.Launches, 2)
			slices.SortFunc(plan.Launches, func(a, b scheduling.Launch) int { return strings.Compare(a.Pods[0], b.Pods[0]) })
			tt.spoil(plan)
			found, err := oracle.Check(t.Context(), s, &p, plan, oracle.Config{Samples: 1})
			require.NoError(t, err)
			i := slices.IndexFunc(found, func(d oracle.Disagreement) bool { return d.Pod == tt.pod })
			require.GreaterOrEqual(t, i, 0, "found %v", found)
			require.Equal(t, tt.kind, found[i].Kind)
			require.Equal(t, tt.plugin, found[i].Plugin)
			require.Contains(t, found[i].String(), tt.pod)
		})
	}
}

// A plan that names objects that the problem does not have cannot be carried out.
func TestCheckErrors(t *testing.T) {
	tests := []struct {
		name, message string
		spoil         func(*scheduling.Plan)
	}{
		{
			name: "pod of a launch", message: "pod default/ghost of the plan is not in the problem",
			spoil: func(p *scheduling.Plan) { p.Launches[0].Pods[0] = "default/ghost" },
		},
		{
			name: "pod of a node", message: "pod default/ghost of the plan is not in the problem",
			spoil: func(p *scheduling.Plan) { p.Existing[0].Pods[0] = "default/ghost" },
		},
		{
			name: "refused pod", message: "pod default/ghost of the plan is not in the problem",
			spoil: func(p *scheduling.Plan) { p.Unschedulable[0].Pod = "default/ghost" },
		},
		{
			name: "node", message: "node nowhere of the plan is not in the problem",
			spoil: func(p *scheduling.Plan) { p.Existing[0].Node = "nowhere" },
		},
		{
			name: "type", message: "launch general-1: the catalog has no instance type huge",
			spoil: func(p *scheduling.Plan) { p.Launches[0].Options[0].InstanceType = "huge" },
		},
		{
			name: "zone", message: `launch general-1: the catalog does not offer large as spot in zone "zone-x"`,
			spoil: func(p *scheduling.Plan) { p.Launches[0].Options[0].Zone = "zone-x" },
		},
		{
			name: "no option", message: "launch general-1 has no option 0",
			spoil: func(p *scheduling.Plan) { p.Launches[0].Options = nil },
		},
	}
	s := newScheduler(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := shop()
			plan := solved(t, s, &p)
			tt.spoil(plan)
			_, err := oracle.Check(t.Context(), s, &p, plan, oracle.Config{})
			require.EqualError(t, err, tt.message)
		})
	}
}

// kube-scheduler need not refuse a machine that limits, reservations or minValues rule out.
func TestCheckExcuses(t *testing.T) {
	tests := map[string]struct {
		pool    *scheduling.NodePool
		catalog st.TypeOption
		reason  scheduling.ReasonCode
	}{
		"limits":     {st.NodePool("general", st.MaxNodes(0)), st.OnDemand("zone-a", st.Cents(5)), scheduling.ReasonLimits},
		"minValues":  {st.NodePool("general", st.Where(st.AtLeast(2, st.Exists(corev1.LabelInstanceTypeStable)))), st.OnDemand("zone-a", st.Cents(5)), scheduling.ReasonMinValues},
		"no machine": {st.NodePool("general", st.Replicas(1)), st.OnDemand("zone-a", st.Cents(5)), scheduling.ReasonNoNodePool},
	}
	s := newScheduler(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := scheduling.Problem{
				Catalog:   st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), tt.catalog)),
				NodePools: []*scheduling.NodePool{tt.pool},
				Pods:      st.Pods(1, "web", st.Requests(st.Cores(1))),
			}
			plan := solved(t, s, &p)
			require.Len(t, plan.Unschedulable, 1)
			require.Equal(t, tt.reason, plan.Unschedulable[0].Reasons[0].Code)
		})
	}
}
