package instance

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Warnings lists the problem's warnings, and more: constraints that are not modelled, pods without requests, running
// pods on unknown nodes, labels that NodePools require and no instance type has, NodePools without offers, and limits on
// resources that no offer has.
func Warnings(c *Instance, more ...scheduling.Warning) []scheduling.Warning {
	w := &validate.Warner{Counts: map[scheduling.Warning]int{}}
	for _, x := range more {
		w.Counts[x]++
	}
	for _, class := range c.Classes.Classes {
		noCPU, noMemory := lacks(c, class, corev1.ResourceCPU), lacks(c, class, corev1.ResourceMemory)
		for _, pod := range class.Pods {
			for _, name := range validate.Unmodelled(&pod.Spec) {
				w.Warn(validate.Workload(pod), name+" is left to the scheduler: the plan does not count on it")
			}
			switch {
			case noCPU && noMemory:
				w.Warn(validate.Workload(pod), "no cpu and no memory request: only a pod slot is planned for it")
			case noMemory:
				w.Warn(validate.Workload(pod), "no memory request")
			case noCPU:
				w.Warn(validate.Workload(pod), "no cpu request")
			}
		}
	}
	for _, h := range c.Facts.Cluster.Special {
		if h.Node != nil {
			continue
		}
		for _, pod := range h.Pods {
			w.Warn(podspec.PodName(pod), validate.NodeMissing(h.Name))
		}
	}
	for key := range c.unchecked {
		message := fmt.Sprintf("no instance type has the label %s, which a NodePool requires: it is taken to hold", key)
		w.Counts[scheduling.Warning{Object: "catalog", Message: message, Note: true}]++
	}
	for _, pool := range without(c) {
		if why := validate.Idle(c.Facts.Problem, pool); why != "" {
			w.Warn("NodePool/"+pool.Name, why)
		}
	}
	for _, x := range validate.PoolWarnings(c.Facts.Problem) {
		w.Counts[x]++
	}
	return w.List()
}

// without lists the NodePools that have no offer now.
func without(c *Instance) []*scheduling.NodePool {
	has := map[*scheduling.NodePool]bool{}
	for _, v := range c.Templates {
		has[v.Pool] = has[v.Pool] || v.Within.Any()
	}
	return slices.DeleteFunc(offers.PoolOrder(c.Facts.Problem.NodePools), func(p *scheduling.NodePool) bool { return has[p] })
}

// lacks reports whether pods of a class do not request a resource.
func lacks(c *Instance, class *podspec.PodClass, name corev1.ResourceName) bool {
	d, ok := c.Table.Index[name]
	return !ok || class.Requests[d] == 0
}

// Expected is the sum of the expected prices of a plan's launches, see [scheduling.Policy.ExpectedPrice].
func Expected(c *Instance, plan *scheduling.Plan) offerings.Price {
	type sale struct {
		pool string
		key  offerings.Key
	}
	known := map[sale]offerings.Price{}
	sum := offerings.Price(0)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		s := sale{l.NodePool, l.Options[0].Key()}
		price, ok := known[s]
		if !ok {
			price = expectedOf(c, l.NodePool, &l.Options[0])
			known[s] = price
		}
		sum = offerings.Sum(sum, price)
	}
	return sum
}

// expectedOf is the expected price of an option, or its price where the catalog does not have it.
func expectedOf(c *Instance, pool string, o *scheduling.LaunchOption) offerings.Price {
	span := c.Offers.Spans[c.Facts.Problem.CatalogOf(pool)]
	for i := span[0]; i < span[1]; i++ {
		x := &c.Offers.Offers[i]
		if x.InstanceType.Name == o.InstanceType && x.Offering.Zone == o.Zone &&
			x.Offering.CapacityType == o.CapacityType && x.Offering.ReservationID == o.ReservationID {
			return x.Expected
		}
	}
	return o.Price
}
