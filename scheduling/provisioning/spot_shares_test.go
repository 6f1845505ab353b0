package provisioning_test

import (
	"context"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// spotPolicy selects the pods of app web.
func spotPolicy(name string, maxSpot *int32, minOnDemand int32) *scheduling.SpotPolicy {
	return &scheduling.SpotPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: scheduling.SpotPolicySpec{
			PodSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			MaxSpotPercent: maxSpot, MinOnDemand: minOnDemand,
		},
	}
}

// spotMarket has a pool with spot nodes at a third of the price of the same nodes on demand, and ten pods of app web, two of
// which fit on a node.
func spotMarket() scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("m7i.large",
			schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
			schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(9)), schedulingtest.Spot("us-east-1a", schedulingtest.Cents(3)))),
		Pods: schedulingtest.Pods(10, "web", schedulingtest.Label("app", "web"),
			schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(1))),
	}
}

func TestSpotPoliciesBoundTheSharesOfPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		policies       []*scheduling.SpotPolicy
		onDemand, spot int
		price          offerings.Price
	}{
		"at most 60 % on spot": {[]*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}, 4, 6, schedulingtest.Cents(2*9 + 3*3)},
		// Two pods fit on a node, so the fifth pod on demand leaves room for a sixth.
		"rounded down to whole pods":     {[]*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](59), 0)}, 6, 4, schedulingtest.Cents(3*9 + 2*3)},
		"none on spot":                   {[]*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](0), 0)}, 10, 0, schedulingtest.Cents(5 * 9)},
		"all may be on spot":             {[]*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](100), 0)}, 0, 10, schedulingtest.Cents(5 * 3)},
		"at least two on demand":         {[]*scheduling.SpotPolicy{spotPolicy("web", nil, 2)}, 2, 8, schedulingtest.Cents(9 + 4*3)},
		"at least more than there are":   {[]*scheduling.SpotPolicy{spotPolicy("web", nil, 20)}, 10, 0, schedulingtest.Cents(5 * 9)},
		"the stricter of both bounds":    {[]*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 6)}, 6, 4, schedulingtest.Cents(3*9 + 2*3)},
		"a pod counts for both policies": {[]*scheduling.SpotPolicy{spotPolicy("a", nil, 2), spotPolicy("b", nil, 4)}, 4, 6, schedulingtest.Cents(2*9 + 3*3)},
	} {
		t.Run(name, func(t *testing.T) {
			p := spotMarket()
			p.SpotPolicies = tc.policies
			plan, err := provisioning.Planner{}.Plan(context.Background(), p)
			require.NoError(t, err)
			require.NoError(t, verify.Plan(p, plan))
			assert.Equal(t, tc.price, plan.Summary.PricePerHour)
			assert.Less(t, plan.Summary.Gap, 1e-6)
			for _, s := range plan.Summary.SpotShares {
				assert.Equal(t, []int{10, tc.onDemand, tc.spot}, []int{s.Pods, s.OnDemand, s.Spot}, s.Policy)
			}
			assert.Equal(t, schedulingtest.Cents(5*3), *plan.Summary.WithoutSpotPoliciesPerHour)
			assert.Empty(t, plan.Warnings)
		})
	}
}

// Running pods count where they run: four of ten must be on demand, and three are already.
func TestSpotPoliciesCountRunningPods(t *testing.T) {
	p := spotMarket()
	p.Pods = p.Pods[:3]
	node := func(name, capacityType string) *corev1.Node {
		return schedulingtest.Node(name, schedulingtest.Allocatable(schedulingtest.Cores(4), schedulingtest.GiB(8)),
			schedulingtest.Label(offerings.CapacityTypeLabel, capacityType))
	}
	p.Nodes = []*corev1.Node{node("spot", "spot"), node("on-demand", "on-demand")}
	for i, at := range []string{"spot", "spot", "spot", "spot", "on-demand", "on-demand", "on-demand"} {
		p.Running = append(p.Running, schedulingtest.Pod("old-"+string(rune('a'+i)), schedulingtest.Label("app", "web"), schedulingtest.OnNode(at),
			schedulingtest.Requests(schedulingtest.MilliCPU(1000))))
	}
	p.SpotPolicies = []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	s := plan.Summary.SpotShares[0]
	assert.Equal(t, []int{10, 4, 4, 6}, []int{s.Pods, s.MinOnDemand, s.OnDemand, s.Spot})
	assert.Equal(t, "on-demand", plan.Existing[0].Node, "one pod has room there")
	assert.Equal(t, offerings.Spot, plan.Launches[0].Options[0].CapacityType)
}

