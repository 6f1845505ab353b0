package provisioning_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// countdown is a context whose deadline passes when it has been asked so many times. It
// ends a search at the same place on every machine.
type countdown struct {
	context.Context //nolint:containedctx // it is one itself
	left            atomic.Int64
}

func newCountdown(t *testing.T, asks int64) *countdown {
	t.Helper()
	c := &countdown{Context: t.Context()}
	c.left.Store(asks)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// complete checks a plan that a deadline may have cut short: it breaks no rule, its
// bound is proven, and every pod has a place or reasons. That a better place would have
// been found with more time is no fault.
func complete(t *testing.T, solver scheduling.Policy, p scheduling.Problem, plan *scheduling.Plan) {
	t.Helper()
	require.NoError(t, verify.Checker{Policy: solver, SkipRefusals: true}.Plan(p, plan))
	assert.Contains(t, []scheduling.Status{scheduling.StatusOptimal, scheduling.StatusComplete, scheduling.StatusDeadline}, plan.Summary.Status)
	assert.Equal(t, plan.Summary.Pods, plan.Summary.Placed+len(plan.Unschedulable))
}

// A plan is complete wherever its deadline ends the search.
func TestDeadlinesCutAnywhere(t *testing.T) {
	const shards = 10
	first, problems := soak.Window(60)
	var late atomic.Int64
	t.Cleanup(func() {
		t.Logf("the deadline ended %d of %d searches", late.Load(), problems)
		assert.Greater(t, late.Load(), int64(problems/10), "many searches are ended by their deadlines")
	})
	for shard := range shards {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			for seed := first + shard; seed < first+problems; seed += shards {
				solver := randomSolver(seed)
				p := schedulingtest.Random(uint64(400_000+seed), schedulingtest.Size{TopologyTerms: seed%3 == 1})
				asks := []int64{0, 1, 2, 3, 5, 8, 13, 30, 100, 1000}[seed/shards%10]
				plan, err := provisioning.Planner{Policy: solver}.Plan(newCountdown(t, asks), p)
				require.NoError(t, err, "seed %d", seed)
				if t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { complete(t, solver, p, plan) }); t.Failed() {
					return
				}
				if plan.Summary.Status == scheduling.StatusDeadline {
					late.Add(1)
				}
			}
		})
	}
}

// A deadline on the clock cuts in wherever the machine happens to be by then. With -v the
// test tells how far it is.
func TestDeadlinesOnTheClock(t *testing.T) {
	t.Parallel()
	const block = 100
	begin, problems := soak.Window(12)
	for first := begin; first < begin+problems; first += block {
		started, late := time.Now(), 0
		size := min(block, begin+problems-first)
		for i := range size {
			seed := 700_000 + first + i
			solver := randomSolver(seed)
			p := schedulingtest.Random(uint64(seed), schedulingtest.Size{TopologyTerms: seed%2 == 1})
			for _, limit := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
				if !t.Run(fmt.Sprintf("seed=%d/limit=%v", seed, limit), func(t *testing.T) {
					if within(t, solver, p, limit).Summary.Status == scheduling.StatusDeadline {
						late++
					}
				}) {
					break
				}
			}
		}
		t.Logf("problems %d to %d: %d searches ended by their deadlines, %v", first, first+size-1, late, time.Since(started).Round(time.Millisecond))
	}
}

// within solves a problem in the time there is, and checks the plan.
func within(t *testing.T, solver scheduling.Policy, p scheduling.Problem, limit time.Duration) *scheduling.Plan {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	plan, err := provisioning.Planner{Policy: solver}.Plan(ctx, p)
	require.NoError(t, err)
	complete(t, solver, p, plan)
	return plan
}

// Problems of some hundred pods are cut where small ones are done.
func TestDeadlinesOfLargerProblems(t *testing.T) {
	size := schedulingtest.Size{Pods: 200, Types: 40, Pools: 4, Nodes: 20, DaemonSets: 3}
	for seed := range soak.Cases(2) {
		for _, limit := range []time.Duration{-time.Hour, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
			t.Run(fmt.Sprintf("seed=%d/limit=%v", seed, limit), func(t *testing.T) {
				t.Parallel()
				size := size
				size.TopologyTerms = seed%2 == 1
				p := schedulingtest.Random(500_000+seed, size)
				within(t, scheduling.Policy{Effort: scheduling.EffortThorough}, p, limit)
			})
		}
	}
}

