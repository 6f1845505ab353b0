package volumes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/volumes"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// sharing is a problem in two zones whose pods share a claim: of a volume that is provisioned in the zone of its first pod, or,
// with once, of one that a single pod may use.
func sharing(pods int, once bool) scheduling.Problem {
	claim := st.Claim("data", st.OfClass("disk"))
	if once {
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	return scheduling.Problem{
		Pods: st.Pods(pods, "web", st.Requests(st.Cores(1)), st.UseClaim("data")), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 100), st.OnDemand("b", 100))),
		Claims:  []*corev1.PersistentVolumeClaim{claim}, StorageClasses: []*storagev1.StorageClass{st.StorageClass("disk", st.Driver("ebs.csi.aws.com"))},
	}
}

func factsOf(t *testing.T, p scheduling.Problem) *instance.Facts {
	t.Helper()
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	return facts
}

// unplaced is a plan of a price that leaves some of the pods.
func unplaced(price offerings.Price, pods ...string) *scheduling.Plan {
	p := &scheduling.Plan{Summary: scheduling.Summary{PricePerHour: price}}
	for _, pod := range pods {
		p.Unschedulable = append(p.Unschedulable, scheduling.Unschedulable{Pod: pod})
	}
	return p
}

// TestNothingToResolve: without a claim that several pods share the plan stays, and no other is made.
func TestNothingToResolve(t *testing.T) {
	p := sharing(1, false)
	plan := unplaced(100)
	got, err := volumes.Resolve(t.Context(), factsOf(t, p), plan, func(context.Context, *instance.Facts) (*scheduling.Plan, error) {
		t.Error("no other plan is needed")
		return nil, nil
	})
	require.NoError(t, err)
	assert.Same(t, plan, got)
}

// TestResolveIsNeverWorse: whatever plans the solver makes, the result is one of these or the first, and the best of those that
// Resolve may keep: no worse than the first, by unplaced pods and then by price. The number of plans is bounded.
func TestResolveIsNeverWorse(t *testing.T) {
	made, better := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		facts := factsOf(t, sharing(2+r.IntN(4), seed%2 == 0))
		random := func() *scheduling.Plan {
			var left []string
			for i := range r.IntN(3) {
				left = append(left, fmt.Sprintf("default/web-%d", i+1))
			}
			return unplaced(offerings.Price(100*(1+r.IntN(4))), left...)
		}
		first := random()
		plans, calls := map[*scheduling.Plan]bool{first: true}, 0
		got, err := volumes.Resolve(t.Context(), facts, first, func(context.Context, *instance.Facts) (*scheduling.Plan, error) {
			calls++
			plan := random()
			plans[plan] = true
			return plan, nil
		})
		require.NoError(t, err)
		require.True(t, plans[got], "seed %d: the result is a plan of the solver", seed)
		left := volumes.CompareLeft(facts, got, first)
		require.True(t, left < 0 || left == 0 && got.Summary.PricePerHour <= first.Summary.PricePerHour, "seed %d", seed)
		require.Less(t, calls, 100)
		made += calls
		if got != first {
			better++
		}
	}
	assert.Greater(t, min(made, better), 5)
}

// TestResolveEndsWithTheError: an error of the solver is that of Resolve.
func TestResolveEndsWithTheError(t *testing.T) {
	cause := errors.New("cancelled")
	calls := 0
	_, err := volumes.Resolve(t.Context(), factsOf(t, sharing(3, true)), unplaced(100, "default/web-1", "default/web-2", "default/web-3"), func(context.Context, *instance.Facts) (*scheduling.Plan, error) {
		calls++
		return nil, cause
	})
	require.ErrorIs(t, err, cause)
	assert.Equal(t, 1, calls)
}

// TestOneZoneForASharedVolume: pods that wait for one volume get one zone, because the volume is provisioned where the first pod
// binds. The solver here puts them into different zones until the choice names a zone.
func TestOneZoneForASharedVolume(t *testing.T) {
	p := sharing(2, false)
	facts := factsOf(t, p)
	in := func(zones ...string) *scheduling.Plan {
		plan := unplaced(offerings.Price(100 * len(zones)))
		for i, zone := range zones {
			plan.Launches = append(plan.Launches, scheduling.Launch{
				Name: fmt.Sprint("pool-", i+1), NodePool: "pool", Pods: []string{fmt.Sprintf("default/web-%d", i+1)},
				Options: []scheduling.LaunchOption{{InstanceType: "m", Zone: zone, CapacityType: offerings.OnDemand, Price: 100}},
			})
		}
		return plan
	}
	var chosen []string
	got, err := volumes.Resolve(t.Context(), facts, in("a", "b"), func(_ context.Context, f *instance.Facts) (*scheduling.Plan, error) {
		zone := ""
		for _, z := range f.Choice.Zones {
			zone = z
		}
		chosen = append(chosen, zone)
		if zone == "" {
			return in("a", "b"), nil
		}
		return in(zone, zone), nil
	})
	require.NoError(t, err)
	require.Len(t, got.Launches, 2)
	assert.Equal(t, got.Launches[0].Options[0].Zone, got.Launches[1].Options[0].Zone, "chosen: %q", chosen)
}

// TestCompareLeft: a plan that leaves fewer pods is better, but the highest priority of the pods that are left counts first.
func TestCompareLeft(t *testing.T) {
	p := sharing(5, false)
	priorities := []int32{1000, 500, 500, 0, 0}
	for i := range priorities {
		p.Pods[i].Spec.Priority = &priorities[i]
	}
	facts := factsOf(t, p)
	leaving := func(pods ...string) *scheduling.Plan { return unplaced(1, pods...) }
	order := []*scheduling.Plan{
		leaving(), leaving("default/web-4"), leaving("default/web-4", "default/web-5"), leaving("default/web-2", "default/web-4"),
		leaving("default/web-2", "default/web-3"), leaving("default/web-1"), leaving("default/web-1", "default/web-4"),
	}
	for i, better := range order {
		for _, worse := range order[i+1:] {
			assert.Negative(t, volumes.CompareLeft(facts, better, worse), "%v", better.Unschedulable)
			assert.Positive(t, volumes.CompareLeft(facts, worse, better), "%v", better.Unschedulable)
		}
	}
}
