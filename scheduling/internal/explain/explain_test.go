package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	. "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest" //nolint:revive // builders read like a language
)

// compiled is a problem as explanations read it.
func compiled(t *testing.T, p scheduling.Problem, policy scheduling.Policy) *instance.Instance {
	t.Helper()
	facts, err := instance.NewFacts(&p, &policy)
	require.NoError(t, err)
	return facts.Compile(false)
}

// leftOut calls f with each class of pods that have no place in a plan of a random problem.
func leftOut(t *testing.T, f func(seed uint64, in *instance.Instance, plan *scheduling.Plan, e *explain.Explainer, id int)) {
	t.Helper()
	policy := scheduling.Policy{Effort: scheduling.EffortFast}
	for seed := range soak.Cases(60) {
		p := Random(seed, Size{TopologyTerms: seed%3 > 0})
		plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
		require.NoError(t, err)
		in := compiled(t, p, policy)
		e := explain.NewExplainer(in, plan)
		for id := range in.Planned {
			if len(e.State.Unplaced(id)) > 0 {
				f(seed, in, plan, e, id)
			}
		}
	}
}

// Each offer of each NodePool and each node counts once, for its first reason, so that the counts say how much of the market
// and of the cluster a reason rules out.
func TestEachOfferAndNodeCountsOnce(t *testing.T) {
	t.Parallel()
	classes := 0
	leftOut(t, func(seed uint64, in *instance.Instance, _ *scheduling.Plan, e *explain.Explainer, id int) {
		places, nodes := len(in.Nodes), len(in.Nodes)
		for _, v := range in.Templates {
			places += v.Within.Count()
		}
		for _, r := range e.Reasons(id) {
			switch r.Code {
			case scheduling.ReasonNoNodePool, scheduling.ReasonNoInstanceType, scheduling.ReasonNodeNotReady: // of no single place
			default:
				places, nodes = places-r.Count, nodes-r.Nodes
			}
		}
		require.Zero(t, places, "seed %d, %s", seed, podspec.PodName(in.Planned[id].Pods[0]))
		require.Zero(t, nodes, "seed %d, %s", seed, podspec.PodName(in.Planned[id].Pods[0]))
		classes++
	})
	require.Positive(t, classes)
}

// A node or machine of the plan to which nothing is said to be in the way is one to which kube-scheduler's filters admit a
// further pod. A node to which they do not admit it has a reason that names a code of its own.
func TestReasonsAgreeWithTheFilters(t *testing.T) {
	t.Parallel()
	refused := 0
	leftOut(t, func(seed uint64, in *instance.Instance, plan *scheduling.Plan, e *explain.Explainer, id int) {
		m := cluster.New(in)
		state, launches := m.Begin(), instance.NewLaunches(in)
		place := func(pods []string, node int32) {
			for _, pod := range pods {
				state.Place(int32(e.State.ClassOf[pod]), node, false)
			}
		}
		machines := make([]int32, len(plan.Launches))
		for i := range plan.Launches {
			at, ok := launches.OfferOf(&plan.Launches[i])
			require.True(t, ok)
			machines[i] = state.Join(m.Bought(offers.OfferRef{Template: at.Template, Offer: at.Offer}))
			place(plan.Launches[i].Pods, machines[i])
		}
		for _, a := range plan.Existing {
			node, ok := m.Node(a.Node)
			require.True(t, ok)
			place(a.Pods, node)
		}
		for bin, x := range in.Nodes {
			node, ok := m.Node(x.Node.Name)
			require.True(t, ok)
			if e.NodeTakes(id, bin) {
				require.True(t, state.Admits(int32(id), node), "seed %d, %s on %s", seed, podspec.PodName(in.Planned[id].Pods[0]), x.Node.Name)
			}
			if !state.Admits(int32(id), node) {
				refused++
				r := e.NodeReason(id, bin)
				require.NotEqual(t, scheduling.ReasonSearch, r.Code, "seed %d, %s on %s", seed, podspec.PodName(in.Planned[id].Pods[0]), x.Node.Name)
				require.NotEmpty(t, r.Detail)
			}
		}
		for i, node := range machines {
			if e.MachineHolds(id, i) {
				require.True(t, state.Admits(int32(id), node), "seed %d, %s on launch %d", seed, podspec.PodName(in.Planned[id].Pods[0]), i)
			}
		}
	})
	require.Positive(t, refused)
}

