package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Node is a node of the bill, or one that a step launches.
type Node struct {
	// Name is the name of the node or launch; the fields below it are the values of its labels.
	Name         string                 `json:"name"`
	NodePool     string                 `json:"nodePool"`
	InstanceType string                 `json:"instanceType"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	Zone         string                 `json:"zone"`
	// Today and After are its price in cents per month; 0 where it does not exist. The sum over all nodes is
	// the price of the cluster.
	Today int64 `json:"today"`
	After int64 `json:"after"`
	// Launched and Removed are the steps that launch and drain it, counted from 1; 0 is none.
	Launched int `json:"launched,omitempty"`
	Removed  int `json:"removed,omitempty"`
	// Stays says why it stays, "" if it is removed or launched by a step.
	Stays string `json:"stays,omitempty"`
	// Fills divide its price among workloads and overhead, from each number of steps at which that changes.
	Fills []Fill `json:"fills"`
}

// Fill divides the price of a node among workloads and overhead, from a number of steps on.
type Fill struct {
	// Steps is that number.
	Steps int `json:"steps"`
	// Parts are workloads, the most expensive first, then overhead above 0. Their prices
	// add up to the node's.
	Parts []Part `json:"parts"`
}

// Part is a part of a node's price.
type Part struct {
	// Name is a workload's, or DaemonSets, system, node overhead or idle.
	Name    string          `json:"name"`
	PerHour offerings.Price `json:"perHour"`

	colour int // see below
}

// mostColours is the number of workloads or namespaces with colours of their own, which are counted from 1.
const mostColours = 6

// The other colours.
const (
	colourOthers   = mostColours + 1 + iota // the other ones
	colourOverhead                          // DaemonSets, system and costs beside instances
	colourIdle
)

// nodesOf are the nodes, the highest idle price first, then the launches of steps, in their order. cents is the price of
// all, in cents per month, today and after all steps.
func nodesOf(in *Input, machines []*costs.Machine, cents [2]int64, colours palette) []Node {
	stays := map[string]string{}
	for i := range in.Plan.Nodes {
		if v := &in.Plan.Nodes[i]; v.Decision == disruption.Keep && len(v.Reasons) > 0 {
			stays[v.Node] = Meaning(v.Reasons[0].Code)
		}
	}
	last := len(in.Plan.Steps)
	price := func(steps int) []offerings.Price {
		prices := make([]offerings.Price, len(machines))
		for i, m := range machines {
			if at := m.At(steps); at != nil {
				prices[i] = at.Node.Price
			}
		}
		return prices
	}
	today, after := costs.Cents(cents[0], price(0)), costs.Cents(cents[1], price(last))
	nodes, waste := make([]Node, len(machines)), make(map[string]offerings.Price, len(machines))
	for i, m := range machines {
		nodes[i] = Node{
			Name: m.Name, NodePool: m.NodePool, InstanceType: m.Offering.InstanceType, CapacityType: m.Offering.CapacityType, Zone: m.Offering.Zone,
			Today: today[i], After: after[i], Launched: m.Launched, Removed: m.Removed, Stays: stays[m.Name],
		}
		for s := range m.Stages {
			nodes[i].Fills = append(nodes[i].Fills, fillOf(&m.Stages[s], in.Workload, colours))
		}
		waste[m.Name] = m.Stages[0].Shares.Idle
	}
	slices.SortStableFunc(nodes, func(a, b Node) int {
		if a.Launched > 0 || b.Launched > 0 {
			return cmp.Compare(a.Launched, b.Launched)
		}
		return cmp.Or(cmp.Compare(waste[b.Name], waste[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return nodes
}

// fillOf divides the price of a node by workload and kind of overhead. workload names the workload of a pod.
func fillOf(s *costs.Stage, workload func(pod string) string, colours palette) Fill {
	sums := map[string]offerings.Price{}
	for i, pod := range s.Pods {
		sums[workload(scheduling.PodName(pod))] += s.Shares.Pods[i]
	}
	f := Fill{Steps: s.Steps, Parts: []Part{}}
	for name, price := range sums {
		f.Parts = append(f.Parts, Part{name, price, colours.colour(name)})
	}
	slices.SortFunc(f.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.PerHour, a.PerHour), strings.Compare(a.Name, b.Name))
	})
	for _, p := range []Part{
		{daemons, s.Shares.Daemons, colourOverhead}, {system, s.Shares.System, colourOverhead}, {beside, s.Shares.Beside, colourOverhead}, {idle, s.Shares.Idle, colourIdle},
	} {
		if p.PerHour > 0 {
			f.Parts = append(f.Parts, p)
		}
	}
	return f
}

// at is the node's fill when the given number of steps is done; nil where the node does not exist then.
func (n *Node) at(steps int) *Fill {
	return costs.At(steps, n.Removed, n.Fills, func(f *Fill) int { return f.Steps })
}

// coloured is the price of a fill by colour.
func (f *Fill) coloured() (sums [colourIdle + 1]offerings.Price, all offerings.Price) {
	for _, p := range f.Parts {
		sums[p.colour] += p.PerHour
		all += p.PerHour
	}
	return sums, all
}
