package consolidation

import (
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Point is a cluster after some steps.
type Point struct {
	// Moved is how many pods have moved so far; one that moved twice counts twice.
	Moved int
	Price offerings.Price
	Nodes int
}

// Course is how one planner consolidates a cluster.
type Course struct {
	Planner string
	// Points are the cluster as it was, and as it is after each step.
	Points []Point
	peer.Expense
	// First is the time to the first step.
	First time.Duration
}

// Steps is their number.
func (c Course) Steps() int { return len(c.Points) - 1 }

// Begin is the cluster before, End after all steps.
func (c Course) Begin() Point { return c.Points[0] }

// End is the cluster after all steps.
func (c Course) End() Point { return c.Points[len(c.Points)-1] }

// Reaches is the first point at which the cluster costs no more than the price.
func (c Course) Reaches(price offerings.Price) (Point, bool) {
	for _, p := range c.Points {
		if p.Price <= price {
			return p, true
		}
	}
	return Point{}, false
}

// Best is the course that ends cheapest, then with the fewest pods moved, then soonest.
func Best(courses []Course) Course {
	best := courses[0]
	for _, c := range courses[1:] {
		a, b := c.End(), best.End()
		if a.Price < b.Price || a.Price == b.Price && (a.Moved < b.Moved || a.Moved == b.Moved && c.Elapsed < best.Elapsed) {
			best = c
		}
	}
	return best
}

// anew is the problem of buying machines for the same pods from scratch.
func anew(c disruption.Cluster) scheduling.Problem {
	p := c.Problem
	p.Pods, p.Running, p.Nodes = nil, nil, nil
	for _, pod := range c.Running {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
		p.Pods = append(p.Pods, pod)
	}
	return p
}
