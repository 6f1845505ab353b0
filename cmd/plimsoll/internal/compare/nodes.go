package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// AddNodes adds the existing nodes of a cluster to the side of a plan of launches for it, so that the
// side is the whole bill: nodes of NodePools whose price is known, with their pods and the pods that
// the plan adds. It must be called after [Side.Divide].
func (s *Side) AddNodes(c disruption.Cluster, plan *scheduling.Plan, policy scheduling.Policy, workload func(pod string) string) {
	at := map[string]string{} // the existing node of each pod that the plan places
	for i := range plan.Existing {
		for _, pod := range plan.Existing[i].Pods {
			at[pod] = plan.Existing[i].Node
		}
	}
	c.Running = slices.Clone(c.Running)
	for _, pod := range c.Pods {
		if node := at[scheduling.PodName(pod)]; node != "" {
			runs := *pod
			runs.Spec.NodeName = node
			c.Running = append(c.Running, &runs)
			s.Pods-- // because it is counted with the running pods
		}
	}
	for _, m := range costs.Machines(&c, nil, policy) {
		now := m.At(math.MaxInt)
		s.add(Kind{m.NodePool, m.Offering.InstanceType, string(m.Offering.CapacityType)}, now.Node.Price)
		s.PricePerHour = offerings.Sum(s.PricePerHour, now.Node.Price)
		if s.PlannedPerHour > 0 {
			s.PlannedPerHour = offerings.Sum(s.PlannedPerHour, now.Node.Price)
		}
		s.Nodes++
		s.Pods += len(now.Pods)
		for i, pod := range now.Pods {
			s.share(workload(scheduling.PodName(pod)), 1, now.Shares.Pods[i])
		}
		s.rest(&now.Shares)
	}
}

// share adds pods and a share of the price to a workload.
func (s *Side) share(name string, pods int, price offerings.Price) {
	s.parts[name] = part{s.parts[name].pods + pods, offerings.Sum(s.parts[name].price, price)}
}

// rest adds the part of a node's price that belongs to no pod.
func (s *Side) rest(shares *costs.Shares) {
	s.share("(daemons)", 0, shares.Daemons)
	s.share("(system)", 0, shares.System)
	s.share("(nodes)", 0, shares.Beside)
	s.share("(idle)", 0, shares.Idle)
}
