package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/gaps"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// gapReport is the name of the report of gaps.
const gapReport = "gaps"

// gaps writes how far every instance is above its bound, and where others are cheaper.
func (s *settings) gaps(ctx context.Context, stdout, stderr io.Writer) error {
	instances, err := s.instances()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, gaps.Header()); err != nil {
		return err
	}
	var findings []*gaps.Finding
	var faults []error
	for _, in := range instances {
		f, err := gaps.Solve(ctx, in, s.planners(in), s.measure)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		faults = append(faults, err)
		findings = append(findings, f)
		if _, err := io.WriteString(stdout, gaps.Row(f)); err != nil {
			return err
		}
		for _, l := range f.Losses {
			fmt.Fprintln(stderr, "beaten:", l)
		}
	}
	broken, err := gaps.Summary(stdout, findings)
	faults = append(faults, err)
	if s.strict && len(broken) > 0 {
		faults = append(faults, fmt.Errorf("%d promises are not kept", len(broken)))
	}
	return errors.Join(faults...)
}

// planners are those that are asked about the instance.
func (s *settings) planners(in corpus.Instance) []peer.Peer {
	if !in.Tied || len(in.Problem.Pods) <= s.tied {
		return s.peers
	}
	return slices.DeleteFunc(slices.Clone(s.peers), func(p peer.Peer) bool {
		_, ok := p.(karpenter.Peer)
		return ok
	})
}