// Virtual pods count for no policy: four of the ten real pods are on demand, and both virtual ones have room on a spot node.
func TestSpotPoliciesDoNotCountVirtualPods(t *testing.T) {
	p := spotMarket()
	for _, pod := range schedulingtest.Pods(2, "buffer", schedulingtest.Label("app", "web"),
		schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(1))) {
		pod.Annotations = map[string]string{scheduling.VirtualPodAnnotation: "true"}
		p.Pods = append(p.Pods, pod)
	}
	p.SpotPolicies = []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	s := plan.Summary.SpotShares[0]
	assert.Equal(t, []int{10, 4, 4, 6}, []int{s.Pods, s.MinOnDemand, s.OnDemand, s.Spot})
	assert.Equal(t, schedulingtest.Cents(2*9+4*3), plan.Summary.PricePerHour)
	assert.Equal(t, 2, plan.Summary.RoomKept.Launched)
}

// A policy that cannot hold keeps pods pending, and the warning says so.
func TestSpotPolicyWithoutOnDemandNodes(t *testing.T) {
	p := spotMarket()
	p.NodePools = []*scheduling.NodePool{schedulingtest.NodePool("default", schedulingtest.Where(schedulingtest.In(offerings.CapacityTypeLabel, "spot")))}
	p.SpotPolicies = []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	assert.Len(t, plan.Unschedulable, 4)
	assert.Contains(t, lo.Map(plan.Unschedulable[0].Reasons, func(r scheduling.ReasonCount, _ int) string { return r.Detail }), "SpotPolicy web keeps the pod off spot nodes (maxSpotPercent)")
	assert.Contains(t, lo.Map(plan.Warnings, func(w scheduling.Warning, _ int) string { return w.Object + " " + w.Message }),
		"SpotPolicy/web keeps 4 of its 10 pods pending, which must not be on spot nodes, and which a plan without the policy places: "+
			"let a NodePool launch on-demand nodes for them, raise maxSpotPercent or lower minOnDemand")
}

// kube-scheduler binds pods without a requirement to any node: the plan says how many may end on spot nodes.
func TestSpotPolicyWherePodsArePlacedFreely(t *testing.T) {
	p := spotMarket()
	p.Pods = append(p.Pods, schedulingtest.Pods(4, "other", schedulingtest.Requests(schedulingtest.MilliCPU(900), schedulingtest.GiB(1)))...)
	p.SpotPolicies = []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}
	policy := scheduling.Policy{Placement: scheduling.PlacementFree}
	plan, err := provisioning.Planner{Policy: policy}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Checker{Policy: policy}.Plan(p, plan))
	s := plan.Summary.SpotShares[0]
	assert.Equal(t, 6, s.Spot)
	require.NotNil(t, s.SpotAfterScheduling)
	assert.Greater(t, *s.SpotAfterScheduling, 6)
	assert.Contains(t, plan.Warnings[len(plan.Warnings)-1].Message, "kube-scheduler does not know the policy, and may bind ")
}

