package provisioning

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// realise simulates a plan of c: kube-scheduler binds the pods in several courses of events, and nodes are launched for
// pods that are left over. mean is the mean price of all courses. out is nil where the plan launches an offering that
// is not on sale or names pods or nodes that do not exist, and where too many pods depend on each other.
func realise(c *instance.Instance, plan *scheduling.Plan, how fleet.Params) (out *scheduling.AfterScheduling, mean offerings.Price) {
	courses := fleet.Realise(c, plan, how)
	if courses == nil {
		return nil, 0
	}
	out = &scheduling.AfterScheduling{}
	pending := map[int32]int{} // by class
	var atOnce, all []offerings.Price
	for _, x := range courses {
		price := offerings.Sum(instance.Expected(c, plan), x.Later)
		if all = append(all, price); x.Batches == 1 {
			atOnce = append(atOnce, price)
			out.PodsElsewhere = max(out.PodsElsewhere, x.Elsewhere)
		}
		for class, n := range x.Pending {
			pending[class] = max(pending[class], n)
		}
	}
	for class, n := range pending {
		pods := c.Planned[class].Pods
		for _, pod := range pods[:min(n, len(pods))] {
			out.Pending = append(out.Pending, podspec.PodName(pod))
		}
	}
	slices.Sort(out.Pending)
	out.ExpectedPerHour, out.WorstPerHour = meanOf(atOnce), slices.Max(all)
	return out, meanOf(all)
}

func meanOf(prices []offerings.Price) (mean offerings.Price) {
	for _, p := range prices {
		mean = offerings.Sum(mean, p)
	}
	return mean / offerings.Price(len(prices))
}
