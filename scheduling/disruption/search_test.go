package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// yard is a small cluster to be put together.
type yard struct {
	t       *testing.T
	cluster disruption.Cluster
}

// newYard sells c2, c4 and c8 with as many cores, at 5 cents a core on demand and 2 on spot,
// and memory only machines r4 that cost more.
func newYard(t *testing.T, pools ...*scheduling.NodePool) *yard {
	y := &yard{t: t}
	var types []*instancetypes.InstanceType
	add := func(name string, cores, memory int64, price offerings.Price) {
		x := st.Type(name, st.Capacity(st.Cores(cores), st.GiB(memory), st.Count("pods", 50)),
			st.OnDemand("a", price), st.OnDemand("b", price), st.Spot("a", price*2/5))
		types = append(types, x)
	}
	add("c2", 2, 8, st.Cents(10))
	add("c4", 4, 16, st.Cents(20))
	add("c8", 8, 32, st.Cents(40))
	add("r4", 4, 32, st.Cents(30))
	add("cheap4", 4, 16, st.Cents(18))
	if len(pools) == 0 {
		pools = []*scheduling.NodePool{st.NodePool("default", st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")))}
	}
	for _, pool := range pools {
		pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	}
	y.cluster.Catalog = st.MustCatalog(types...)
	y.cluster.NodePools = pools
	y.cluster.Now = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	return y
}

// node adds a node of a type with pods of so many millicores each.
func (y *yard) node(name, instanceType, zone string, by offerings.CapacityType, pods []int64, opts ...st.PodOption) {
	y.t.Helper()
	catalog := y.cluster.Catalog
	l := scheduling.Launch{Name: name, NodePool: y.cluster.NodePools[0].Name}
	node, err := l.Node(name, &scheduling.LaunchOption{InstanceType: instanceType, Zone: zone, CapacityType: by}, catalog)
	require.NoError(y.t, err)
	y.cluster.Nodes = append(y.cluster.Nodes, node)
	for i, cpu := range pods {
		all := append([]st.PodOption{st.OnNode(name), st.Requests(st.MilliCPU(cpu), st.MiB(100))}, opts...)
		pod := st.Pod(fmt.Sprintf("%s-%d", name, i), all...)
		pod.Status.Phase = corev1.PodRunning
		y.cluster.Running = append(y.cluster.Running, pod)
	}
}

// plan plans, has the steps judged, and finds that nothing is left to do afterwards.
func (y *yard) plan(p disruption.Planner) *disruption.ConsolidationPlan {
	y.t.Helper()
	plan, err := p.Plan(context.Background(), y.cluster)
	require.NoError(y.t, err)
	require.NoError(y.t, verify.StepsChecker{Planner: p}.Steps(y.cluster, plan))
	again, err := p.Plan(context.Background(), st.Apply(y.cluster, time.Hour, plan.Steps...))
	require.NoError(y.t, err)
	assert.Empty(y.t, again.Steps, "planned again")
	for k := range plan.Steps {
		part, err := p.Plan(context.Background(), st.Apply(y.cluster, 0, plan.Steps[:k]...))
		require.NoError(y.t, err)
		assert.LessOrEqual(y.t, part.Summary.PricePerHourAfter, part.Summary.PricePerHourBefore)
	}
	return plan
}

func drained(plan *disruption.ConsolidationPlan) (out []string) {
	for i := range plan.Steps {
		out = append(out, plan.Steps[i].Drain...)
	}
	slices.Sort(out)
	return out
}

func bought(plan *disruption.ConsolidationPlan) (out []string) {
	for i := range plan.Steps {
		for j := range plan.Steps[i].Launches {
			o := &plan.Steps[i].Launches[j].Options[0]
			out = append(out, o.InstanceType+" "+string(o.CapacityType))
		}
	}
	slices.Sort(out)
	return out
}

// D52, D70: small clusters of which the best answer is known.
func TestBestAnswers(t *testing.T) {
	const onDemand = offerings.OnDemand
	for name, tt := range map[string]struct {
		build   func(y *yard)
		drained []string
		bought  []string
		after   offerings.Price
	}{
		"a node whose pods find room goes": {func(y *yard) {
			y.node("full", "cheap4", "a", onDemand, []int64{1500, 1500})
			y.node("idle", "cheap4", "a", onDemand, []int64{500})
		}, []string{"idle"}, nil, st.Cents(18)},
		"the emptier of two goes, and the other stays": {func(y *yard) {
			y.node("one", "cheap4", "a", onDemand, []int64{400, 400, 400, 400})
			y.node("two", "cheap4", "a", onDemand, []int64{900})
		}, []string{"two"}, nil, st.Cents(18)},
		"one is replaced by a cheaper one of the same size": {func(y *yard) {
			y.node("dear", "r4", "a", onDemand, []int64{1900, 1900})
		}, []string{"dear"}, []string{"cheap4 on-demand"}, st.Cents(18)},
		"two become one": {func(y *yard) {
			y.node("one", "c4", "a", onDemand, []int64{1900})
			y.node("two", "r4", "a", onDemand, []int64{1900})
		}, []string{"one", "two"}, []string{"cheap4 on-demand"}, st.Cents(18)},
		"one large becomes two small, as no one machine is cheaper": {func(y *yard) {
			y.node("large", "c8", "a", onDemand, []int64{3600, 3600})
		}, []string{"large"}, []string{"cheap4 on-demand", "cheap4 on-demand"}, st.Cents(36)},
		"three become two where they cannot become one": {func(y *yard) {
			y.node("one", "r4", "a", onDemand, []int64{2500})
			y.node("two", "r4", "a", onDemand, []int64{2500, 1000})
			y.node("three", "r4", "a", onDemand, []int64{300})
		}, []string{"one", "three", "two"}, []string{"cheap4 on-demand", "cheap4 on-demand"}, st.Cents(36)},
		"what is packed well stays": {func(y *yard) {
			y.node("one", "cheap4", "a", onDemand, []int64{1900, 1900})
			y.node("two", "cheap4", "b", onDemand, []int64{3800})
		}, nil, nil, st.Cents(36)},
		"what a replacement would hardly save is left alone": {func(y *yard) {
			y.node("one", "cheap4", "a", onDemand, []int64{1000, 1000, 1000, 800})
			y.node("two", "c2", "b", onDemand, []int64{1900})
		}, nil, nil, st.Cents(28)},
		"pods that keep apart stay apart": {func(y *yard) {
			apart := []st.PodOption{st.Label("app", "db"), st.Apart(corev1.LabelHostname, st.Of("app", "db"))}
			y.node("one", "cheap4", "a", onDemand, []int64{1000}, apart...)
			y.node("two", "c2", "a", onDemand, []int64{1000}, apart...)
			y.node("three", "c2", "a", onDemand, []int64{400})
		}, []string{"one"}, nil, st.Cents(20)},
		"a node with the only room for a zone stays": {func(y *yard) {
			y.node("one", "cheap4", "a", onDemand, []int64{1900, 1800}, st.Select(corev1.LabelTopologyZone, "a"))
			y.node("two", "c2", "b", onDemand, []int64{500}, st.Select(corev1.LabelTopologyZone, "b"))
		}, nil, nil, st.Cents(28)},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			tt.build(y)
			plan := y.plan(disruption.Planner{})
			assert.Equal(t, tt.drained, drained(plan))
			assert.Equal(t, tt.bought, bought(plan))
			assert.Equal(t, tt.after, plan.Summary.PricePerHourAfter)
			for i := range plan.Nodes {
				v := &plan.Nodes[i]
				assert.Equal(t, v.Decision == disruption.Keep, len(v.Reasons) > 0, v.Node)
			}
		})
	}
}

