package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/cputime"
	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// consolidated is a checked plan for a cluster.
type consolidated struct {
	disruption.ConsolidationSummary
	steps int
	cpu   time.Duration
}

// clusters consolidates clusters as many users have them, once where pods go where plans say and once where kube-scheduler
// binds them. One is planned at a time, so that the time of all cores is that of one plan.
func (s *settings) clusters(ctx context.Context, out io.Writer) error {
	fmt.Fprint(out, "| seed | placement | USD/h before | after | anew | bound | over anew | free ÷ pinned | steps | moved | CPU-s |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	catalog, err := mix.EC2()
	if err != nil {
		return err
	}
	var sums [2]offerings.Price
	for i := range s.count {
		var after [2]offerings.Price
		cluster := schedulingtest.UsedCluster(s.seed+uint64(i), s.nodes, catalog)
		for k, placement := range []scheduling.PlacementPolicy{scheduling.PlacementPinned, scheduling.PlacementFree} {
			p, err := s.consolidate(ctx, cluster, placement)
			if err != nil {
				return fmt.Errorf("cluster %d, %s: %w", s.seed+uint64(i), placement, err)
			}
			after[k] = p.PricePerHourAfter
			sums[k] += after[k]
			ratio, anew, over := "–", "–", "–"
			if k == 1 {
				ratio = fmt.Sprintf("%.3f", after[1].USD()/after[0].USD())
			}
			if p.Rebuilt != nil {
				anew = fmt.Sprintf("%.3f", p.Rebuilt.PricePerHour.USD())
				over = fmt.Sprintf("%.1f %%", 100*(after[k].USD()/p.Rebuilt.PricePerHour.USD()-1))
			}
			fmt.Fprintf(out, "| %d | %s | %.3f | %.3f | %s | %.3f | %s | %s | %d | %d | %.1f |\n", s.seed+uint64(i), placement, p.PricePerHourBefore.USD(), p.PricePerHourAfter.USD(),
				anew, p.LowerBoundPerHour.USD(), over, ratio, p.steps, p.PodsMoved, p.cpu.Seconds())
		}
	}
	_, err = fmt.Fprintf(out, "\nAll: pinned %.3f, free %.3f USD/h, free ÷ pinned %.3f\n", sums[0].USD(), sums[1].USD(), sums[1].USD()/sums[0].USD())
	return err
}

// consolidate plans the consolidation of a cluster, and has verify check the plan.
func (s *settings) consolidate(ctx context.Context, c disruption.Cluster, placement scheduling.PlacementPolicy) (consolidated, error) {
	p := disruption.Planner{Policy: s.solver}
	p.Policy.Placement = placement
	begin := cputime.Used()
	plan, err := p.Plan(ctx, c)
	if err != nil {
		return consolidated{}, err
	}
	return consolidated{plan.Summary, len(plan.Steps), cputime.Used() - begin}, verify.StepsChecker{Planner: p}.Steps(c, plan)
}
