package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	. "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest" //nolint:revive // builders read like a language
)

// explainer plans a problem and returns the explainer of the plan.
func explainer(t *testing.T, solver scheduling.Policy, p scheduling.Problem) (*provisioning.Explainer, *scheduling.Plan) {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
	require.NoError(t, err)
	x, err := provisioning.Planner{Policy: solver}.Explain(p, plan)
	require.NoError(t, err)
	return x, plan
}

func machines() scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{NodePool("default")},
		Catalog: MustCatalog(
			Type("c.large", Capacity(Cores(2), GiB(4)), OnDemand("a", Cents(8))),
			Type("m.large", Capacity(Cores(2), GiB(8)), OnDemand("a", Cents(10)), OnDemand("b", Cents(12))),
			Type("m.xlarge", Capacity(Cores(4), GiB(16)), OnDemand("a", Cents(20))),
			Type("r.large", Capacity(Cores(2), GiB(16)), OnDemand("a", Cents(15))),
			Type("t.small", Capacity(Cores(1), GiB(8)), OnDemand("a", Cents(7))),
		),
	}
}

// The explanation of a launch has the prices of other offerings, and for each cheaper one the reason why it is not used.
func TestExplainLaunch(t *testing.T) {
	p := machines()
	p.Pods = append(Pods(2, "web", Requests(MilliCPU(500), GiB(2))), Pod("db", Requests(MilliCPU(500), GiB(2))))
	x, plan := explainer(t, scheduling.Policy{}, p)
	require.Len(t, plan.Launches, 1)
	l, err := x.Launch(plan.Launches[0].Name)
	require.NoError(t, err)
	require.Equal(t, "m.large", l.Option.InstanceType)
	require.Equal(t, "cpu", l.Rooms[0].Resource)
	require.InDelta(t, 0.75, l.Rooms[0].Share(), 1e-9)
	require.Equal(t, 2, l.Others)
	require.Equal(t, []string{"r.large", "m.xlarge"}, names(l.RunnersUp))
	require.Equal(t, Cents(15), l.RunnersUp[0].Price)
	require.Len(t, l.Cheaper, 2)
	require.Equal(t, "c.large", l.Cheaper[0].InstanceType)
	require.Equal(t, "memory 4Gi < 6Gi requested", l.Cheaper[0].Reason.Detail)
	require.Equal(t, "cpu 1 < 1500m requested", l.Cheaper[1].Reason.Detail)
	require.Equal(t, []scheduling.ReasonCount{
		{Code: scheduling.ReasonResources, Count: 1, Detail: "too little cpu"},
		{Code: scheduling.ReasonResources, Count: 1, Detail: "too little memory"},
	}, l.RuledOut)
	require.Equal(t, []string{"default/db", "default/web-1", "default/web-2"}, []string{l.Pods[0].Pod, l.Pods[1].Pod, l.Pods[2].Pod})
	require.InDelta(t, 0.25, l.Pods[0].Share, 1e-9)
}

func names(options []scheduling.LaunchOption) []string {
	var out []string
	for i := range options {
		out = append(out, options[i].InstanceType)
	}
	return out
}

