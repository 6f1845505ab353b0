package provisioning_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// A solver that names pods without a place only decides the same.
func TestNoReasons(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range soak.Cases(10) {
		p := st.Random(seed, st.Size{TopologyTerms: seed%2 == 0, Pods: 20})
		told, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		brief, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast, NoReasons: true}}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.NoError(t, verify.Checker{Policy: scheduling.Policy{NoReasons: true}}.Plan(p, brief), "seed %d", seed)
		for i := range told.Unschedulable {
			told.Unschedulable[i] = scheduling.Unschedulable{Pod: told.Unschedulable[i].Pod}
			left++
		}
		require.Equal(t, told, brief, "seed %d", seed)
	}
	require.True(t, race.Enabled || left > 0, "some pods are left out, unless the problems are few")
}

// knobs draws settings of every kind.
func knobs(r *rand.Rand) scheduling.Policy {
	s := scheduling.Policy{Effort: scheduling.EffortFast}
	often := func(n int) bool { return r.IntN(n) == 0 }
	if often(3) {
		s.NoSpot = true
	}
	if often(3) {
		left := r.Uint32N(3)
		s.Filters = []instancetypes.Filter{func(_ *instancetypes.InstanceType, o offerings.Offering) bool {
			return uint32(o.Price/1_000_000)%3 != left
		}}
	}
	if often(2) {
		s.Size.Smallest = st.Resources(st.MilliCPU(int64(500 + r.IntN(4000))))
	}
	if often(2) {
		s.Size.Largest = st.Resources(st.Cores(int64(5+r.IntN(60))), st.GiB(int64(8+r.IntN(200))))
	}
	if often(2) {
		s.Flexibility = scheduling.Flexibility{Options: r.IntN(5), Types: r.IntN(4), Families: r.IntN(3), Zones: r.IntN(3)}
	}
	if often(2) {
		s.WorkloadShare = 1 + r.IntN(100)
	}
	if often(2) {
		s.InterruptionCost = scheduling.InterruptionCost{PerNode: offerings.Amount(1 + r.Int64N(2e11)), PerCore: offerings.Amount(r.Int64N(2e10)), UnstatedRate: float64(r.IntN(4)) / 10}
	}
	if often(3) {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	if often(3) {
		s.Weights = scheduling.WeightIgnore
	}
	if often(3) {
		s.MaxOptions = 1 + r.IntN(6)
	}
	s.Ranking.Strategy = offerings.Strategies()[r.IntN(len(offerings.Strategies()))]
	s, err := provisioning.Goals()[r.IntN(len(provisioning.Goals()))].Apply(s)
	if err != nil {
		panic(err) // the goals are known
	}
	return s
}

// Every promise about plans holds under any mixture of settings.
func TestSettingsTogether(t *testing.T) {
	t.Parallel()
	_, n := soak.Window(40)
	bought, needless := 0, 0
	for seed := range soak.Cases(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		p := st.Random(seed+500, st.Size{Pods: 24, TopologyTerms: seed%3 != 0})
		p.Pods, p.Running = owned(p.Pods, seed), owned(p.Running, seed)
		s := knobs(r)
		plan, err := st.Audit(t.Context(), s, p)
		var report *verify.Report
		if errors.As(err, &report) && len(report.Violations) == report.Count()[verify.CodeRefusedForNothing] {
			t.Logf("seed %d: %v: %+v", seed, err, s)
			needless++
			continue
		}
		require.NoError(t, err, "seed %d: %+v", seed, s)
		if len(plan.Launches) > 0 {
			bought++
		}
	}
	assert.Greater(t, bought, n/2)
	assert.LessOrEqual(t, needless, 1+n/100, "where pods are tied, a place may be missed now and then")
}
