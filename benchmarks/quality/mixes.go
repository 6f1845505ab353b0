package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
)

// fewestPods is the least number of pods of a mix that counts for the figures at the end.
const fewestPods = 1000

// mixes plans the problems that a function draws. The figures at the end are of those from so many pods on.
func (s *settings) mixes(ctx context.Context, draw func(seed uint64) mix.Mix, fewest int, out io.Writer) error {
	type planned struct {
		mix.Mix
		answer
	}
	gaps := map[bool][]float64{}
	fmt.Fprint(out, "| seed | pods | classes | pools | market | topology terms | left out | nodes | USD/h | gap | seconds |\n|--:|--:|--:|--:|---|---|--:|--:|--:|--:|--:|\n")
	err := each(s.parallel, s.count, func(i int) (planned, error) {
		m := draw(s.seed + uint64(i))
		a, err := s.solve(ctx, m.Problem)
		if err != nil {
			err = fmt.Errorf("mix %d: %w", m.Seed, err)
		}
		return planned{m, a}, err
	}, func(p planned) {
		sum := &p.answer.Summary
		fmt.Fprintf(out, "| %d | %d | %d | %d | %s | %s | %d | %d | %.3f | %.2f %% | %.1f |\n", p.Seed, len(p.Pods), p.Classes, len(p.NodePools), p.Market,
			lo.Ternary(p.HasTopologyTerms, "yes", "no"), len(p.Unschedulable), sum.Nodes, sum.PricePerHour.USD(), 100*sum.Gap, p.took.Seconds())
		if len(p.Pods) >= fewest {
			gaps[p.HasTopologyTerms] = append(gaps[p.HasTopologyTerms], 100*sum.Gap)
		}
	})
	for _, terms := range []bool{false, true} {
		if list := slices.Sorted(slices.Values(gaps[terms])); len(list) > 0 {
			fmt.Fprintf(out, "\n%s topology terms, from %d pods on: %d mixes, median gap %.2f %%, nine of ten at most %.2f %%, mean %.2f %%, largest %.2f %%\n",
				lo.Ternary(terms, "With", "Without"), fewest, len(list), list[len(list)/2], list[len(list)*9/10], lo.Mean(list), list[len(list)-1])
		}
	}
	return err
}
