package oracle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Package verify and kube-scheduler agree about plans as they were made, and about plans that were changed at random:
// each finds a pod in the wrong place if the other does.
func TestVerifyAgrees(t *testing.T) {
	seeds := uint64(1_000)
	if testing.Short() {
		seeds = 60
	}
	tests := map[string]struct {
		problem func(uint64, st.Size) scheduling.Problem
		tied    bool
	}{
		"plain":   {st.Random, false},
		"corners": {spiced, false},
		"ties": {func(seed uint64, size st.Size) scheduling.Problem {
			size.TopologyTerms = true
			return onlyAdmitted(st.Random(seed, size))
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScheduler(t)
			wrong, right := 0, 0
			for seed := range seeds {
				p := tt.problem(seed, st.Size{})
				plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
				if err != nil || !spoil(plan, seed) {
					continue
				}
				found := opinion(t, s, &p, plan, tt.tied)
				misplaced := slices.ContainsFunc(found, func(d oracle.Disagreement) bool { return d.Kind == oracle.Refused })
				violations := misplacements(verify.Checker{SkipRefusals: true}.Plan(p, plan))
				require.Equal(t, misplaced, len(violations) > 0, "seed %d: kube-scheduler says %v, verify %v", seed, found, violations)
				if misplaced {
					wrong++
				} else {
					right++
				}
			}
			t.Logf("%d plans spoiled, %d still good", wrong, right)
			require.Greater(t, wrong, int(seeds)/10)
			require.Greater(t, right, int(seeds)/10)
		})
	}
}

// opinion returns the oracle's disagreements with a plan. With tied, it asks a scheduler of its own that has the
// volumes, namespaces and services of the problem.
func opinion(t *testing.T, s *oracle.Scheduler, p *scheduling.Problem, plan *scheduling.Plan, tied bool) []oracle.Disagreement {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if tied {
		own, err := oracle.NewSchedulerFor(ctx, p)
		require.NoError(t, err)
		s = own
	}
	found, err := oracle.Check(ctx, s, p, plan, oracle.Config{})
	require.NoError(t, err)
	return found
}

// spoil moves a pod to a machine or node that it was not planned for. Launches keep
// their first option only, so that there is one answer to whether their pods fit.
func spoil(plan *scheduling.Plan, seed uint64) bool {
	dice := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test
	var places []*[]string
	for i := range plan.Launches {
		l := &plan.Launches[i]
		l.Options = l.Options[:1]
		places = append(places, &l.Pods)
	}
	for i := range plan.Existing {
		places = append(places, &plan.Existing[i].Pods)
	}
	if len(places) < 2 {
		return false
	}
	dice.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	from, to := places[0], places[1]
	at := dice.IntN(len(*from))
	*to = append(slices.Clone(*to), (*from)[at])
	*from = slices.Delete(slices.Clone(*from), at, at+1)
	return true
}

// misplacements are the violations that kube-scheduler would notice, too.
func misplacements(err error) []verify.Violation {
	var report *verify.Report
	if !errors.As(err, &report) {
		return nil
	}
	noticed := []verify.Code{
		verify.CodeNodeAffinity, verify.CodeTaints, verify.CodeHostPorts, verify.CodeResources, verify.CodeVolume, verify.CodeVolumeInUse, verify.CodeAttachLimit,
		verify.CodeTopologySpread, verify.CodePodAffinity, verify.CodePodAntiAffinity,
	}
	return slices.DeleteFunc(report.Violations, func(v verify.Violation) bool { return !slices.Contains(noticed, v.Code) })
}
