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
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/duel"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/expanders"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/report"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/week"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run is the command without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	switch {
	case s.list:
		return s.describe(stdout)
	case s.random > 0:
		return s.duel(ctx, stdout)
	case s.expanders > 0:
		return s.compareExpanders(ctx, stdout)
	case s.week > 0:
		return s.compareAutoscalers(ctx, stdout)
	}
	return reporter{s, stdout, stderr}.write(ctx)
}

// duel compares with Karpenter on random problems.
func (s *settings) duel(ctx context.Context, stdout io.Writer) error {
	settings := duel.Settings{Preferences: s.wishes, Timeout: s.measure.Timeout}
	duels, err := duel.Run(ctx, s.seed, s.random, settings)
	if writeErr := duels.Write(stdout); writeErr != nil {
		return writeErr
	}
	faults := []error{err}
	if s.readme != "" {
		var sums strings.Builder
		duels.Sums(&sums)
		faults = append(faults, report.Put(s.readme, "random", sums.String()))
	}
	beaten := duels.Beaten()
	if s.strict && len(beaten) > 0 {
		faults = append(faults, fmt.Errorf("%s is beaten on %d of %d problems", reference, len(beaten), len(duels.Bouts)))
	}
	return errors.Join(faults...)
}

// compareExpanders compares expanders of Cluster Autoscaler.
func (s *settings) compareExpanders(ctx context.Context, stdout io.Writer) error {
	pods := 1_000
	if len(s.pods) > 0 {
		pods = s.pods[0]
	}
	sums, err := expanders.Compare(ctx, []int{4, 12, 50}, pods, s.expanders, s.seed, s.measure)
	if err != nil {
		return err
	}
	return s.show(stdout, "expanders", expanders.Table(sums))
}

// compareAutoscalers compares autoscalers in a simulated week.
func (s *settings) compareAutoscalers(ctx context.Context, stdout io.Writer) error {
	settings := week.Settings{Length: time.Duration(s.days) * 24 * time.Hour, Seed: s.seed, Seeds: s.week, Parallel: runtime.GOMAXPROCS(0)}
	if s.runs != "" {
		var err error
		if settings.Known, err = readRuns(s.runs); err != nil {
			return err
		}
		settings.Finished = func(r week.Result) error { return addRun(s.runs, r) }
	}
	results, err := week.Compare(ctx, s.contenders, settings)
	if err != nil {
		return err
	}
	return s.show(stdout, "week", week.Table(results))
}

// show writes a table to the output, and into the file that has a section for it.
func (s *settings) show(stdout io.Writer, section, table string) error {
	if _, err := io.WriteString(stdout, table); err != nil || s.readme == "" {
		return err
	}
	return report.Put(s.readme, section, table)
}
