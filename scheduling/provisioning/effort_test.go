package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// far is a problem whose plans stay far from their bound: its small machines are dear for their size, and its large
// ones are cheap if they are full.
var far = scheduling.Problem{
	NodePools: []*scheduling.NodePool{st.NodePool("default")},
	Catalog: st.MustCatalog(
		st.Type("small", st.Capacity(st.Cores(1), st.GiB(2)), st.OnDemand("z1", 13_000_000), st.OnDemand("z2", 17_000_000), st.OnDemand("z3", 22_000_000)),
		st.Type("medium", st.Capacity(st.Cores(2), st.GiB(16)), st.OnDemand("z1", 22_000_000), st.OnDemand("z2", 22_000_000), st.OnDemand("z3", 24_000_000)),
		st.Type("middle", st.Capacity(st.Cores(4), st.GiB(32)), st.OnDemand("z1", 30_000_000), st.OnDemand("z2", 58_000_000), st.OnDemand("z3", 68_000_000)),
		st.Type("large", st.Capacity(st.Cores(64), st.GiB(128)), st.OnDemand("z1", 344_000_000), st.OnDemand("z2", 400_000_000), st.OnDemand("z3", 836_000_000)),
	),
}

// More effort never ends with a dearer plan of the same pods, and proves no less. Of thirty
// sizes the higher effort by itself is content with a dearer plan, as it can prove more.
func TestMoreEffortIsNoWorse(t *testing.T) {
	if race.Enabled {
		t.Skip("the random problems show as much")
	}
	general := scheduling.Problem{
		Catalog: ec2.MustCatalog("us-east-1"),
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Where(
			st.In("kubernetes.io/arch", "amd64"), st.In(offerings.CapacityTypeLabel, "on-demand"),
			st.In("karpenter.k8s.aws/instance-category", "c", "m", "r"), st.Gte("karpenter.k8s.aws/instance-generation", 5),
			st.Lte("karpenter.k8s.aws/instance-cpu", 32)))},
	}
	for i, tc := range []struct {
		name string
		in   scheduling.Problem
		pods []*corev1.Pod
	}{
		{"thirty sizes", general, st.MixedSizes(100, 20261121)},
		{"far from the bound", far, st.Workloads(150, 40, 3)},
		{"tied and far from the bound", far, st.Diverse(60, 3)},
	} {
		if i > 0 && !soak.Long() {
			break
		}
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.in
			p.Pods = tc.pods
			less := planAt(t, p, scheduling.Policy{Effort: scheduling.EffortFast})
			for _, effort := range []scheduling.Effort{scheduling.EffortDefault, scheduling.EffortThorough} {
				more := planAt(t, p, scheduling.Policy{Effort: effort})
				require.Empty(t, more.Unschedulable)
				assert.LessOrEqual(t, more.Summary.PricePerHour, less.Summary.PricePerHour)
				assert.LessOrEqual(t, more.Summary.Gap, less.Summary.Gap)
				less = more
			}
		})
	}
}

// Neither does it on random problems, where price decides between plans of the same pods.
func TestMoreEffortIsNoWorseAtRandom(t *testing.T) {
	for seed := range soak.Cases(10) {
		size := st.Size{TopologyTerms: seed%4 == 3}
		if seed%10 == 0 {
			size.Pods, size.Types = 40, 25
		}
		p := st.Random(seed, size)
		s := scheduling.Policy{Weights: scheduling.WeightIgnore, Preferences: scheduling.PreferencesIgnore}
		s.Effort = scheduling.EffortFast
		less := planAt(t, p, s)
		for _, s.Effort = range []scheduling.Effort{scheduling.EffortDefault, scheduling.EffortThorough} {
			more, err := st.Audit(t.Context(), s, p)
			require.NoError(t, err, "seed %d", seed)
			name := fmt.Sprintf("seed %d, effort %d", seed, s.Effort)
			require.GreaterOrEqual(t, more.Summary.Placed, less.Summary.Placed, name)
			if assert.ObjectsAreEqual(leftOut(less), leftOut(more)) {
				assert.LessOrEqual(t, more.Summary.PricePerHour, less.Summary.PricePerHour, name)
				if c := less.Summary.Certificate; c == nil || len(c.Spreads)+len(c.Balances) == 0 { // else it is about some plans only
					assert.GreaterOrEqual(t, more.Summary.LowerBoundPerHour, less.Summary.LowerBoundPerHour, name)
				}
			}
			less = more
		}
	}
}

// A deadline may pass before more effort is made, or while it is.
func TestMoreEffortUnderDeadlines(t *testing.T) {
	p := scheduling.Problem{
		Pods:      st.Workloads(30, 20, 4),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 40_000_000)),
			st.Type("large", st.Capacity(st.Cores(16), st.GiB(48)), st.OnDemand("a", 270_000_000)),
		),
	}
	s := scheduling.Policy{Effort: scheduling.EffortThorough}
	hurried := 0
	for asks := int64(1); ; asks *= 2 {
		c := newCountdown(t, asks)
		plan, err := provisioning.Planner{Policy: s}.Plan(c, p)
		require.NoError(t, err)
		complete(t, s, p, plan)
		if c.left.Load() > 0 {
			break
		}
		if plan.Summary.Status == scheduling.StatusDeadline {
			hurried++
		}
	}
	assert.Greater(t, hurried, 3, "a plan says that there was no time for the effort")
}

// planAt is the plan of a solver, which breaks no rule.
func planAt(t *testing.T, p scheduling.Problem, s scheduling.Policy) *scheduling.Plan {
	t.Helper()
	plan, err := provisioning.Planner{Policy: s}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Checker{Policy: s}.Plan(p, plan))
	return plan
}

// leftOut are the pods without a place.
func leftOut(plan *scheduling.Plan) (pods []string) {
	for i := range plan.Unschedulable {
		pods = append(pods, plan.Unschedulable[i].Pod)
	}
	return pods
}