// Offerings are not eligible for other reasons than room, too: constraints, availability, weights, limits, reservations, and
// topology terms that need the node's domain.
func TestExplainLaunchRuledOut(t *testing.T) {
	tests := map[string]struct {
		change func(*scheduling.Problem)
		want   scheduling.ReasonCount
	}{
		"selector": {
			func(p *scheduling.Problem) {
				p.Pods = []*corev1.Pod{Pod("web", Requests(Cores(2)), Select(corev1.LabelInstanceTypeStable, "m.large"))}
			},
			scheduling.ReasonCount{Code: scheduling.ReasonRequirements, Count: 4, Detail: "node selector node.kubernetes.io/instance-type=m.large does not match"},
		},
		"weight": {
			func(p *scheduling.Problem) {
				p.NodePools = append(p.NodePools, NodePool("spare"))
				p.NodePools[0] = NodePool("default", Weight(10))
			},
			scheduling.ReasonCount{Code: scheduling.ReasonWeight, Count: 6, Detail: "NodePool spare has a lower weight"},
		},
		"limits": {
			func(p *scheduling.Problem) { p.NodePools[0] = NodePool("default", Limit(Cores(2))) },
			scheduling.ReasonCount{Code: scheduling.ReasonLimits, Count: 1, Detail: "the limits of NodePool default leave no room for it"},
		},
		"taint": {
			func(p *scheduling.Problem) {
				p.NodePools = append(p.NodePools, NodePool("own", Taint("team", "x", corev1.TaintEffectNoSchedule)))
			},
			scheduling.ReasonCount{Code: scheduling.ReasonTaints, Count: 6, Detail: "NodePool own has the untolerated taint team=x:NoSchedule"},
		},
		"spread": {
			func(p *scheduling.Problem) {
				p.Pods = Pods(2, "web", Requests(Cores(2)), Label("app", "web"), Spread(corev1.LabelTopologyZone))
			},
			scheduling.ReasonCount{Code: scheduling.ReasonTopologySpread, Count: 1, Detail: "topology spread over topology.kubernetes.io/zone (maxSkew 1) counts on its being in a"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := machines()
			p.Pods = []*corev1.Pod{Pod("web", Requests(Cores(2)))}
			tt.change(&p)
			x, plan := explainer(t, scheduling.Policy{}, p)
			l, err := x.Launch(plan.Launches[0].Name)
			require.NoError(t, err)
			require.Contains(t, l.RuledOut, tt.want)
		})
	}
}

// The explanation of a placed pod has the next best places, and the pods that its topology terms count.
func TestExplainPod(t *testing.T) {
	p := machines()
	p.Nodes = []*corev1.Node{
		Node("n1", Allocatable(Cores(1), GiB(8)), Label(corev1.LabelTopologyZone, "a")),
		Node("n2", Allocatable(Cores(1), GiB(8)), Label(corev1.LabelTopologyZone, "a")),
	}
	p.Running = []*corev1.Pod{Pod("old", OnNode("n2"), Requests(MilliCPU(100)), Label("app", "web"))}
	p.Pods = []*corev1.Pod{
		Pod("web", Requests(MilliCPU(200), GiB(1)), Label("app", "web"), Near(corev1.LabelTopologyZone), Priority(7)),
		Pod("huge", Requests(Cores(64))),
		Pod("big", Requests(Cores(4), GiB(1))),
	}
	x, plan := explainer(t, scheduling.Policy{}, p)
	require.Len(t, plan.Existing, 1)
	web, err := x.Pod("web")
	require.NoError(t, err)
	require.Equal(t, explanation.PodExisting, web.Status)
	require.Equal(t, plan.Existing[0].Node, web.Place)
	require.Equal(t, int32(7), web.Priority)
	require.Len(t, web.Next, 2)
	require.NotEqual(t, web.Place, web.Next[0].Node)
	require.NotEmpty(t, web.Next[0].Node)
	require.Zero(t, web.Next[0].Price())
	require.Equal(t, "t.small", web.Next[1].Option.InstanceType)
	require.Equal(t, Cents(7), web.Next[1].Price())
	require.Equal(t, []explanation.TopologyTerm{{
		Code: scheduling.ReasonPodAffinity, Key: corev1.LabelTopologyZone, Matching: "app=web",
		Text:    "pod affinity over topology.kubernetes.io/zone of pods that match app=web",
		Domains: []explanation.DomainCount{{Value: "a", Pods: 1}},
	}}, web.TopologyTerms)
	require.Contains(t, web.RuledOut, scheduling.ReasonCount{
		Code: scheduling.ReasonPodAffinity, Count: 1,
		Detail: "pod affinity over topology.kubernetes.io/zone: no pod that matches app=web is in \"b\"",
	})

	huge, err := x.Pod("default/huge")
	require.NoError(t, err)
	require.Equal(t, explanation.PodUnschedulable, huge.Status)
	require.Equal(t, []scheduling.Change{{
		Kind: scheduling.ChangeRequest, Key: "cpu", From: "64", To: "4", Text: "request at most 4 cpu instead of 64",
	}}, huge.Changes)

	old, err := x.Pod("old")
	require.NoError(t, err)
	require.Equal(t, explanation.PodRunning, old.Status)
	require.Equal(t, "n2", old.Place)
}

