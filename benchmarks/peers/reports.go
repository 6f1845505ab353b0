package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/consolidation"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/document"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/growth"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/speed"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// reports are what -report can name, in the order in which "all" writes them.
func reports() []string { return []string{"gaps", "speed", "growth", "consolidation"} }

// write writes the reports that were asked for.
func (s *settings) write(ctx context.Context, stdout, stderr io.Writer) error {
	var faults []error
	for _, name := range s.reports {
		own := *s
		var err error
		switch name {
		case "gaps":
			err = own.gaps(ctx, stdout, stderr)
		case "speed":
			err = own.speed(ctx, stdout, stderr)
		case "growth":
			err = own.growth(ctx, stdout, stderr)
		case "consolidation":
			err = own.consolidation(ctx, stdout, stderr)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// sizes are the numbers of pods that were asked for, or these.
func (s *settings) sizes(standard ...int) []int {
	if len(s.pods) > 0 {
		return s.pods
	}
	return standard
}

// speed compares time and memory with Karpenter's on its own mix.
func (s *settings) speed(ctx context.Context, stdout, stderr io.Writer) error {
	const standard = "karpenter"
	var entrants []speed.Entrant
	for _, p := range s.peers {
		once, again := s.measure, s.measure
		once.Repeat, again.Repeat = 1, max(again.Repeat, 5)
		if mine, ok := p.(planner.Peer); ok && mine.Title != "plimsoll thorough" {
			entrants = append(entrants, speed.Entrant{Peer: p, Options: again})
		} else if _, ok := p.(karpenter.Peer); ok {
			entrants = append(entrants, speed.Entrant{Peer: p, Options: once})
		}
	}
	var table strings.Builder
	table.WriteString(speed.Header(standard))
	var all []peer.Result
	var broken []string
	for _, n := range s.sizes(1_000, 5_000, 20_000) {
		in, err := corpus.KarpenterMix(n, s.seed)
		if err != nil {
			return err
		}
		fmt.Fprintln(stderr, "speed:", in.Name)
		results, err := speed.Measure(ctx, in, entrants)
		if err != nil {
			return err
		}
		if err := speed.Write(&table, results, standard); err != nil {
			return err
		}
		all = append(all, results...)
		broken = append(broken, speed.Broken(results, standard, speed.Promises())...)
	}
	faults := []error{s.publish(stdout, "speed", table.String()), s.told(stdout, broken), s.kept(broken)}
	for _, p := range speed.Plots(all) {
		faults = append(faults, s.draw(stderr, p))
	}
	return errors.Join(faults...)
}

// growth measures how the time grows with the numbers of everything.
func (s *settings) growth(ctx context.Context, stdout, stderr io.Writer) error {
	i := slices.IndexFunc(s.markets, func(m corpus.Market) bool { return m.Name == "ec2" })
	if i < 0 {
		return errors.New("-report growth needs the market ec2")
	}
	divisor := 1
	if s.quick {
		divisor = 50
	}
	o := s.measure
	o.Repeat = max(o.Repeat, 3)
	var table strings.Builder
	table.WriteString(growth.Header())
	var all []growth.Sample
	for _, a := range growth.Axes(s.markets[i], s.seed, divisor) {
		fmt.Fprintln(stderr, "growth:", a.Name)
		var ours []peer.Peer
		for _, p := range s.peers {
			if mine, ok := p.(planner.Peer); ok && mine.Title != "plimsoll thorough" {
				ours = append(ours, p)
			}
		}
		samples, err := growth.Measure(ctx, a, ours, o)
		if err != nil {
			return err
		}
		if err := growth.Write(&table, samples); err != nil {
			return err
		}
		all = append(all, samples...)
	}
	rising := growth.Rising(all)
	faults := []error{s.publish(stdout, "growth", table.String()), s.told(stdout, rising), s.kept(rising)}
	for _, p := range growth.Plots(all) {
		faults = append(faults, s.draw(stderr, p))
	}
	return errors.Join(faults...)
}

// publish writes a section to the output, and into the file that shows it.
func (s *settings) publish(stdout io.Writer, section, text string) error {
	if _, err := fmt.Fprintf(stdout, "\n%s\n", strings.Trim(text, "\n")); err != nil {
		return err
	}
	if s.readme == "" {
		return nil
	}
	return document.Put(s.readme, section, text)
}

// draw draws a plot if plots are wanted.
func (s *settings) draw(stderr io.Writer, p interface {
	Draw(dir string) ([]string, error)
}) error {
	if s.plots == "" {
		return nil
	}
	files, err := p.Draw(s.plots)
	fmt.Fprintf(stderr, "drew %s\n", strings.Join(files, " "))
	return err
}

// told lists promises that are not kept.
func (s *settings) told(stdout io.Writer, broken []string) error {
	if len(broken) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "\nNot as promised:\n\n- %s\n", strings.Join(broken, "\n- "))
	return err
}

// kept is an error if promises are not kept and that matters.
func (s *settings) kept(broken []string) error {
	if !s.strict || len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%d promises are not kept, first: %s", len(broken), broken[0])
}

// tightest is up to how many nodes the clusters are also consolidated by a tenth of their
// nodes at a time, which takes Karpenter many more rounds.
const tightest = 100

// consolidation compares what is saved on clusters that have lost pods, and with how many
// pods moved.
func (s *settings) consolidation(ctx context.Context, stdout, stderr io.Writer) error {
	i := slices.IndexFunc(s.markets, func(m corpus.Market) bool { return m.Name == "ec2" })
	if i < 0 {
		return errors.New("-report consolidation needs the market ec2")
	}
	efforts := map[string]scheduling.Effort{}
	for _, p := range s.peers {
		if mine, ok := p.(planner.Peer); ok {
			efforts[mine.Title] = mine.Policy.Effort
		}
	}
	var matches []consolidation.Match
	var broken []string
	for _, budget := range []string{"100%", "10%"} {
		for _, n := range s.nodes {
			if budget != "100%" && n > tightest {
				continue
			}
			for seed := s.seed; seed < s.seed+uint64(max(s.clusters, 1)); seed++ {
				fmt.Fprintf(stderr, "consolidation: %d nodes, budget %s, seed %d\n", n, budget, seed)
				m, err := consolidation.Play(ctx, corpus.Clusters{Market: s.markets[i], Budget: budget}, n, seed, efforts)
				if err != nil {
					return err
				}
				matches = append(matches, m)
				for name := range efforts {
					broken = append(broken, consolidation.Broken(m, name)...)
				}
			}
		}
	}
	slices.Sort(broken)
	var table strings.Builder
	table.WriteString(consolidation.Header())
	if err := consolidation.Write(&table, matches); err != nil {
		return err
	}
	faults := []error{s.publish(stdout, "consolidation", table.String()), s.told(stdout, broken), s.kept(broken)}
	drawn := map[string]bool{}
	for _, m := range matches {
		if p := consolidation.Plot(m); !drawn[p.Name] {
			drawn[p.Name] = true
			faults = append(faults, s.draw(stderr, p))
		}
	}
	return errors.Join(faults...)
}