// D46: pods that wait take part, and hold nothing up.
func TestPodsThatWaitHoldNothingUp(t *testing.T) {
	y := newYard(t)
	y.node("full", "cheap4", "a", offerings.OnDemand, []int64{1500})
	y.node("idle", "cheap4", "a", offerings.OnDemand, []int64{500})
	y.cluster.Pods = []*corev1.Pod{
		st.Pod("fits", st.Requests(st.MilliCPU(1000))),
		st.Pod("never", st.Requests(st.Cores(100))),
	}
	plan := y.plan(disruption.Planner{})
	require.Len(t, plan.Steps, 1)
	assert.Len(t, plan.Steps[0].Drain, 1)
}

// countdown is a context whose deadline passes when it has been asked so many times.
type countdown struct {
	context.Context //nolint:containedctx // it is one itself
	left            atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Wherever a deadline cuts in, what has been found comes back soon, and every step of it is sound.
func TestDeadlinesGiveAPrefix(t *testing.T) {
	cases, late, steps := 0, 0, 0
	for seed := range soak.Cases(24) {
		cases++
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store([]int64{200, 0, 80, 10, 40, 20}[seed%6])
		p := oddPlanner(seed)
		if seed/6%2 == 1 {
			p = freely(p)
		}
		c := st.RandomCluster(5_143 + seed)
		plan, err := p.Plan(ctx, c)
		require.NoError(t, err, "seed %d", seed)
		assert.NoError(t, verify.StepsChecker{Planner: p}.Steps(c, plan), "seed %d", seed)
		if steps += len(plan.Steps); plan.Summary.Status == scheduling.StatusDeadline {
			late++
		}
		assert.Greater(t, ctx.left.Load(), int64(-400), "seed %d: the search goes on", seed)
	}
	assert.Greater(t, 4*late, cases)
	assert.Positive(t, steps)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := disruption.Planner{}.Plan(ctx, st.RandomCluster(0))
	require.ErrorIs(t, err, context.Canceled)
}

// A cluster that is bought afresh holds the pods of nodes that may go, and keeps the others.
func TestAnew(t *testing.T) {
	y := newYard(t)
	y.node("loose", "r4", "a", offerings.OnDemand, []int64{1900, 1900})
	y.node("held", "r4", "a", offerings.OnDemand, []int64{100})
	y.cluster.Running[2].Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	problem := y.cluster.RebuildProblem(disruption.Planner{})
	require.Len(t, problem.Nodes, 1)
	assert.Equal(t, "held", problem.Nodes[0].Name)
	assert.Len(t, problem.Running, 1)
	require.Len(t, problem.Pods, 2)
	for _, pod := range problem.Pods {
		assert.Empty(t, pod.Spec.NodeName)
	}
	assert.Equal(t, "loose", y.cluster.Running[0].Spec.NodeName, "the cluster stays as it is")
}
