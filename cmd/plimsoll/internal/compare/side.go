package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Side is one of two things that are compared.
type Side struct {
	// Name is the user's name for the side, e.g. that of its file.
	Name string `json:"name"`
	// PricePerHour is the expected price of its nodes, Nodes their number. They are all nodes of
	// NodePools where both sides are manifests, and else those of the plan.
	PricePerHour offerings.Price `json:"pricePerHour"`
	Nodes        int             `json:"nodes"`
	// Cluster says that these are the nodes of a cluster after a consolidation plan, and not the launches of a plan.
	Cluster bool `json:"-"`
	// Pods is the number of pods with a place, Unplaced names the pods without one.
	Pods     int      `json:"pods"`
	Unplaced []string `json:"unplaced,omitempty"`

	machines map[Kind]machines
	parts    map[string]part // by workload; nil where they are not known
}

// Kind is the key by which machines are counted.
type Kind struct {
	// NodePool pays for the machine.
	NodePool string `json:"nodePool"`
	// InstanceType and CapacityType are those of the machine.
	InstanceType string `json:"instanceType"`
	CapacityType string `json:"capacityType"`
}

// machines are those of one kind: their number and their price per hour.
type machines struct {
	nodes int
	price offerings.Price
}

// add adds a machine.
func (s *Side) add(k Kind, price offerings.Price) {
	if s.machines == nil {
		s.machines = map[Kind]machines{}
	}
	m := s.machines[k]
	s.machines[k] = machines{m.nodes + 1, offerings.Sum(m.price, price)}
}

// buy adds a machine that a launch buys.
func (s *Side) buy(l *scheduling.Launch, overhead offerings.Price) {
	k := Kind{NodePool: l.NodePool}
	if len(l.Options) > 0 {
		k.InstanceType, k.CapacityType = l.Options[0].InstanceType, string(l.Options[0].CapacityType)
	}
	s.add(k, offerings.Sum(l.Price, overhead))
}

// Launches is the side of a plan's launches. Existing nodes do not count, because the plan does
// not change their price.
func Launches(name string, plan *scheduling.Plan) Side {
	sum := &plan.Summary
	s := Side{Name: name, PricePerHour: cmp.Or(sum.ExpectedPerHour, sum.PricePerHour), Nodes: len(plan.Launches), Pods: sum.Placed}
	for i := range plan.Launches {
		s.buy(&plan.Launches[i], sum.NodeOverheadPerHour)
	}
	for i := range plan.Unschedulable {
		s.Unplaced = append(s.Unplaced, plan.Unschedulable[i].Pod)
	}
	return s
}

// Steps is the cluster once a plan's steps are done: the nodes of NodePools whose price is known,
// and the plan's launches. Pods is 0, because these plans do not state the number of pods.
func Steps(name string, plan *disruption.ConsolidationPlan) Side {
	sum := &plan.Summary
	s := Side{Name: name, PricePerHour: cmp.Or(sum.ExpectedPerHourAfter, sum.PricePerHourAfter), Nodes: sum.NodesAfter, Cluster: true}
	gone := map[string]bool{}
	for i := range plan.Steps {
		for _, node := range plan.Steps[i].Drain {
			gone[node] = true
		}
		for _, e := range plan.Steps[i].Evictions {
			if e.To == "" {
				s.Unplaced = append(s.Unplaced, e.Pod)
			}
		}
	}
	for i := range plan.Nodes {
		if v := &plan.Nodes[i]; !gone[v.Node] && v.NodePool != "" && v.PricePerHour > 0 {
			s.add(Kind{v.NodePool, v.InstanceType, v.CapacityType}, offerings.Sum(v.PricePerHour, sum.NodeOverheadPerHour))
		}
	}
	for i := range plan.Steps {
		for j := range plan.Steps[i].Launches {
			if l := &plan.Steps[i].Launches[j]; !gone[l.Name] {
				s.buy(l, sum.NodeOverheadPerHour)
			}
		}
	}
	return s
}

// Diff is how the second of two sides differs from the first. The JSON names are a contract.
type Diff struct {
	// Before and After are the two sides.
	Before Side `json:"before"`
	After  Side `json:"after"`
	// DifferencePerHour is the price after less the price before.
	DifferencePerHour offerings.Price `json:"differencePerHour"`
	// Machines are the kinds of which there are more or fewer, or which cost something else: the
	// largest difference comes first.
	Machines []Machines `json:"machines"`
	// Workloads are those whose share of the price differs, the largest difference first. They are
	// set only where both sides are manifests, because plans do not state the requests of pods.
	Workloads []Workload `json:"workloads,omitempty"`
}

// Machines is the number of machines of a kind on both sides, and the difference of their price.
type Machines struct {
	Kind

	// NodesBefore and NodesAfter are the numbers of machines, DifferencePerHour is the price after less
	// the price before, without the cost of interruptions.
	NodesBefore       int             `json:"nodesBefore"`
	NodesAfter        int             `json:"nodesAfter"`
	DifferencePerHour offerings.Price `json:"differencePerHour"`
}

// Compare compares two sides.
func Compare(before, after Side) *Diff {
	d := &Diff{Before: before, After: after, DifferencePerHour: after.PricePerHour - before.PricePerHour, Machines: []Machines{}}
	kinds := map[Kind]bool{}
	for _, side := range []Side{before, after} {
		for k := range maps.Keys(side.machines) {
			kinds[k] = true
		}
	}
	for k := range kinds {
		if b, a := before.machines[k], after.machines[k]; a != b {
			d.Machines = append(d.Machines, Machines{k, b.nodes, a.nodes, a.price - b.price})
		}
	}
	if before.parts != nil && after.parts != nil {
		d.Workloads = workloads(before.parts, after.parts)
	}
	slices.SortFunc(d.Machines, func(a, b Machines) int {
		return cmp.Or(cmp.Compare(absolute(b.DifferencePerHour), absolute(a.DifferencePerHour)),
			cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.CapacityType, b.CapacityType))
	})
	return d
}

func absolute(p offerings.Price) offerings.Price { return max(p, -p) }
