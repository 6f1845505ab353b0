package oracle_test

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// maxReported is how many failing problems of a run are shown in full.
const maxReported = 3

// kube-scheduler agrees with plans for random problems. Each run is a range of seeds; a failing seed prints the
// smallest problem that still fails.
func TestRandomProblems(t *testing.T) {
	large := st.Size{Pods: 300, Types: 30, Pools: 6, Nodes: 12, DaemonSets: 5, Zones: 4}
	runs := []struct {
		name     string
		problem  func(seed uint64, size st.Size) scheduling.Problem
		size     st.Size
		from, to uint64
	}{
		{"plain", st.Random, st.Size{}, 0, 1_000},
		{"plain, more", st.Random, st.Size{}, 1_000, 2_000},
		{"corners", spiced, st.Size{}, 0, 1_000},
		{"corners, more", spiced, st.Size{}, 1_000, 2_000},
		{"large", st.Random, large, 0, 30},
		{"large corners", spiced, large, 100, 130},
	}
	for _, run := range runs {
		if testing.Short() {
			run.to = run.from + (run.to-run.from)/20
		}
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			s := newScheduler(t)
			reported := 0
			for seed := run.from; seed < run.to; seed++ {
				p := run.problem(seed, run.size)
				found := disagreements(t, s, p, seed)
				if len(found) == 0 {
					continue
				}
				if reported++; reported > maxReported {
					t.Errorf("seed %d: %v", seed, found[0])
					continue
				}
				smallest := st.Minimise(p, func(p scheduling.Problem) bool { return len(disagreements(t, s, p, seed)) > 0 })
				t.Errorf("seed %d: %v\nthe smallest such problem, names of nodes and status of pods left out:\n%s", seed, found[0], st.YAML(smallest))
			}
		})
	}
}

// disagreements plans a problem with settings drawn from the seed, and asks the oracle about the plan.
func disagreements(t *testing.T, s *oracle.Scheduler, p scheduling.Problem, seed uint64) []oracle.Disagreement {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver(seed)}.Plan(t.Context(), p)
	if err != nil {
		require.ErrorIs(t, err, scheduling.ErrInvalid, "seed %d", seed)
		return nil // random corner cases, and the problems of Minimise, need not be valid
	}
	found, err := oracle.Check(t.Context(), s, &p, plan, oracle.Config{Samples: 2, Seed: seed})
	require.NoError(t, err, "seed %d", seed)
	return found
}

// solver draws a policy.
func solver(seed uint64) scheduling.Policy {
	dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	s := scheduling.Policy{Effort: scheduling.EffortFast}
	if dice.IntN(10) == 0 {
		s.Effort = scheduling.EffortDefault
	}
	if dice.IntN(3) == 0 {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	if dice.IntN(3) == 0 {
		s.Weights = scheduling.WeightIgnore
	}
	s.MaxOptions = []int{0, 0, 3, 200}[dice.IntN(4)]
	s.Ranking.Strategy = []offerings.Strategy{
		offerings.LowestPrice, offerings.LowestPrice, offerings.PriceCapacityOptimized,
		offerings.CapacityOptimized, offerings.Diversified, offerings.Prioritized,
	}[dice.IntN(6)]
	return s
}

// Nearly all corner cases that are drawn are valid: invalid ones would test nothing.
func TestSpiceIsValid(t *testing.T) {
	invalid := 0
	for seed := range uint64(200) {
		p := spiced(seed, st.Size{})
		if err := provisioning.Validate(&p); err != nil {
			invalid++
		}
		for _, pod := range p.Pods {
			require.Empty(t, apiFaults(pod), "seed %d, pod %s", seed, pod.Name)
		}
	}
	require.Less(t, invalid, 10)
}