// Pods that are not pending have no explanation.
func TestExplainPodsThatAreIgnored(t *testing.T) {
	p := machines()
	p.Pods = []*corev1.Pod{
		Pod("web", Requests(Cores(1))),
		Pod("ended", PodPhase(corev1.PodSucceeded)),
		Pod("agent", OwnedByDaemonSet("agents")),
	}
	x, _ := explainer(t, scheduling.Policy{}, p)
	for _, name := range []string{"ended", "agent"} {
		e, err := x.Pod(name)
		require.NoError(t, err)
		require.Equal(t, explanation.PodIgnored, e.Status)
		require.Empty(t, e.Place)
	}
}

// The explanation of a node has the pods that it receives, its free capacity, and for each pod that it does not take the reason.
func TestExplainNode(t *testing.T) {
	p := machines()
	p.NodePools = []*scheduling.NodePool{NodePool("default", MaxNodes(0))}
	p.Nodes = []*corev1.Node{
		Node("n1", OfPool("default"), Allocatable(Cores(4), GiB(8)), Label(corev1.LabelTopologyZone, "a")),
		Node("leaving", Allocatable(Cores(4), GiB(8)), Disrupted()),
	}
	p.Running = []*corev1.Pod{
		Pod("old", OnNode("n1"), Requests(Cores(1), GiB(1)), Label("app", "db")),
		Pod("gone", OnNode("leaving"), Requests(Cores(1), GiB(1))),
	}
	p.Pods = []*corev1.Pod{
		Pod("web", Requests(Cores(2), GiB(1))),
		Pod("large", Requests(Cores(8))),
		Pod("larger", Requests(Cores(9))),
		Pod("alone", Requests(MilliCPU(100)), Apart(corev1.LabelHostname, Of("app", "db"))),
	}
	x, _ := explainer(t, scheduling.Policy{}, p)
	n, err := x.Node("n1")
	require.NoError(t, err)
	require.Equal(t, explanation.NodeReady, n.State)
	require.Equal(t, "default", n.NodePool)
	require.Equal(t, explanation.Room{Resource: "cpu", Allocatable: 4000, Running: 1000, Planned: 2000, Free: 1000}, n.Rooms[0])
	require.Equal(t, "default/web", n.Planned[0].Pod)
	require.InDelta(t, 0.5, n.Planned[0].Share, 1e-9)
	require.Equal(t, "default/old", n.Running[0].Pod)
	require.ElementsMatch(t, []explanation.Refusal{
		{Pods: []string{"default/large", "default/larger"}, Reason: scheduling.ReasonCount{Code: scheduling.ReasonResources, Count: 1, Detail: "too little cpu left on running nodes"}},
		{Pods: []string{"default/alone"}, Reason: scheduling.ReasonCount{Code: scheduling.ReasonPodAntiAffinity, Count: 1, Detail: "pod anti-affinity over kubernetes.io/hostname: the node has a pod that matches app=db"}},
	}, n.Refused)

	leaving, err := x.Node("leaving")
	require.NoError(t, err)
	require.Equal(t, explanation.NodeBeingRemoved, leaving.State)
	require.Empty(t, leaving.Planned)
	require.Empty(t, leaving.Refused)
	require.Equal(t, int64(3000), leaving.Rooms[0].Free)
}

// A pod with a scheduling gate, a resource claim or a missing volume claim has this as its reason, with the change that lifts it.
func TestRefusedOutrightWithARemedy(t *testing.T) {
	p := machines()
	gated, claiming := Pod("gated", Requests(Cores(1))), Pod("claiming", Requests(Cores(1)))
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	claiming.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
	p.Pods = []*corev1.Pod{gated, claiming, Pod("stored", Requests(Cores(1)), UseClaim("data"))}
	x, plan := explainer(t, scheduling.Policy{}, p)
	require.Len(t, plan.Unschedulable, 3)
	want := map[string]scheduling.Change{
		"gated":    {Kind: scheduling.ChangeGate, Object: "example.com/quota", Text: "remove the scheduling gate example.com/quota, or have its controller do so"},
		"claiming": {Kind: scheduling.ChangeResourceClaim, Object: "gpu", Text: "drop the resource claim gpu, or ask for the device as an extended resource"},
		"stored":   {Kind: scheduling.ChangeClaim, Object: "PersistentVolumeClaim/default/data", Text: "create persistent volume claim default/data"},
	}
	for name, change := range want {
		e, err := x.Pod(name)
		require.NoError(t, err)
		require.Equal(t, []scheduling.Change{change}, e.Changes)
		require.Len(t, e.RuledOut, 1)
	}
}

