package oracle_test

import (
	"context"
	"slices"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Pods with topology terms, volumes and preferences are bound where the plan puts them. Each run is a range of seeds; a
// failing seed prints the smallest problem that still fails.
func TestTiedProblems(t *testing.T) {
	runs := []struct {
		name     string
		problem  func(seed uint64, size st.Size) scheduling.Problem
		size     st.Size
		from, to uint64
	}{
		{"small", tied, st.Size{Pods: 12, Types: 4, Pools: 2, DaemonSets: 1}, 0, 1_000},
		{"default", tied, st.Size{}, 1_000, 1_500},
		{"default, more", tied, st.Size{}, 1_500, 2_000},
		{"corners", spicedTies, st.Size{}, 0, 500},
		{"corners, small", spicedTies, st.Size{Pods: 12, Types: 4, Pools: 2, DaemonSets: 1}, 500, 1_000},
	}
	for _, run := range runs {
		if testing.Short() {
			run.to = run.from + (run.to-run.from)/20
		}
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			reported, placed, left, rare := 0, 0, 0, 0
			for seed := run.from; seed < run.to; seed++ {
				p := run.problem(seed, run.size)
				plan, found := tiedDisagreements(t, p, seed)
				if plan != nil {
					placed += plan.Summary.Placed
					left += len(plan.Unschedulable)
				}
				if len(found) == 0 {
					continue
				}
				if !misplaces(found) {
					rare++
					t.Logf("seed %d: %v", seed, found[0])
					continue
				}
				if reported++; reported > maxReported {
					t.Errorf("seed %d: %v", seed, found[0])
					continue
				}
				smallest := st.Minimise(p, func(p scheduling.Problem) bool {
					_, found := tiedDisagreements(t, p, seed)
					return misplaces(found)
				})
				t.Errorf("seed %d: %v\nthe smallest such problem, names of nodes and status of pods left out:\n%s", seed, found[0], st.YAML(smallest))
			}
			t.Logf("%d pods bound, %d left, %d problems with rare disagreements", placed, left, rare)
			require.Greater(t, 2*placed, left)
			require.LessOrEqual(t, 20*rare, int(run.to-run.from))
		})
	}
}

// misplaces reports whether the plan, with the first option of each launch, puts a pod where kube-scheduler does not
// bind it. Two other disagreements are rare and allowed: a pod without a place in the plan that kube-scheduler would
// bind, and a fallback option of a launch in a domain, e.g. a zone, that had no node and that spread of other pods then
// counts.
func misplaces(found []disagreement) bool {
	return slices.ContainsFunc(found, func(d disagreement) bool { return d.Kind == oracle.Refused && !d.fallback })
}

// disagreement is a disagreement of the oracle, perhaps about a fallback option of a launch.
type disagreement struct {
	oracle.Disagreement
	fallback bool
}

// tied is a random problem with topology terms.
func tied(seed uint64, size st.Size) scheduling.Problem {
	size.TopologyTerms = true
	return onlyAdmitted(st.Random(seed, size))
}

// tiedDisagreements plans a problem, and asks a scheduler that has the problem's volumes, namespaces and services:
// first about the plan, then about fallback options of launches.
func tiedDisagreements(t *testing.T, p scheduling.Problem, seed uint64) (*scheduling.Plan, []disagreement) {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver(seed)}.Plan(t.Context(), p)
	if err != nil {
		require.ErrorIs(t, err, scheduling.ErrInvalid, "seed %d", seed)
		return nil, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := oracle.NewSchedulerFor(ctx, &p)
	require.NoError(t, err, "seed %d", seed)
	var out []disagreement
	for _, samples := range []int{0, 2} {
		found, err := oracle.Check(ctx, s, &p, plan, oracle.Config{Samples: samples, Seed: seed})
		require.NoError(t, err, "seed %d", seed)
		for _, d := range found {
			out = append(out, disagreement{d, samples > 0})
		}
		if len(out) > 0 {
			break
		}
	}
	return plan, out
}
