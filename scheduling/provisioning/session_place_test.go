package provisioning_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Place plans the same as Plan, without reasons and bounds; equal pods may have each other's places.
func TestPlaceIsSolveWithoutWords(t *testing.T) {
	for seed := range uint64(60) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 20, TopologyTerms: seed%2 == 0})
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		s, err := provisioning.NewSession(solver, p)
		require.NoError(t, err)
		want, err := s.Plan(context.Background())
		require.NoError(t, err)
		got, err := s.Place(context.Background(), scheduling.EffortFast)
		require.NoError(t, err)
		assert.Nil(t, got.Summary.Certificate)
		if improved := priceOf(got) - priceOf(want); improved != 0 {
			require.Positive(t, improved, "seed %d", seed)
			continue // the bound showed that there may be more to gain
		}
		withoutNumbers(want)
		withoutNumbers(got)
		assert.Equal(t, want.Launches, got.Launches, "seed %d", seed)
		assert.Equal(t, want.Existing, got.Existing, "seed %d", seed)
		require.Len(t, got.Unschedulable, len(want.Unschedulable), "seed %d", seed)
		for i := range want.Unschedulable {
			assert.Equal(t, want.Unschedulable[i].Pod, got.Unschedulable[i].Pod, "seed %d", seed)
			assert.Empty(t, got.Unschedulable[i].Reasons)
		}
		assert.Equal(t, want.Summary.Pods, got.Summary.Pods)
		assert.Equal(t, want.Summary.Placed, got.Summary.Placed)
	}
}

// withoutNumbers cuts the names of placed pods down to the part that the pods of one workload share.
func withoutNumbers(plan *scheduling.Plan) {
	short := func(pods []string) {
		for i, pod := range pods {
			pods[i] = pod[:strings.LastIndex(pod, "-")]
		}
		slices.Sort(pods)
	}
	for i := range plan.Launches {
		short(plan.Launches[i].Pods)
	}
	for i := range plan.Existing {
		short(plan.Existing[i].Pods)
	}
}

// priceOf returns the price of the launches of a plan, per hour.
func priceOf(plan *scheduling.Plan) (total offerings.Price) {
	for i := range plan.Launches {
		total += plan.Launches[i].Price
	}
	return total
}

// A sketch obeys every rule, and places no more pods than more work does.
func TestSketch(t *testing.T) {
	whole := 0
	for seed := range uint64(60) {
		p := schedulingtest.Random(seed, schedulingtest.Size{Pods: 20, TopologyTerms: seed%2 == 0})
		s, err := provisioning.NewSession(scheduling.Policy{}, p)
		require.NoError(t, err)
		sketch, err := s.Sketch(t.Context())
		require.NoError(t, err)
		assert.Nil(t, sketch.Summary.Certificate)
		more, err := s.Place(t.Context(), scheduling.EffortFast)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, more.Summary.Placed, sketch.Summary.Placed, "seed %d", seed)
		if len(sketch.Unschedulable) == 0 {
			sketch.Summary = more.Summary // a sketch has none
			var report *verify.Report
			if errors.As(verify.Checker{}.Plan(s.Problem(), sketch), &report) {
				for _, v := range report.Violations {
					assert.Equal(t, "summary", v.Object, "seed %d: %v", seed, v)
				}
			}
			whole++
		}
	}
	assert.Greater(t, whole, 10, "sketches that place all pods")
}

func TestPlaceRefusesWhatSolversRefuse(t *testing.T) {
	s, err := provisioning.NewSession(scheduling.Policy{}, mixedMarket())
	require.NoError(t, err)
	_, err = s.Place(context.Background(), -1)
	require.ErrorContains(t, err, "solver.effort")
	require.NoError(t, s.Apply(scheduling.Delta{Pods: schedulingtest.Pods(3, "web")}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Place(ctx, scheduling.EffortFast)
	require.ErrorIs(t, err, context.Canceled)
}

// The values of pods add up to the lower bound, where no existing node has room for them.
func TestWorthsAddUpToTheBound(t *testing.T) {
	catalog := schedulingtest.MustCatalog(
		schedulingtest.Type("small", schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8), schedulingtest.Count("pods", 20)), schedulingtest.OnDemand("a", schedulingtest.Cents(10))),
		schedulingtest.Type("large", schedulingtest.Capacity(schedulingtest.Cores(8), schedulingtest.GiB(16), schedulingtest.Count("pods", 40)), schedulingtest.OnDemand("a", schedulingtest.Cents(32))),
	)
	p := scheduling.Problem{Catalog: catalog, NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")}, Pods: schedulingtest.MixedSizes(300, 1)}
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NotNil(t, plan.Summary.Certificate)
	worths := prove.PodDuals(plan.Summary.Certificate, p.Pods)
	require.Len(t, worths, len(p.Pods)-len(plan.Unschedulable))
	sum := offerings.Price(0)
	for _, worth := range worths {
		require.GreaterOrEqual(t, worth, offerings.Price(0))
		sum += worth
	}
	if plan.Summary.Certificate.Kind != "cover" {
		assert.InEpsilon(t, float64(plan.Summary.LowerBoundPerHour), float64(sum), 1e-6)
	}
	assert.Empty(t, prove.PodDuals((*certificate.Certificate)(nil), p.Pods))
	assert.Empty(t, prove.PodDuals((&certificate.Certificate{Kind: "resource", Values: map[string]string{"cpu": "no number"}, Scale: -1}), nil))
}

func TestPodRequests(t *testing.T) {
	pods := []*corev1.Pod{
		schedulingtest.Pod("plain", schedulingtest.Requests(schedulingtest.MilliCPU(300), schedulingtest.MiB(5))),
		schedulingtest.Pod("init", schedulingtest.Requests(schedulingtest.MilliCPU(300)), schedulingtest.Init(schedulingtest.MilliCPU(900))),
		schedulingtest.Pod("none"),
	}
	got := provisioning.PodRequests(pods)
	require.Len(t, got, 3)
	assert.Equal(t, int64(300), got[0].Cpu().MilliValue())
	assert.Equal(t, int64(5<<20), got[0].Memory().Value())
	assert.Equal(t, int64(900), got[1].Cpu().MilliValue())
	for _, list := range got {
		assert.Equal(t, int64(1), list.Pods().Value())
	}
	assert.Len(t, got[2], 1)
	assert.Empty(t, provisioning.PodRequests(nil))
}
