package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	solver   scheduling.Policy
	every    int    // vectorpack: solve each Nth instance
	count    int    // mixes, rounds, clusters: how many; efforts: of each kind
	seed     uint64 // mixes, rounds, clusters, efforts: of the first
	nodes    int    // clusters, efforts: of each cluster
	parallel int    // how many problems at a time
}

// run is the command without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	flags.SetOutput(stderr)
	effort := flags.String("effort", "default", "how hard to search: fast, default, thorough or a number")
	flags.IntVar(&s.every, "every", 1, "vectorpack: solve every Nth `instance`")
	flags.IntVar(&s.count, "count", 200, "mixes, rounds, clusters, efforts, commitments: `how many`, for efforts of each kind")
	flags.Uint64Var(&s.seed, "seed", 1, "mixes, rounds, clusters, efforts, commitments: `seed` of the first; the others have those that follow")
	flags.IntVar(&s.nodes, "nodes", 40, "clusters, efforts: how many `nodes` each cluster has")
	flags.IntVar(&s.parallel, "parallel", runtime.NumCPU(), "vectorpack, mixes, rounds, efforts, commitments: solve so many `problems` at a time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if s.solver.Effort, err = scheduling.ParseEffort(*effort); err != nil {
		return err
	}
	if s.every < 1 || s.count < 1 || s.nodes < 1 || s.parallel < 1 {
		return errors.New("-every, -count, -nodes and -parallel: must be at least 1")
	}
	switch {
	case flags.Arg(0) == "vectorpack" && flags.NArg() == 2:
		return vectorpack(ctx, &s, flags.Arg(1), stdout)
	case flags.Arg(0) == "mixes" && flags.NArg() == 1:
		return s.mixes(ctx, mix.Random(), fewestPods, stdout)
	case flags.Arg(0) == "rounds" && flags.NArg() == 1:
		return s.mixes(ctx, mix.RoundSizes(), 0, stdout)
	case flags.Arg(0) == "clusters" && flags.NArg() == 1:
		return s.clusters(ctx, stdout)
	case flags.Arg(0) == "efforts" && flags.NArg() == 1:
		return s.efforts(ctx, stdout)
	case flags.Arg(0) == "commitments" && flags.NArg() == 1:
		return commitments(ctx, &s, stdout)
	}
	return errors.New("want vectorpack CHECKOUT, mixes, rounds, clusters, efforts, or commitments")
}

// answer is a checked plan, and how long it took to make.
type answer struct {
	*scheduling.Plan
	took time.Duration
}

// solve plans a problem and has the plan checked.
func (s *settings) solve(ctx context.Context, p scheduling.Problem) (answer, error) {
	begin := time.Now() //nolint:forbidigo // a benchmark measures time
	plan, err := provisioning.Planner{Policy: s.solver}.Plan(ctx, p)
	if err != nil {
		return answer{}, err
	}
	took := time.Since(begin) //nolint:forbidigo // a benchmark measures time
	return answer{plan, took}, verify.Checker{Policy: s.solver, SkipRefusals: true}.Plan(p, plan)
}

// each calls do for 0 to n-1, at most parallel calls at a time, and calls handle with the results
// in the order of the numbers, each as soon as all before it are there. The error joins all errors.
func each[T any](parallel, n int, do func(i int) (T, error), handle func(T)) error {
	results, faults := make([]T, n), make([]error, n)
	done := make([]chan struct{}, n)
	turn := make(chan struct{}, parallel)
	for i := range n {
		done[i] = make(chan struct{})
	}
	var all sync.WaitGroup
	all.Go(func() {
		for i := range n {
			turn <- struct{}{}
			all.Go(func() {
				results[i], faults[i] = do(i)
				<-turn
				close(done[i])
			})
		}
	})
	for i := range n {
		if <-done[i]; faults[i] == nil {
			handle(results[i])
		}
	}
	all.Wait()
	return errors.Join(faults...)
}
