package provisioning_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Every random problem is solved, its plan breaks no rule, its bound is proven and
// not above its price, the input is as it was, the same problem in another order
// gives the same bytes, and the JSON reads back. A failure names the seed, and shows
// the smallest problem that fails alike.
func TestRandomProblems(t *testing.T) {
	const shards = 20
	first, problems := randomProblems()
	for shard := range shards {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			for seed := first + shard; seed < first+problems; seed += shards {
				solver := randomSolver(seed)
				p := schedulingtest.Random(uint64(seed), schedulingtest.Size{})
				if _, err := schedulingtest.Audit(t.Context(), solver, p); err != nil {
					t.Errorf("seed %d, solver %+v: %v\n%s", seed, solver, err, smallest(t, solver, p, err))
				}
			}
		})
	}
}

// The same holds for pods with topology terms, volumes and preferences, but for this: pods that depend on each other
// are placed greedily, so that one plan in a few hundred may leave out a pod that could have had a place.
func TestRandomTies(t *testing.T) {
	const shards = 20
	first, problems := tiedProblems()
	var missed atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d of %d plans leave a pod out that could have had a place", missed.Load(), problems)
		if n := missed.Load(); n*200 > int64(problems) {
			t.Errorf("%d of %d plans leave a pod out that could have had a place, want at most one in 200", n, problems)
		}
	})
	for shard := range shards {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			for seed := first + shard; seed < first+problems; seed += shards {
				solver := randomSolver(seed)
				solver.Preferences = [...]scheduling.PreferencePolicy{"", scheduling.PreferencesIgnore, scheduling.PreferencesPrice}[seed/20%3]
				solver.PreferencePrice = offerings.Price(seed%5) * 10_000_000
				p := schedulingtest.Random(uint64(seed), schedulingtest.Size{TopologyTerms: true})
				_, err := schedulingtest.Audit(t.Context(), solver, p)
				if leavesOut(err) {
					missed.Add(1)
				} else if err != nil {
					t.Errorf("seed %d, solver %+v: %v\n%s", seed, solver, err, smallest(t, solver, p, err))
				}
			}
		})
	}
}

// leavesOut reports whether all that is wrong with a plan is that pods are left out.
func leavesOut(err error) bool {
	var report *verify.Report
	return errors.As(err, &report) && !slices.ContainsFunc(report.Violations, func(v verify.Violation) bool {
		return v.Code != verify.CodeRefusedForNothing
	})
}

// Larger problems reach parts of the search that small ones do not.
func TestLargeRandomProblems(t *testing.T) {
	size := schedulingtest.Size{Pods: 1500, Types: 80, Pools: 8, Nodes: 40, DaemonSets: 6}
	for seed := range soak.Cases(1) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			size := size
			for _, ties := range []bool{false, true} {
				size.TopologyTerms = ties
				p := schedulingtest.Random(seed, size)
				if _, err := schedulingtest.Audit(t.Context(), scheduling.Policy{Effort: 10}, p); err != nil {
					t.Errorf("ties %t: %v", ties, err)
				}
			}
		})
	}
}

// smallest is the smallest problem found that breaks the same rule, as YAML.
func smallest(t *testing.T, solver scheduling.Policy, p scheduling.Problem, err error) string {
	t.Helper()
	var first verify.Violation
	alike := func(err error) bool {
		var v verify.Violation
		return err != nil && !errors.Is(err, scheduling.ErrInvalid) && errors.As(err, &v) == (first.Code != "") && v.Code == first.Code
	}
	errors.As(err, &first)
	small := schedulingtest.Minimise(p, func(q scheduling.Problem) bool {
		_, err := schedulingtest.Audit(t.Context(), solver, q)
		return alike(err)
	})
	_, err = schedulingtest.Audit(t.Context(), solver, small)
	return fmt.Sprintf("the smallest problem: %v\n%s", err, schedulingtest.YAML(small))
}

// randomProblems are the first of the random problems that are solved, and how many these are.
func randomProblems() (first, problems int) { return soak.Window(60) }

// tiedProblems are the random problems with topology terms, which take longer.
func tiedProblems() (first, problems int) { return soak.Window(24) }

// randomSolver goes round the settings of a solver with the seed.
func randomSolver(seed int) scheduling.Policy {
	var s scheduling.Policy
	switch seed % 8 {
	case 0:
		s.Effort = scheduling.EffortFast
	case 1, 2:
		s.Effort = 20
	}
	if seed%5 == 3 {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	if seed%7 == 3 {
		s.Weights = scheduling.WeightIgnore
	}
	switch seed % 11 {
	case 4:
		s.Ranking.Strategy = "price-capacity-optimized"
	case 5:
		s.Ranking.Strategy = "capacity-optimized"
	case 6:
		s.Ranking.Strategy = "diversified"
	case 7:
		s.MaxOptions = 1 + seed%4
	case 8:
		s.Ranking.CapacityTypes = []offerings.CapacityType{"on-demand", "spot", "reserved"}
	case 9:
		s.Ranking.Strategy = "prioritized"
		s.Ranking.Priorities = map[string]int{"m5.x2-0": 2, "c6.x4-1": 1}
	}
	if seed%3 == 1 {
		s.NodeOverhead = offerings.Price(1+seed%40) * 1_000_000
	}
	return s
}
