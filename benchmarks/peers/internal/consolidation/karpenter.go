package consolidation

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// rounds bounds how often Karpenter may decide, lest a run should never end.
const rounds = 10_000

// Karpenter lets Karpenter's consolidation run until it finds nothing more to do. Only its
// decisions are timed, and in the end every pod has its place.
func Karpenter(ctx context.Context, c disruption.Cluster) (Course, error) {
	course := Course{Planner: "karpenter"}
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
		var command *karpenter.Command
		spent, err := peer.Spend(func() (err error) {
			command, err = k.Decide(ctx)
			return err
		})
		if err != nil {
			return course, fmt.Errorf("karpenter: round %d: %w", len(course.Points), err)
		}
		course.Expense = course.Plus(spent)
		if command == nil {
			break
		}
		if course.First == 0 {
			course.First = spent.Elapsed
		}
		more, err := k.Do(ctx, command)
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
