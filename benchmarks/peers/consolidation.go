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
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

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
			efforts[mine.Title] = mine.Solver.Effort
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