// An unknown name is an error with similar names.
func TestExplainUnknownNames(t *testing.T) {
	p := machines()
	p.Nodes = []*corev1.Node{Node("worker-1"), Node("worker-2")}
	p.Pods = append(Pods(2, "web", Requests(Cores(1), GiB(1))), Pod("web-1", Namespace("shop"), Requests(Cores(1))))
	x, _ := explainer(t, scheduling.Policy{}, p)
	tests := []struct {
		ask  func(string) error
		name string
		want explanation.UnknownNameError
	}{
		{pods(x), "wep-2", explanation.UnknownNameError{Kind: "pod", Near: []string{"default/web-2", "default/web-1", "shop/web-1"}[:1]}},
		{pods(x), "web-1", explanation.UnknownNameError{Kind: "pod", Near: []string{"default/web-1", "shop/web-1"}, Ambiguous: true}},
		{pods(x), "other/web-1", explanation.UnknownNameError{Kind: "pod"}},
		{pods(x), "payments", explanation.UnknownNameError{Kind: "pod"}},
		{nodes(x), "worker-3", explanation.UnknownNameError{Kind: "node", Near: []string{"worker-1", "worker-2"}}},
		{nodes(x), "orker", explanation.UnknownNameError{Kind: "node", Near: []string{"worker-1", "worker-2"}}},
		{launches(x), "default-l", explanation.UnknownNameError{Kind: "launch", Near: []string{"default-1"}}},
		{launches(x), "", explanation.UnknownNameError{Kind: "launch"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *explanation.UnknownNameError
			require.ErrorAs(t, tt.ask(tt.name), &got)
			tt.want.Name = tt.name
			require.Equal(t, tt.want.Kind, got.Kind)
			require.Equal(t, tt.want.Ambiguous, got.Ambiguous)
			for _, near := range tt.want.Near {
				require.Contains(t, got.Near, near)
				require.Contains(t, got.Error(), near)
			}
			if len(tt.want.Near) == 0 && tt.name != "other/web-1" {
				require.Empty(t, got.Near)
			}
			require.LessOrEqual(t, len(got.Near), 5)
		})
	}
}

func pods(x *provisioning.Explainer) func(string) error {
	return func(name string) error { _, err := x.Pod(name); return err }
}

func nodes(x *provisioning.Explainer) func(string) error {
	return func(name string) error { _, err := x.Node(name); return err }
}

func launches(x *provisioning.Explainer) func(string) error {
	return func(name string) error { _, err := x.Launch(name); return err }
}

// Explain refuses the problems that Plan refuses. A plan of another problem is not an error.
func TestExplainRefuses(t *testing.T) {
	p := machines()
	p.Pods = []*corev1.Pod{Pod("web", Requests(Cores(1)))}
	_, plan := explainer(t, scheduling.Policy{}, p)
	_, err := provisioning.Planner{Policy: scheduling.Policy{Effort: -1}}.Explain(p, plan)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	_, err = provisioning.Planner{}.Explain(p, nil)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	bad := p
	bad.Pods = append(bad.Pods, Pod("web"))
	_, err = provisioning.Planner{}.Explain(bad, plan)
	require.ErrorIs(t, err, scheduling.ErrInvalid)

	foreign := *plan
	foreign.Launches = append([]scheduling.Launch{}, plan.Launches...)
	foreign.Launches[0].Options = []scheduling.LaunchOption{{InstanceType: "never", Zone: "a", CapacityType: offerings.Spot}}
	foreign.Launches = append(foreign.Launches, scheduling.Launch{Name: "empty", NodePool: "none", Pods: []string{"default/nobody"}})
	x, err := provisioning.Planner{}.Explain(p, &foreign)
	require.NoError(t, err)
	_, err = x.Launch(plan.Launches[0].Name)
	require.ErrorContains(t, err, "no NodePool of the problem has its offering")
	_, err = x.Launch("empty")
	require.ErrorContains(t, err, "no NodePool of the problem has its offering")
	e, err := x.Pod("web")
	require.NoError(t, err)
	require.Equal(t, explanation.PodLaunch, e.Status)
	var unknown *explanation.UnknownNameError
	_, err = x.Pod("nobody")
	require.ErrorAs(t, err, &unknown)
}
