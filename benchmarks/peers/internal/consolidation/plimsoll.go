package consolidation

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Plimsoll plans a cluster's consolidation once. Package verify carries the steps out, and it is an error that a pod has no
// place after one, or that a saving or the price in the end is not that of the nodes.
func Plimsoll(ctx context.Context, name string, planner disruption.Planner, c disruption.Cluster) (Course, error) {
	course := Course{Planner: name}
	var plan *disruption.ConsolidationPlan
	var err error
	course.Expense, err = peer.Spend(func() (err error) {
		plan, err = planner.Plan(ctx, c)
		return err
	})
	if err != nil {
		return course, fmt.Errorf("%s: %w", name, err)
	}
	if err := (verify.StepsChecker{Planner: planner}).Steps(c, plan); err != nil {
		return course, fmt.Errorf("%s: %w", name, err)
	}
	course.Points = points(len(c.Nodes), plan)
	first, err := peer.Spend(func() error { return firstStep(ctx, planner, c) })
	course.First = first.Elapsed
	return course, err
}

// points are a cluster of so many nodes before the steps of a plan and after each of them.
func points(nodes int, plan *disruption.ConsolidationPlan) []Point {
	at := Point{Price: plan.Summary.PricePerHourBefore, Nodes: nodes}
	out := []Point{at}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		at = Point{Moved: at.Moved + len(s.Evictions), Price: at.Price - s.SavingPerHour, Nodes: at.Nodes + len(s.Launches) - len(s.Drain)}
		out = append(out, at)
	}
	return out
}

// firstStep plans until the first step is there.
func firstStep(ctx context.Context, planner disruption.Planner, c disruption.Cluster) error {
	for _, err := range planner.Steps(ctx, c) {
		return err
	}
	return nil
}

// Bound is a price below which no machines can be that hold the cluster's pods.
func Bound(ctx context.Context, c disruption.Cluster) (bound Point, err error) {
	plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortThorough}}.Plan(ctx, anew(c))
	if err != nil {
		return bound, err
	}
	if n := len(plan.Unschedulable); n > 0 {
		return bound, fmt.Errorf("%d pods have no place if all machines are bought anew", n)
	}
	return Point{Price: plan.Summary.LowerBoundPerHour, Nodes: len(plan.Launches)}, nil
}

// rounds bounds how often Karpenter may decide, lest a run should never end.
const rounds = 10_000

// Karpenter runs Karpenter's consolidation until it finds no further command. Only its
// decisions are timed. It returns an error unless every pod has a place at the end.
func Karpenter(ctx context.Context, c disruption.Cluster) (Course, error) {
	course := Course{Planner: peer.Karpenter}
	k, err := karpenter.NewConsolidation(ctx, c)
	if err != nil {
		return course, fmt.Errorf("karpenter: %w", err)
	}
	moved := 0
	note := func() {
		o := k.Outcome()
		course.Points = append(course.Points, Point{Moved: moved, Price: o.Price(), Nodes: len(o.Machines)})
	}
	note()
	for range rounds {
		var commands []karpenter.Command
		spent, err := peer.Spend(func() (err error) {
			commands, err = k.Decide(ctx)
			return err
		})
		if err != nil {
			return course, fmt.Errorf("karpenter: round %d: %w", len(course.Points), err)
		}
		course.Expense = course.Plus(spent)
		if len(commands) == 0 {
			break
		}
		if course.First == 0 {
			course.First = spent.Elapsed
		}
		more, err := k.Do(ctx, commands[0])
		if err != nil {
			return course, fmt.Errorf("karpenter: round %d: %w", len(course.Points), err)
		}
		moved += more
		note()
	}
	if err := settled(c, k.Outcome()); err != nil {
		return course, fmt.Errorf("karpenter: %w", err)
	}
	return course, nil
}