// A problem that is too large for its deadline still gets a plan.
func TestDeadlinesOfLargeProblems(t *testing.T) {
	const pods = 500
	for _, tt := range []struct {
		name    string
		problem scheduling.Problem
	}{
		{"diverse", scheduling.Problem{
			Pods: schedulingtest.Diverse(pods, 1), NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")}, Catalog: ec2.MustCatalog("us-east-1"),
		}},
	} {
		for _, limit := range []time.Duration{-time.Hour, time.Millisecond} {
			t.Run(fmt.Sprintf("%s/limit=%v", tt.name, limit), func(t *testing.T) {
				plan := within(t, scheduling.Policy{}, tt.problem, limit)
				assert.Equal(t, pods, plan.Summary.Pods)
				assert.False(t, slices.ContainsFunc(plan.Unschedulable, func(u scheduling.Unschedulable) bool { return len(u.Reasons) == 0 }))
			})
		}
	}
}

// Wherever a deadline ends the search, the plan's expected price after kube-scheduler has bound the pods is the true
// one, or the plan has none and warns of that.
func TestNoDeadlineMakesAnEstimateFalse(t *testing.T) {
	told, untold := 0, 0
	for seed := range soak.Cases(12) {
		p := schedulingtest.Random(500_000+seed, schedulingtest.Size{Pods: 60, TopologyTerms: seed%3 == 0})
		planner := provisioning.Planner{Policy: scheduling.Policy{Placement: scheduling.PlacementFree, NoReasons: true}}
		for _, asks := range []int64{0, 3, 10, 30, 60, 100, 200, 500, 1500, 5000} {
			plan, err := planner.Plan(newCountdown(t, asks), p)
			require.NoError(t, err)
			said := slices.ContainsFunc(plan.Warnings, func(w scheduling.Warning) bool {
				return w.Object == "policy/placement" && strings.HasSuffix(w.Message, "the deadline has passed")
			})
			if plan.Summary.AfterScheduling == nil {
				untold++
				assert.True(t, said, "seed %d, %d asks", seed, asks)
				continue
			}
			told++
			assert.False(t, said, "seed %d, %d asks", seed, asks)
			want, err := planner.Realise(t.Context(), p, plan)
			require.NoError(t, err)
			assert.Equal(t, want, plan.Summary.AfterScheduling, "seed %d, %d asks", seed, asks)
		}
	}
	assert.Positive(t, told)
	assert.Positive(t, untold)
}

// How long plans take with a deadline of 10 ms: as long as it takes to read the pods and to make any plan.
func BenchmarkDeadline(b *testing.B) {
	pools, catalog := []*scheduling.NodePool{schedulingtest.NodePool("default")}, ec2.MustCatalog("us-east-1")
	selectors := []*corev1.Pod{}
	for i := range 10_000 {
		name := fmt.Sprint("p-", i)
		selectors = append(selectors, schedulingtest.Pod(name, schedulingtest.Label("app", name), schedulingtest.Requests(schedulingtest.MilliCPU(500)),
			schedulingtest.Spread(corev1.LabelTopologyZone), schedulingtest.Apart(corev1.LabelHostname)))
	}
	for name, pods := range map[string][]*corev1.Pod{"pods=5000": schedulingtest.Diverse(5_000, 1), "selectors=10000": selectors} {
		for _, placement := range []scheduling.PlacementPolicy{scheduling.PlacementPinned, scheduling.PlacementFree} {
			b.Run(name+"/placement="+string(placement), func(b *testing.B) {
				for b.Loop() {
					ctx, cancel := context.WithTimeout(b.Context(), 10*time.Millisecond)
					_, err := provisioning.Planner{Policy: scheduling.Policy{Placement: placement}}.Plan(ctx, scheduling.Problem{Pods: pods, NodePools: pools, Catalog: catalog})
					cancel()
					require.NoError(b, err)
				}
			})
		}
	}
}