// zones is a cluster with a node in each of the zones a and b.
func zones(running ...*corev1.Pod) scheduling.Problem {
	p := scheduling.Problem{Running: running}
	for _, zone := range []string{"a", "b"} {
		p.Nodes = append(p.Nodes, Node("node-"+zone, Label(corev1.LabelTopologyZone, zone), Label(corev1.LabelHostname, "node-"+zone), Allocatable(Cores(4), GiB(8))))
	}
	return p
}

// Topology terms are judged and told as kube-scheduler judges one more pod.
func TestTopologyTerms(t *testing.T) {
	t.Parallel()
	web := func(options ...PodOption) []PodOption {
		return append([]PodOption{Label("app", "web"), Requests(MilliCPU(100), GiB(1))}, options...)
	}
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	full := zones(Pod("one", web(OnNode("node-a"))...), Pod("two", web(OnNode("node-b"))...))
	full.NodePools = []*scheduling.NodePool{NodePool("default", MaxNodes(0))}
	full.Catalog = MustCatalog(Type("m.large", Capacity(Cores(2), GiB(8)), OnDemand("c", Cents(10))))
	shared := zones(Pod("one", web(OnNode("node-a"), OwnedBy("ReplicaSet", "web"))...), Pod("two", web(OnNode("node-b"), OwnedBy("ReplicaSet", "web"))...))
	for _, c := range []struct {
		name    string
		problem scheduling.Problem
		policy  scheduling.Policy
		pod     *corev1.Pod
		reasons []scheduling.ReasonCount // nil where the pod has a place
	}{
		{
			name:    "a spread names the domain that has the fewest pods",
			problem: zones(Pod("one", web(OnNode("node-a"))...), Pod("big", Requests(MilliCPU(3950)), OnNode("node-b"))),
			pod:     Pod("two", web(Spread(zone))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonResources, Count: 1, Nodes: 1, Detail: "too little cpu left on running nodes"},
				{Code: scheduling.ReasonTopologySpread, Count: 1, Nodes: 1, Detail: `topology spread over topology.kubernetes.io/zone (maxSkew 1): "a" has 1, the least is 0 ("b")`},
			},
		},
		{
			name:    "a plan spreads over zones, too, in which it could launch the first node",
			problem: full,
			pod:     Pod("three", web(Spread(zone))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonLimits, Count: 1, Detail: "NodePool default reaches its limit of nodes"},
				{Code: scheduling.ReasonTopologySpread, Count: 1, Nodes: 1, Detail: `topology spread over topology.kubernetes.io/zone (maxSkew 1): "a" has 1, the least is 0 ("c")`},
				{Code: scheduling.ReasonTopologySpread, Count: 1, Nodes: 1, Detail: `topology spread over topology.kubernetes.io/zone (maxSkew 1): "b" has 1, the least is 0 ("c")`},
			},
		},
		{
			name:    "a pod that is being deleted does not count for spreads",
			problem: zones(Pod("one", web(OnNode("node-a"), Deleting())...), Pod("two", web(OnNode("node-b"), Deleting())...)),
			pod:     Pod("three", web(Spread(host))...),
		},
		{
			name:    "a pod that is being deleted counts for anti-affinity",
			problem: zones(Pod("one", web(OnNode("node-a"), Deleting())...), Pod("two", web(OnNode("node-b"))...)),
			pod:     Pod("three", web(Apart(host))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonPodAntiAffinity, Count: 2, Nodes: 2, Detail: "pod anti-affinity over kubernetes.io/hostname: the node has a pod that matches app=web"},
			},
		},
		{
			name:    "replicas that keep apart from each other are told one term, not that of the other replica, too",
			problem: zones(Pod("one", web(OnNode("node-a"), Apart(zone))...), Pod("two", web(OnNode("node-b"), Apart(zone))...)),
			pod:     Pod("three", web(Apart(zone))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonPodAntiAffinity, Count: 1, Nodes: 1, Detail: `pod anti-affinity over topology.kubernetes.io/zone: "a" has a pod that matches app=web`},
				{Code: scheduling.ReasonPodAntiAffinity, Count: 1, Nodes: 1, Detail: `pod anti-affinity over topology.kubernetes.io/zone: "b" has a pod that matches app=web`},
			},
		},
		{
			name:    "a running pod may keep away a pod that states no term",
			problem: zones(Pod("one", OnNode("node-a"), Apart(zone, Of("app", "web"))), Pod("two", OnNode("node-b"), Apart(host, Of("app", "web")))),
			pod:     Pod("three", web()...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonPodAntiAffinity, Count: 1, Nodes: 1, Detail: "pod anti-affinity over kubernetes.io/hostname: a pod on the node keeps pods away that match app=web"},
				{Code: scheduling.ReasonPodAntiAffinity, Count: 1, Nodes: 1, Detail: `pod anti-affinity over topology.kubernetes.io/zone: a pod in "a" keeps pods away that match app=web`},
			},
		},
		{
			name:    "an affinity to pods that are nowhere",
			problem: zones(),
			pod:     Pod("one", web(Near(zone, Of("app", "db")))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonPodAffinity, Count: 2, Nodes: 2, Detail: "pod affinity over topology.kubernetes.io/zone: no pod that matches app=db runs or is planned"},
			},
		},
		{
			name:    "an affinity to pods whose zone is full",
			problem: zones(Pod("db", Label("app", "db"), Requests(MilliCPU(3950)), OnNode("node-a"))),
			pod:     Pod("one", web(Near(zone, Of("app", "db")))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonPodAffinity, Count: 1, Nodes: 1, Detail: `pod affinity over topology.kubernetes.io/zone: no pod that matches app=db is in "b"`},
				{Code: scheduling.ReasonResources, Count: 1, Nodes: 1, Detail: "too little cpu left on running nodes"},
			},
		},
		{
			name:    "the WorkloadShare of the policy",
			problem: shared,
			policy:  scheduling.Policy{WorkloadShare: 34},
			pod:     Pod("three", web(OwnedBy("ReplicaSet", "web"))...),
			reasons: []scheduling.ReasonCount{
				{Code: scheduling.ReasonWorkloadShare, Count: 2, Nodes: 2, Detail: "share of its workload on one node (1 at most): the node has as many as it may"},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.problem.Pods = []*corev1.Pod{c.pod}
			in := compiled(t, c.problem, c.policy)
			plan := &scheduling.Plan{}
			explain.Explain(in, plan)
			require.Len(t, plan.Unschedulable, 1)
			var reasons []scheduling.ReasonCount
			for _, r := range plan.Unschedulable[0].Reasons {
				if r.Code != scheduling.ReasonNoNodePool && r.Code != scheduling.ReasonSearch {
					reasons = append(reasons, r)
				}
			}
			require.Equal(t, c.reasons, reasons)
		})
	}
}

