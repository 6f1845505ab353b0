package compare

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Workload is the share of the price of a workload's pods on both sides. The parts of the price that
// belong to no pod stand beside the workloads: "(daemons)", "(system)", "(nodes)" for costs of nodes
// beside their machines, "(idle)", and "(after scheduling)" for the expected price beside the planned one. So the differences add up to that of the sides.
type Workload struct {
	// Name is namespace/name.
	Name string `json:"name"`
	// PodsBefore and PodsAfter are the numbers of its pods on the nodes of each side.
	PodsBefore int `json:"podsBefore"`
	PodsAfter  int `json:"podsAfter"`
	// PricePerHourBefore and PricePerHourAfter are their shares.
	PricePerHourBefore offerings.Price `json:"pricePerHourBefore"`
	PricePerHourAfter  offerings.Price `json:"pricePerHourAfter"`
}

// part is the number of a workload's pods on one side and their share of the price per hour.
type part struct {
	pods  int
	price offerings.Price
}

// Divide divides the price of a side that is a plan of launches among the workloads of its
// pods.
func (s *Side) Divide(p *scheduling.Problem, plan *scheduling.Plan, workload func(pod string) string) error {
	requests := map[string]corev1.ResourceList{}
	for i, list := range provisioning.PodRequests(p.Pods) {
		requests[scheduling.PodName(p.Pods[i])] = list
	}
	s.parts = map[string]part{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node, err := l.Node(l.Name, &l.Options[0], p.CatalogOf(l.NodePool))
		if err != nil {
			return err
		}
		overhead := plan.Summary.NodeOverheadPerHour
		paid := costs.Node{
			Price: offerings.Sum(l.Price, overhead), Beside: overhead,
			Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable, Daemons: l.Requests.DeepCopy(),
		}
		for _, pod := range l.Pods {
			paid.Pods = append(paid.Pods, requests[pod])
			for name, q := range requests[pod] {
				rest := paid.Daemons[name]
				rest.Sub(q)
				paid.Daemons[name] = rest
			}
		}
		shares := paid.Divide()
		for j, pod := range l.Pods {
			s.share(workload(pod), 1, shares.Pods[j])
		}
		s.rest(&shares)
	}
	if extra := s.machines[Kind{InstanceType: afterScheduling}]; extra.price != 0 {
		s.share(afterScheduling, 0, extra.price)
	}
	return nil
}

// workloads are the workloads whose parts differ, the largest difference first.
func workloads(before, after map[string]part) []Workload {
	names := map[string]bool{}
	for _, parts := range []map[string]part{before, after} {
		for name := range maps.Keys(parts) {
			names[name] = true
		}
	}
	var out []Workload
	for name := range names {
		if b, a := before[name], after[name]; a != b {
			out = append(out, Workload{name, b.pods, a.pods, b.price, a.price})
		}
	}
	slices.SortFunc(out, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(absolute(b.PricePerHourAfter-b.PricePerHourBefore), absolute(a.PricePerHourAfter-a.PricePerHourBefore)), cmp.Compare(a.Name, b.Name))
	})
	return out
}
