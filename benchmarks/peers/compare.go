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
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/gaps"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
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

// gaps writes how far every instance is above its bound, and where others are cheaper.
func (s *settings) gaps(ctx context.Context, stdout, stderr io.Writer) error {
	s.pods = s.sizes(1_000)
	instances, err := s.instances()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, gaps.Header()); err != nil {
		return err
	}
	theirs, rest := s.split()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	asked := s.ask(ctx, instances, theirs)
	var findings []*gaps.Finding
	var faults []error
	for i, in := range instances {
		answers, err := gaps.Ask(ctx, in, s.quickEnough(in, rest), s.measure)
		reply := <-asked[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		faults = append(faults, err, reply.err)
		f := gaps.Compare(in, append(reply.answers, answers...))
		findings = append(findings, f)
		if _, err := io.WriteString(stdout, gaps.Row(f)); err != nil {
			return err
		}
		for _, l := range f.Losses {
			fmt.Fprintln(stderr, "beaten:", l)
		}
	}
	var summary, corpora strings.Builder
	broken := gaps.Summary(&summary, findings)
	gaps.Corpora(&corpora, findings)
	faults = append(faults,
		s.publish(stdout, "gaps", summary.String()),
		s.publish(stdout, "corpora", corpora.String()),
		s.draw(stderr, gaps.Plot(findings)),
		s.kept(broken))
	return errors.Join(faults...)
}

// quickEnough leaves the thorough effort out where there are many pods.
func (s *settings) quickEnough(in corpus.Instance, planners []peer.Peer) []peer.Peer {
	if len(in.Problem.Pods) <= s.slow {
		return planners
	}
	return slices.DeleteFunc(slices.Clone(planners), func(p peer.Peer) bool { return p.Name() == "plimsoll thorough" })
}

// reply is what Karpenter makes of an instance.
type reply struct {
	answers []gaps.Answer
	err     error
}

// ask lets planners solve the instances one after the other while others do the same. No
// time is reported here, so that they may share the machine.
func (s *settings) ask(ctx context.Context, instances []corpus.Instance, planners []peer.Peer) []chan reply {
	out := make([]chan reply, len(instances))
	for i := range out {
		out[i] = make(chan reply, 1)
	}
	go func() {
		for i, in := range instances {
			var r reply
			if len(in.Problem.Pods) <= s.slow && ctx.Err() == nil {
				r.answers, r.err = gaps.Ask(ctx, in, planners, s.measure)
			}
			out[i] <- r
		}
	}()
	return out
}

// split tells Karpenter, which keeps its notes in global variables, from the others.
func (s *settings) split() (theirs, rest []peer.Peer) {
	for _, p := range s.peers {
		if _, ok := p.(karpenter.Peer); ok {
			theirs = append(theirs, p)
		} else {
			rest = append(rest, p)
		}
	}
	return theirs, rest
}