// A session plans as the planner does while pods and policies come and go.
func TestSpotPoliciesInSessions(t *testing.T) {
	ctx := context.Background()
	x, err := provisioning.NewSession(scheduling.Policy{}, spotMarket())
	require.NoError(t, err)
	same := func(spot int) {
		t.Helper()
		p := x.Problem()
		want, err := provisioning.Planner{}.Plan(ctx, p)
		require.NoError(t, err)
		got, err := x.Plan(ctx)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, verify.Plan(p, got))
		if spot >= 0 {
			require.Equal(t, spot, got.Summary.SpotShares[0].Spot)
		}
	}
	same(-1)
	require.NoError(t, x.Apply(scheduling.Delta{SpotPolicies: []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](60), 0)}}))
	same(6)
	require.NoError(t, x.Apply(scheduling.Delta{Removed: scheduling.Removed{Pods: []types.NamespacedName{{Name: "web-1"}, {Name: "web-2"}}}}))
	same(4)
	require.NoError(t, x.Apply(scheduling.Delta{SpotPolicies: []*scheduling.SpotPolicy{spotPolicy("web", lo.ToPtr[int32](100), 0)}}))
	same(8)
	require.NoError(t, x.Apply(scheduling.Delta{Removed: scheduling.Removed{SpotPolicies: []string{"web"}}}))
	same(-1)
}

// For each percentage and number of pods, two of which fit on a node, the price is the least of all numbers of nodes on demand
// and spot nodes that hold the pods and the share.
func TestSpotSharesCostTheLeast(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for percent := int32(0); percent <= 100; percent += 20 {
			p := spotMarket()
			p.Pods = p.Pods[:n]
			p.SpotPolicies = []*scheduling.SpotPolicy{spotPolicy("web", &percent, 0)}
			plan, err := provisioning.Planner{}.Plan(context.Background(), p)
			require.NoError(t, err)
			least := int64(1 << 40)
			for onDemand := range n + 1 {
				for spot := range n + 1 {
					free := n - min(n, 2*onDemand) // pods that must be on spot nodes
					if 2*(onDemand+spot) >= n && 100*free <= n*int(percent) {
						least = min(least, int64(9*onDemand+3*spot))
					}
				}
			}
			require.Equal(t, schedulingtest.Cents(least), plan.Summary.PricePerHour, "%d pods, %d %%", n, percent)
		}
	}
}

func TestSpotPolicyThatSelectsNothing(t *testing.T) {
	p := spotMarket()
	policy := spotPolicy("web", nil, 2)
	policy.Spec.Namespaces = []string{"nope"}
	p.SpotPolicies = []*scheduling.SpotPolicy{policy}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.Contains(t, plan.Warnings, scheduling.Warning{Object: "SpotPolicy/web", Message: "selects no pod; is podSelector or a namespace misspelt?"})
}

// A session keeps the room: a real pod that comes takes the place of a virtual one, for which the next plan has room again, as a
// plan of the same problem has.
func TestSessionKeepsRoom(t *testing.T) {
	p := spotMarket()
	web := p.Pods[0]
	p.Pods = (&buffers.Buffer{Namespace: "default", Name: "spare", Replicas: 3, Template: corev1.PodTemplateSpec{Spec: web.Spec}}).Pods()
	p.Nodes = []*corev1.Node{schedulingtest.Node("n", schedulingtest.Allocatable(schedulingtest.Cores(2), schedulingtest.GiB(8)))}
	session, err := provisioning.NewSession(scheduling.Policy{}, p)
	require.NoError(t, err)
	for running := range 2 {
		if running > 0 {
			require.NoError(t, session.Apply(scheduling.Delta{Pods: []*corev1.Pod{web}}))
		}
		plan, err := session.Plan(t.Context())
		require.NoError(t, err)
		now := session.Problem()
		require.NoError(t, verify.Plan(now, plan))
		room := plan.Summary.RoomKept
		assert.Equal(t, []int{3, 2 - running, 1 + running}, []int{room.Pods, room.Existing, room.Launched})
		again, err := provisioning.Planner{}.Plan(t.Context(), now)
		require.NoError(t, err)
		assert.Equal(t, room, again.Summary.RoomKept)
	}
}
