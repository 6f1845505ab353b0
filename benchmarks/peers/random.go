package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/document"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/duel"
)

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
