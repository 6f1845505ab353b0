package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/chart"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
)

// compare runs everything and writes the table as it grows.
func (s *settings) compare(ctx context.Context, stdout, stderr io.Writer) error {
	s.pods = s.sizes(100, 1_000)
	instances, err := s.instances()
	if err != nil {
		return err
	}
	if len(instances) == 0 {
		return errors.New("no corpus fits any market")
	}
	if _, err := io.WriteString(stdout, table.Header()); err != nil {
		return err
	}
	var rows []table.Row
	var faults []error
	for _, in := range instances {
		results, err := s.solve(ctx, in, stderr)
		faults = append(faults, err)
		compared := table.Compare(results, reference)
		if err := table.Write(stdout, compared); err != nil {
			return err
		}
		rows = append(rows, compared...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	losses := table.Losses(rows, reference, func(name string) bool { return strings.HasPrefix(name, reference) })
	for _, loss := range losses {
		fmt.Fprintln(stderr, "beaten:", loss)
	}
	if s.strict && len(losses) > 0 {
		faults = append(faults, fmt.Errorf("%s is beaten %d times", reference, len(losses)))
	}
	if s.plots != "" {
		files, err := chart.Draw(s.plots, rows)
		faults = append(faults, err)
		fmt.Fprintf(stderr, "drew %s\n", strings.Join(files, " "))
	}
	return errors.Join(faults...)
}

// instances are the problems to solve, each corpus in each market that it fits.
func (s *settings) instances() ([]corpus.Instance, error) {
	var out []corpus.Instance
	for _, c := range s.corpora {
		for _, m := range s.markets {
			if !c.Fits(m) {
				continue
			}
			for _, way := range s.ways {
				for _, n := range s.pods {
					in, err := c.Instance(m, way, n, s.seed)
					if err != nil {
						return nil, err
					}
					out = append(out, in)
				}
			}
		}
	}
	return out, nil
}

// solve lets every planner have one instance. What a planner cannot express is told
// and left out; a wrong outcome is an error.
func (s *settings) solve(ctx context.Context, in corpus.Instance, stderr io.Writer) ([]peer.Result, error) {
	var results []peer.Result
	var faults []error
	for _, p := range s.peers {
		r, _, err := peer.Measure(ctx, p, in.Name, in.Problem, s.measure)
		var unsupported *peer.UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			fmt.Fprintln(stderr, "left out:", err)
		case err != nil:
			faults = append(faults, err)
		default:
			results = append(results, r)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return slices.Clip(results), errors.Join(faults...)
}
