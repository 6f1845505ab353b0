package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/gaps"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

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