// TestUsedUpAttachLimit: a node whose attach limit is used up has volumes of the driver, so that its two obstacles are nearer
// than the three of an offer.
func TestUsedUpAttachLimit(t *testing.T) {
	claim := func(name string) *corev1.PersistentVolumeClaim { return Claim(name, OfClass("disk")) }
	class := StorageClass("disk")
	p := scheduling.Problem{
		Catalog:        MustCatalog(Type("small", Capacity(MilliCPU(10), GiB(16)), OnDemand("a", Cents(10)))),
		NodePools:      []*scheduling.NodePool{NodePool("db", Taint("team", "db", corev1.TaintEffectNoSchedule))},
		Nodes:          []*corev1.Node{Node("full", Allocatable(Cores(4), GiB(16)))},
		CSINodes:       []*storagev1.CSINode{CSINode("full", Count(corev1.ResourceName(class.Provisioner), 1))},
		StorageClasses: []*storagev1.StorageClass{class},
		Claims:         []*corev1.PersistentVolumeClaim{claim("old"), claim("new")},
		Running:        []*corev1.Pod{Pod("old", UseClaim("old"), OnNode("full"))},
		Pods:           []*corev1.Pod{Pod("new", UseClaim("new"), Requests(MilliCPU(100)), Select("disk", "ssd"))},
	}
	plan := &scheduling.Plan{}
	explain.Explain(compiled(t, p, scheduling.Policy{}), plan)
	require.Len(t, plan.Unschedulable, 1)
	var kinds []scheduling.ChangeKind
	for _, c := range plan.Unschedulable[0].Changes {
		kinds = append(kinds, c.Kind)
		for _, and := range c.And {
			kinds = append(kinds, and.Kind)
		}
	}
	require.Contains(t, kinds, scheduling.ChangeVolume, "%v", plan.Unschedulable[0].Changes)
	require.NotContains(t, kinds, scheduling.ChangeToleration, "%v", plan.Unschedulable[0].Changes)
}
