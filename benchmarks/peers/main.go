package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/document"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/duel"
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
	case len(s.reports) > 0:
		return s.write(ctx, stdout, stderr)
	}
	return s.compare(ctx, stdout, stderr)
}

// duel compares with Karpenter on random problems.
func (s *settings) duel(ctx context.Context, stdout io.Writer) error {
	settings := duel.Settings{Preferences: s.wishes, Timeout: s.measure.Timeout}
	report, err := duel.Run(ctx, s.seed, s.random, settings)
	if writeErr := report.Write(stdout); writeErr != nil {
		return writeErr
	}
	faults := []error{err}
	if s.readme != "" {
		var sums strings.Builder
		report.Sums(&sums)
		faults = append(faults, document.Put(s.readme, "random", sums.String()))
	}
	beaten := report.Beaten()
	if s.minimal {
		for _, b := range beaten {
			fmt.Fprintf(stdout, "\n%d, %s:\n\n%s", b.Seed, b.Verdict(settings), duel.Minimal(ctx, b, settings))
		}
	}
	if s.strict && len(beaten) > 0 {
		faults = append(faults, fmt.Errorf("%s is beaten on %d of %d problems", reference, len(beaten), len(report.Bouts)))
	}
	return errors.Join(faults...)
}
