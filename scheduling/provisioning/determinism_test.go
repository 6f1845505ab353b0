package provisioning_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The number of processors is the whole process's, so this test is not parallel: it
// solves a block of problems with one processor, the block again in another order of
// the input with two and with eight, and compares bytes. With -v it tells how far it is.
func TestSameBytesWithAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const block = 8
	begin, problems := soak.Window(8)
	want := make([][]byte, block)
	for first := begin; first < begin+problems; first += block {
		clear(want)
		started := time.Now()
		size := min(block, begin+problems-first)
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			for i := range size {
				seed := 100_000 + first + i
				p := schedulingtest.Random(uint64(seed), schedulingtest.Size{TopologyTerms: seed%2 == 1})
				got := solved(t, randomSolver(seed), schedulingtest.Shuffle(p, uint64(processors)))
				if want[i] == nil {
					want[i] = got
				}
				if !bytes.Equal(want[i], got) {
					t.Errorf("seed %d: another plan with GOMAXPROCS=%d", seed, processors)
				}
			}
		}
		t.Logf("problems %d to %d: %v", first, first+size-1, time.Since(started).Round(time.Millisecond))
	}
}

// Several goroutines may solve one problem at once; the race detector watches.
func TestConcurrentSolves(t *testing.T) {
	t.Parallel()
	for seed := range soak.Cases(5) {
		p := schedulingtest.Random(200_000+seed, schedulingtest.Size{TopologyTerms: seed%2 == 1})
		solver := scheduling.Policy{Effort: 20}
		got := make([][]byte, 4)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
				if got[i], err = json.Marshal(plan); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			})
		}
		wg.Wait()
		for _, other := range got[1:] {
			assert.Equal(t, string(got[0]), string(other), "seed %d", seed)
		}
	}
}

// Plans share no memory with each other or with the problem: changes of one plan do not show in the next.
func TestPlansAreTheCallers(t *testing.T) {
	t.Parallel()
	for seed := range soak.Cases(5) {
		p := schedulingtest.Random(300_000+seed, schedulingtest.Size{TopologyTerms: seed%2 == 1})
		solver := scheduling.Policy{Effort: 20}
		first, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		require.NoError(t, err, "seed %d", seed)
		want, err := json.Marshal(first)
		require.NoError(t, err)
		corrupt(first)
		assert.Equal(t, string(want), string(solved(t, solver, p)), "seed %d", seed)
	}
}

// corrupt overwrites everything that a plan lets its holder reach.
func corrupt(plan *scheduling.Plan) {
	for i := range plan.Launches {
		l := &plan.Launches[i]
		for j := range l.Options {
			l.Options[j].InstanceType = "changed"
		}
		for j := range l.Pods {
			l.Pods[j] = "changed"
		}
		for name, q := range l.Requests {
			q.Neg()
			l.Requests[name] = q
		}
		for key := range l.Labels {
			l.Labels[key] = "changed"
		}
		for j := range l.Taints {
			l.Taints[j].Key = "changed"
		}
		for j := range l.StartupTaints {
			l.StartupTaints[j].Key = "changed"
		}
		for j := range l.Requirements {
			l.Requirements[j].Key = "changed"
			for k := range l.Requirements[j].Values {
				l.Requirements[j].Values[k] = "changed"
			}
			if l.Requirements[j].MinValues != nil {
				*l.Requirements[j].MinValues = 99
			}
		}
	}
	for i := range plan.Existing {
		for j := range plan.Existing[i].Pods {
			plan.Existing[i].Pods[j] = "changed"
		}
	}
	for i := range plan.Unschedulable {
		for j := range plan.Unschedulable[i].Reasons {
			plan.Unschedulable[i].Reasons[j].Detail = "changed"
		}
	}
}

// solved is the plan's JSON.
func solved(t *testing.T, solver scheduling.Policy, p scheduling.Problem) []byte {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
	require.NoError(t, err)
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	return text
}
