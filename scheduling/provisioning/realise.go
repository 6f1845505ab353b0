package provisioning

import (
	"context"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// realise plays a plan of c through: kube-scheduler binds the pods in several courses of events, and
// for those that are left over machines are planned as for any other pods. mean is the mean price
// of all courses. The answer is nil where the plan buys what is not on sale or names pods or nodes
// that are not there, and where too many pods depend on each other.
func realise(ctx context.Context, f *compile.Facts, c *compile.Compiler, plan *scheduling.Plan, brief bool) (out *scheduling.Realised, mean offerings.Price) {
	if !fleet.Playable(c, plan) {
		return nil, 0
	}
	s, err := simulation.New(c, plan)
	if err != nil || slices.Contains(s.Home, -1) || len(s.Queue) < len(maps.Collect(plan.Placements())) {
		return nil, 0
	}
	out = &scheduling.Realised{}
	q := simulation.Asked{Pod: -1, Brief: brief}
	var atOnce, all []offerings.Price
	for i, x := range s.Play(q) {
		price := offerings.Sum(launched(plan), boughtLater(ctx, f, s, &x, i, q))
		if all = append(all, price); x.Batches == 1 {
			atOnce = append(atOnce, price)
			out.PodsElsewhere = max(out.PodsElsewhere, s.Elsewhere(&x))
		}
	}
	out.ExpectedPerHour, out.WorstPerHour = meanOf(atOnce), slices.Max(all)
	return out, meanOf(all)
}

func meanOf(prices []offerings.Price) (mean offerings.Price) {
	for _, p := range prices {
		mean = offerings.Sum(mean, p)
	}
	return mean / offerings.Price(len(prices))
}

// launched is the price of what a plan buys.
func launched(plan *scheduling.Plan) (sum offerings.Price) {
	for i := range plan.Launches {
		sum = offerings.Sum(sum, plan.Launches[i].Price)
	}
	return sum
}

// boughtLater is the price of what is bought after a plan for pods that are left over in a course of
// events, as long as any pods bind.
func boughtLater(ctx context.Context, f *compile.Facts, s *simulation.Plan, x *simulation.Played, course int, q simulation.Asked) (price offerings.Price) {
	for range fleet.MostReplans {
		plan, left := s.Bound(x)
		if len(left) == 0 || len(left) == len(s.Queue) {
			break
		}
		after, err := carriedOut(f, plan, false)
		if err != nil || after.Apply(scheduling.Delta{Pods: left}) != nil {
			break
		}
		more, err := after.Place(ctx, scheduling.EffortFast)
		if err != nil {
			break
		}
		price = offerings.Sum(price, launched(more))
		if f, err = after.facts(); err != nil {
			break
		}
		if s, err = simulation.New(f.Compile(false), more); err != nil {
			break
		}
		played := s.PlayCourse(course, q)
		x = &played
	}
	return price
}
