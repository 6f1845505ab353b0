package peer

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Result is one row of the comparison.
type Result struct {
	// Instance names the problem, Peer the planner.
	Instance, Peer string
	// Pods is the number of pending pods, Placed that of placed ones, Nodes that of machines.
	Pods, Placed, Nodes int
	// Price is the sum over all nodes, in USD per hour.
	Price offerings.Price
	// Realised is the price of the nodes once kube-scheduler has bound the pods to the nodes that it
	// scores best, with the nodes bought for pods that then find no room, by Plimsoll's model of it;
	// 0 where that is unknown, e.g. for machines whose labels the problem does not decide.
	Realised offerings.Price
	// Bound is the planner's own lower bound on price; 0 for none.
	Bound offerings.Price
	// Gap is the planner's own gap above its bound, 0.01 for one per cent; 0 for planners that
	// prove no bound.
	Gap float64
	// Elapsed is the duration of the decision, in the repeat that [Options] choose.
	Elapsed time.Duration
	// CPU is the time of all cores; 0 where the system does not tell. On a shared machine it
	// varies less than Elapsed.
	CPU time.Duration
	// Allocated is the number of bytes that the decision allocated, freed ones included.
	Allocated uint64
	// Late says that the deadline ended the run.
	Late bool
}

// Options say how to measure.
type Options struct {
	// Timeout ends a run that takes longer; 0 is none.
	Timeout time.Duration
	// Repeat is how often to solve; the fastest run counts. Less than 1 is 1.
	Repeat int
	// Median lets the run count that is the slower one of the middle two, or the middle
	// one, instead of the fastest.
	Median bool
}

// counts is the place of the run that counts among n runs, the fastest first.
func (o Options) counts(n int) int {
	if o.Median {
		return n / 2
	}
	return 0
}

// UnsupportedError says that a planner cannot express a problem.
type UnsupportedError struct{ Err error }

// Error gives the reason.
func (e *UnsupportedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// Measure solves the problem, checks the outcome and returns the figures. Runs that
// ended late are not repeated. The error of a planner that cannot express the problem is
// an [UnsupportedError].
func Measure(ctx context.Context, p Peer, instance string, problem scheduling.Problem, o Options) (Result, Outcome, error) {
	r := Result{Instance: instance, Peer: p.Name(), Pods: len(problem.Pods)}
	var outcome Outcome
	var costs []Expense
	for range max(1, o.Repeat) {
		run, err := p.Load(problem)
		if err != nil {
			return r, outcome, fmt.Errorf("%s: load %s: %w", p.Name(), instance, &UnsupportedError{err})
		}
		cost, err := timed(ctx, run, o.Timeout)
		if err != nil {
			return r, outcome, fmt.Errorf("%s: solve %s: %w", p.Name(), instance, err)
		}
		if costs = append(costs, cost); len(costs) > 1 {
			continue // the same decision again
		}
		if outcome, err = run.Outcome(); err != nil {
			return r, outcome, fmt.Errorf("%s: read the outcome of %s: %w", p.Name(), instance, err)
		}
		if outcome.Late {
			break
		}
	}
	slices.SortFunc(costs, func(a, b Expense) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	cost := costs[o.counts(len(costs))]
	r.Elapsed, r.CPU, r.Allocated = cost.Elapsed, cost.CPU, cost.Allocated
	if err := Check(problem, outcome); err != nil {
		return r, outcome, fmt.Errorf("%s: %s: the outcome is wrong: %w", p.Name(), instance, err)
	}
	r.Placed, r.Nodes = outcome.Placed(), len(outcome.Machines)
	r.Price, r.Bound, r.Gap, r.Late = outcome.Price(), outcome.Bound, outcome.Gap, outcome.Late
	if once, err := (provisioning.Planner{}).Realise(ctx, problem, outcome.Plan(problem)); err == nil {
		r.Realised = once.ExpectedPerHour
	}
	return r, outcome, nil
}

// Expense is the time and memory of one decision.
type Expense struct {
	Elapsed time.Duration
	// CPU is the time of all cores; 0 where the system does not tell.
	CPU time.Duration
	// Allocated counts bytes, freed ones included.
	Allocated uint64
}

// Plus is the sum.
func (e Expense) Plus(other Expense) Expense {
	return Expense{e.Elapsed + other.Elapsed, e.CPU + other.CPU, e.Allocated + other.Allocated}
}

// Spend runs the decision and nothing else between the readings.
func Spend(decide func() error) (Expense, error) {
	var before, after runtime.MemStats
	runtime.GC() // because garbage of earlier runs must not count
	runtime.ReadMemStats(&before)
	cpu := cputime.Used()
	start := time.Now() //nolint:forbidigo // a benchmark measures time
	err := decide()
	e := Expense{Elapsed: time.Since(start), CPU: cputime.Used() - cpu} //nolint:forbidigo // a benchmark measures time
	runtime.ReadMemStats(&after)
	e.Allocated = after.TotalAlloc - before.TotalAlloc
	return e, err
}

// timed lets a run solve, within the time.
func timed(ctx context.Context, run Run, timeout time.Duration) (Expense, error) {
	if timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = limited
	}
	return Spend(func() error { return run.Solve(ctx) })
}
