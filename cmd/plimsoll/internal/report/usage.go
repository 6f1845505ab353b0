package report

import (
	"math"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Usage is the use of the nodes of the bill today. Shares are from 0 to 1, rounded to 4 decimals.
type Usage struct {
	// Idle is the price of resources that no pod requests, in cents per month.
	Idle int64 `json:"idleCentsPerMonth"`
	// CPU and Memory are the requested shares of allocatable, pods of DaemonSets included.
	CPU    float64 `json:"cpuRequested"`
	Memory float64 `json:"memoryRequested"`
	// Spot is the share of spot nodes in the bill.
	Spot float64 `json:"spotShare"`
	// Excluded is the number of nodes that the bill does not count: nodes without a NodePool or of unknown price.
	Excluded int `json:"nodesExcluded"`
}

// usageOf returns the use of the nodes today. overhead is the part of the bill that no pod requests, by kind.
func usageOf(in *Input, machines []*costs.Machine, overhead []Row) Usage {
	u := Usage{Excluded: len(in.Plan.Nodes) - in.Plan.Summary.NodesBefore}
	for _, row := range overhead {
		if row.Name == idle {
			u.Idle = row.Today
		}
	}
	var spot, all offerings.Price
	for _, m := range machines {
		if at := m.At(0); at != nil {
			if all += at.Node.Price; m.Offering.CapacityType == offerings.Spot {
				spot += at.Node.Price
			}
		}
	}
	var requested, allocatable [2]float64
	for _, a := range costs.Accounts(&in.Cluster.Problem, in.Plan.Nodes, in.Policy) {
		if a.Owned {
			requested[0], requested[1] = requested[0]+a.Requested.CPU, requested[1]+a.Requested.Memory
			allocatable[0], allocatable[1] = allocatable[0]+a.Allocatable.CPU, allocatable[1]+a.Allocatable.Memory
		}
	}
	part := func(of, whole float64) float64 { return math.Round(1e4*of/max(whole, 1e-9)) / 1e4 }
	u.CPU, u.Memory, u.Spot = part(requested[0], allocatable[0]), part(requested[1], allocatable[1]), part(spot.USD(), all.USD())
	return u
}
