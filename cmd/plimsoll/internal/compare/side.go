package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Side is one of two things that are compared.
type Side struct {
	// Name is the user's name for the side, e.g. that of its file.
	Name string `json:"name"`
	// PricePerHour is the expected price of its nodes after scheduling, Nodes their planned number. They are all nodes of
	// NodePools where both sides are manifests, and otherwise the NodePools of the plan.
	PricePerHour offerings.Price `json:"pricePerHour"`
	Nodes        int             `json:"nodes"`
	// PlannedPerHour is the price if every pod is scheduled as planned; set only where PricePerHour is another.
	PlannedPerHour offerings.Price `json:"plannedPerHour,omitempty"`
	// Catalog is the origin of the prices.
	Catalog instancetypes.Origin `json:"catalog,omitzero"`
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
	// InstanceType and CapacityType of the node.
	InstanceType string `json:"instanceType"`
	CapacityType string `json:"capacityType"`
}

// machines are the nodes of one kind: their number and their price per hour.
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

// expect sets the price that is expected after scheduling, of a side with its planned price.
func (s *Side) expect(price offerings.Price) {
	if price == s.PricePerHour {
		return
	}
	if s.machines == nil {
		s.machines = map[Kind]machines{}
	}
	s.machines[Kind{InstanceType: afterScheduling}] = machines{price: price - s.PricePerHour}
	s.PlannedPerHour, s.PricePerHour = s.PricePerHour, price
}

// afterScheduling names the part of a price that is expected after scheduling beside the planned price, among kinds and workloads.
const afterScheduling = "(after scheduling)"

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
	s := Side{Name: name, PricePerHour: cmp.Or(sum.ExpectedPerHour, sum.PricePerHour), Nodes: len(plan.Launches), Pods: sum.Placed, Catalog: sum.Catalog}
	for i := range plan.Launches {
		s.buy(&plan.Launches[i], sum.NodeOverheadPerHour)
	}
	for i := range plan.Unschedulable {
		s.Unplaced = append(s.Unplaced, plan.Unschedulable[i].Pod)
	}
	if r := sum.AfterScheduling; r != nil {
		s.expect(r.ExpectedPerHour)
	}
	return s
}

// Steps is the cluster once a plan's steps are done: the nodes of NodePools whose price is known,
// and the plan's launches. Pods is 0, because these plans do not state the number of pods.
func Steps(name string, plan *disruption.ConsolidationPlan) Side {
	sum := &plan.Summary
	s := Side{Name: name, PricePerHour: cmp.Or(sum.ExpectedPerHourAfter, sum.PricePerHourAfter), Nodes: sum.NodesAfter, Cluster: true, Catalog: sum.Catalog}
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
	if r := sum.AfterScheduling; r != nil && len(plan.Steps) > 0 {
		s.expect(cmp.Or(r.ExpectedPerHourAfter, r.PricePerHourAfter))
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
	// the price before, without the cost of interruptions. The instance type "(after scheduling)" is the
	// expected price beside that of the planned machines.
	NodesBefore       int             `json:"nodesBefore"`
	NodesAfter        int             `json:"nodesAfter"`
	DifferencePerHour offerings.Price `json:"differencePerHour"`
}

// Counts writes the change of the number of machines, and both numbers; "" where there are none, as "(after scheduling)".
func (m *Machines) Counts() (change, nodes string) {
	if m.NodesBefore == 0 && m.NodesAfter == 0 {
		return "", ""
	}
	return fmt.Sprintf("%+d", m.NodesAfter-m.NodesBefore), fmt.Sprintf("%d → %d", m.NodesBefore, m.NodesAfter)
}

// Planned are the prices per hour of both sides if every pod is scheduled as planned, and whether one differs from the
// expected price.
func (d *Diff) Planned() (before, after offerings.Price, differ bool) {
	before, after = cmp.Or(d.Before.PlannedPerHour, d.Before.PricePerHour), cmp.Or(d.After.PlannedPerHour, d.After.PricePerHour)
	return before, after, before != d.Before.PricePerHour || after != d.After.PricePerHour
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
